// Draws into SVG what draws on a canvas: the part of CanvasRenderingContext2D that the plots use.

const escape = (s) => String(s).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (x) => Number(x.toFixed(2));

export class SvgSurface {
  fillStyle = "#000"; strokeStyle = "#000"; lineWidth = 1; font = "13px sans-serif"; textAlign = "left";
  textBaseline = "alphabetic"; globalAlpha = 1;
  #parts = []; #path = ""; #dash = []; #saved = []; #groups = 0; #clips = 0; #rects = null;

  constructor(width, height) { this.width = width; this.height = height; }

  #put(part) { this.#flush(); this.#parts.push(part); }
  #flush() {
    if (this.#rects) this.#parts.push(`<path fill="${this.#rects.colour}" fill-opacity="${this.#rects.alpha}" d="${this.#rects.d}"/>`);
    this.#rects = null;
  }
  #group(attributes) { this.#put(`<g ${attributes}>`); ++this.#groups; }

  save() {
    const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha } = this;
    this.#saved.push({ fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dash: this.#dash, groups: this.#groups });
  }
  restore() {
    const { dash, groups, ...rest } = this.#saved.pop();
    for (; this.#groups > groups; --this.#groups) this.#put("</g>");
    Object.assign(this, rest);
    this.#dash = dash;
  }
  translate(x, y) { this.#group(`transform="translate(${short(x)} ${short(y)})"`); }
  rotate(angle) { this.#group(`transform="rotate(${short((angle * 180) / Math.PI)})"`); }
  setLineDash(dash) { this.#dash = dash; }
  beginPath() { this.#path = ""; }
  moveTo(x, y) { this.#path += `M${short(x)} ${short(y)}`; }
  lineTo(x, y) { this.#path += `L${short(x)} ${short(y)}`; }
  closePath() { this.#path += "z"; }
  rect(x, y, w, h) { this.#path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`; }
  /** Whole circles only. */
  arc(x, y, r) { this.#path += `M${short(x - r)} ${short(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`; }
  clip() {
    const id = `clip${++this.#clips}`;
    this.#put(`<clipPath id="${id}"><path d="${this.#path}"/></clipPath>`);
    this.#group(`clip-path="url(#${id})"`);
  }
  stroke() {
    const dash = this.#dash.length ? ` stroke-dasharray="${this.#dash.join(" ")}"` : "";
    this.#put(`<path fill="none" stroke="${this.strokeStyle}" stroke-opacity="${this.globalAlpha}" stroke-width="${this.lineWidth}"${dash} stroke-linejoin="round" d="${this.#path}"/>`);
  }
  fill() { this.#put(`<path fill="${this.fillStyle}" fill-opacity="${this.globalAlpha}" d="${this.#path}"/>`); }
  fillRect(x, y, w, h) {
    if (!this.#rects || this.#rects.colour !== this.fillStyle || this.#rects.alpha !== this.globalAlpha) {
      this.#flush();
      this.#rects = { colour: this.fillStyle, alpha: this.globalAlpha, d: "" };
    }
    this.#rects.d += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`;
  }
  strokeRect(x, y, w, h) { this.beginPath(); this.rect(x, y, w, h); this.stroke(); }
  measureText(s) { return { width: String(s).length * parseFloat(this.font.match(/[\d.]+px/)[0]) * 0.55 }; }
  fillText(s, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const size = parseFloat(this.font.match(/([\d.]+)px/)[1]);
    const down = { alphabetic: 0, middle: 0.35, top: 0.8, bottom: -0.2 }[this.textBaseline] * size;
    this.#put(`<text x="${short(x)}" y="${short(y + down)}" font-size="${size}" fill="${this.fillStyle}" text-anchor="${anchor}"${/bold|600/.test(this.font) ? ' font-weight="600"' : ""}>${escape(s)}</text>`);
  }
  text() {
    this.#flush();
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="sans-serif">` +
      `<rect width="100%" height="100%" fill="#fff"/>${this.#parts.join("\n")}</svg>\n`;
  }
}
