// A diagram with axes on a canvas: layers, moving, zooming, choosing a point.
import { text } from "graze/data";
import { SvgSurface } from "graze/surface";

const family = 'system-ui, "DejaVu Sans", "Liberation Sans", sans-serif';

/** Digits that tell the ticks of a range apart. */
const digits = ([a, b]) => Math.max(4, Math.ceil(Math.log10(Math.max(Math.abs(a), Math.abs(b)) / (b - a))) + 3);

/** Round numbers at about so many places of a range. */
export function ticks([from, to], count) {
  const rough = (to - from) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * power >= rough * 0.75) * power;
  const result = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; ++k) result.push(k * step);
  return result;
}

/** A range with some room around it; of a single value, a little one. */
export function roomy([low, high], share = 0.04) {
  if (!(low <= high)) return [-1, 1];
  if (low === high) { const d = Math.abs(low) * 0.05 || 1; return [low - d, high + d]; }
  const d = (high - low) * share;
  return [low - d, high + d];
}

export function extent(values, range = [Infinity, -Infinity]) {
  let [low, high] = range;
  for (const v of values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  return [low, high];
}

/**
 * Options: x, y (labels), title, name (for screen readers), legend, band (pixels below the x axis for strips),
 * square (equal scales), margin (pixels for words left of the axis), hint (in an empty plot), onView(view, settled), onPick(x, y, event). A layer is a function (context, plot).
 */
export class Plot {
  layers = []; legend = []; band = 0; margin = 0; hint = "";
  #drag = null; #wheel = 0; #asked = false; #box = null; #rows = []; #left = 66;

  constructor(host, options) {
    Object.assign(this, { x: "", y: "", title: "", square: false, onView: null, onPick: null }, options);
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", options.name);
    host.append(this.canvas);
    this.view = { x: [0, 1], y: [0, 1] };
    new ResizeObserver(() => this.draw()).observe(host);
    this.#listen();
  }

  /** Pixels of the screen to one of the drawing: as much larger as the letters of the page. */
  get unit() { return parseFloat(getComputedStyle(document.documentElement).fontSize) / 15; }
  get size() { return { width: (this.canvas.clientWidth || 600) / this.unit, height: (this.canvas.clientHeight || 400) / this.unit }; }
  /** The inner rectangle in pixels. */
  #inner({ width, height }) {
    const left = this.#left;
    const top = (this.title ? 22 : 8) + 20 * this.#rows.length;
    return { left, top, width: Math.max(width - left - 20, 10), height: Math.max(height - top - (this.x ? 42 : 26) - this.band, 10) };
  }
  #shown(inner) {
    const { x, y } = this.view;
    if (!this.square) return { x, y };
    const scale = Math.max((x[1] - x[0]) / inner.width, (y[1] - y[0]) / inner.height);
    const around = ([a, b], n) => [(a + b - scale * n) / 2, (a + b + scale * n) / 2];
    return { x: around(x, inner.width), y: around(y, inner.height) };
  }
  #measure(size) {
    this.inner = this.#inner(size);
    this.shown = this.#shown(this.inner);
  }
  /** Makes room for the labels of the y axis. */
  #fitLeft(c, size) {
    this.#measure(size);
    c.font = `13px ${family}`;
    const labels = ticks(this.shown.y, this.#tickCount().y).map((t) => text(t, digits(this.shown.y)));
    this.#left = Math.round(Math.max(34, this.margin, ...labels.map((label) => c.measureText(label).width)) + (this.y ? 32 : 14));
  }
  px(x) { const [a, b] = this.shown.x; return this.inner.left + ((x - a) / (b - a)) * this.inner.width; }
  py(y) { const [a, b] = this.shown.y; return this.inner.top + ((b - y) / (b - a)) * this.inner.height; }
  ux(p) { const [a, b] = this.shown.x; return a + ((p - this.inner.left) / this.inner.width) * (b - a); }
  uy(p) { const [a, b] = this.shown.y; return b - ((p - this.inner.top) / this.inner.height) * (b - a); }

  /** Draws soon, once for all changes until then. */
  draw() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => { this.#asked = false; this.drawNow(); });
  }
  drawNow() {
    const { width, height } = this.size;
    const ratio = (window.devicePixelRatio || 1) * this.unit;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.#paint(context, { width, height });
  }
  svg() {
    const size = this.size;
    const surface = new SvgSurface(size.width, size.height);
    this.#paint(surface, size);
    return surface.text();
  }

  /** Entries of the legend in at most three rows. */
  #wrapLegend(c, width) {
    c.font = `13px ${family}`;
    this.#rows = [];
    let room = 0;
    for (const entry of this.legend) {
      const wide = c.measureText(entry.name).width + 30;
      if (wide > room) { if (this.#rows.length === 3) break; this.#rows.push([]); room = width; }
      this.#rows.at(-1).push({ ...entry, wide });
      room -= wide;
    }
  }
  #paint(c, size) {
    this.#wrapLegend(c, size.width - 90);
    this.#fitLeft(c, size);
    this.#measure(size);
    const { left, top, width, height } = this.inner;
    c.fillStyle = "#fff";
    c.fillRect(0, 0, size.width, size.height);
    c.save();
    c.beginPath(); c.rect(left, top, width, height); c.clip();
    this.#grid(c);
    for (const layer of this.layers) { c.save(); layer(c, this); c.restore(); }
    c.restore();
    for (const layer of this.layers) if (layer.outside) { c.save(); layer.outside(c, this); c.restore(); }
    this.#axes(c, size);
    this.#words(c);
    if (this.hint) {
      c.font = `14px ${family}`; c.textAlign = "center"; c.textBaseline = "middle"; c.fillStyle = "#5c6670";
      c.fillText(this.hint, left + width / 2, top + height / 2);
    }
    if (this.#box) {
      const { x0, y0, x1, y1 } = this.#box;
      c.save(); c.strokeStyle = "#d55e00"; c.lineWidth = 1.5; c.setLineDash([5, 3]);
      c.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0)); c.restore();
    }
  }
  #tickCount() { return { x: Math.max(2, Math.floor(this.inner.width / 80)), y: Math.max(2, Math.floor(this.inner.height / 34)) }; }
  #grid(c) {
    const { left, top, width, height } = this.inner;
    const count = this.#tickCount();
    c.strokeStyle = "#eceff1"; c.lineWidth = 1;
    c.beginPath();
    for (const t of ticks(this.shown.x, count.x)) { const p = Math.round(this.px(t)) + 0.5; c.moveTo(p, top); c.lineTo(p, top + height); }
    for (const t of ticks(this.shown.y, count.y)) { const p = Math.round(this.py(t)) + 0.5; c.moveTo(left, p); c.lineTo(left + width, p); }
    c.stroke();
  }
  #axes(c, size) {
    const { left, top, width, height } = this.inner;
    const count = this.#tickCount();
    c.strokeStyle = "#30363c"; c.lineWidth = 1; c.setLineDash([]);
    c.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    c.fillStyle = "#1a1a1a"; c.font = `13px ${family}`;
    const below = top + height + this.band;
    c.textAlign = "center"; c.textBaseline = "top";
    for (const t of ticks(this.shown.x, count.x)) {
      c.beginPath(); c.moveTo(this.px(t), below); c.lineTo(this.px(t), below + 4); c.stroke();
      c.fillText(text(t, digits(this.shown.x)), this.px(t), below + 6);
    }
    c.textAlign = "right"; c.textBaseline = "middle";
    for (const t of ticks(this.shown.y, count.y)) {
      c.beginPath(); c.moveTo(left - 4, this.py(t)); c.lineTo(left, this.py(t)); c.stroke();
      c.fillText(text(t, digits(this.shown.y)), left - 6, this.py(t));
    }
    c.textAlign = "center"; c.font = `600 13px ${family}`;
    if (this.x) { c.textBaseline = "bottom"; c.fillText(this.x, left + width / 2, size.height - 3); }
    if (this.y) {
      c.save(); c.translate(13, top + height / 2); c.rotate(-Math.PI / 2); c.textBaseline = "middle";
      c.fillText(this.y, 0, 0); c.restore();
    }
  }
  #words(c) {
    const { left, top, width } = this.inner;
    if (this.title) {
      c.font = `600 13px ${family}`; c.textAlign = "left"; c.textBaseline = "top"; c.fillStyle = "#1a1a1a";
      c.fillText(this.title, left, 4);
    }
    c.font = `13px ${family}`; c.textAlign = "left"; c.textBaseline = "middle";
    this.#rows.forEach((row, k) => {
      const y = top - 11 - 20 * (this.#rows.length - 1 - k);
      let x = left;
      for (const { colour, name, shape, wide } of row) {
        c.fillStyle = colour; c.strokeStyle = colour;
        if (shape === "line" || shape === "dashed") {
          c.lineWidth = 2.4; c.setLineDash(shape === "dashed" ? [5, 3] : []);
          c.beginPath(); c.moveTo(x, y); c.lineTo(x + 16, y); c.stroke(); c.setLineDash([]);
        } else if (shape === "mark") {
          c.lineWidth = 1.8; c.beginPath(); c.arc(x + 7, y, 4.5, 0, 7); c.fillStyle = "#fff"; c.fill(); c.stroke();
        } else {
          c.fillRect(x, y - 5, 14, 10);
        }
        c.fillStyle = "#1a1a1a";
        c.fillText(name, x + 20, y);
        x += wide;
      }
    });
  }

  setView(view, settled = true) {
    const fine = ([a, b]) => a < b && b - a > 1e-13 * Math.max(Math.abs(a), Math.abs(b)) && Number.isFinite(b - a);
    if (!fine(view.x) || !fine(view.y)) return;
    this.view = view;
    this.draw();
    this.onView?.(view, settled);
  }
  /** Zooms about a place in shares of the view (0 … 1 from left and bottom). */
  zoom(factor, at = { x: 0.5, y: 0.5 }, settled = true, only = null) {
    const about = ([a, b], share) => { const m = a + share * (b - a); return [m + (a - m) * factor, m + (b - m) * factor]; };
    const { x, y } = this.view;
    this.setView({ x: only === "y" ? x : about(x, at.x), y: only === "x" ? y : about(y, at.y) }, settled);
  }
  move(dx, dy, settled = true) {
    const by = ([a, b], share) => [a + share * (b - a), b + share * (b - a)];
    this.setView({ x: by(this.view.x, dx), y: by(this.view.y, dy) }, settled);
  }

  #place(event) { const r = this.canvas.getBoundingClientRect(); return { x: (event.clientX - r.left) / this.unit, y: (event.clientY - r.top) / this.unit }; }
  #listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const p = this.#place(event);
      this.#drag = { from: p, last: p, moved: false, box: event.shiftKey };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.#drag) return;
      const p = this.#place(event);
      if (!this.#drag.moved && Math.hypot(p.x - this.#drag.from.x, p.y - this.#drag.from.y) < 4) return;
      this.#drag.moved = true;
      if (this.#drag.box) {
        this.#box = { x0: this.#drag.from.x, y0: this.#drag.from.y, x1: p.x, y1: p.y };
        this.draw();
      } else {
        this.move((this.#drag.last.x - p.x) / this.inner.width, (p.y - this.#drag.last.y) / this.inner.height, false);
      }
      this.#drag.last = p;
    });
    canvas.addEventListener("pointerup", (event) => {
      const drag = this.#drag;
      this.#drag = null;
      if (!drag) return;
      if (!drag.moved) return this.onPick?.(this.ux(drag.from.x), this.uy(drag.from.y), event);
      if (!drag.box) return this.onView?.(this.view, true);
      const { x0, y0, x1, y1 } = this.#box;
      this.#box = null;
      const sorted = (a, b) => [Math.min(a, b), Math.max(a, b)];
      this.setView({ x: sorted(this.ux(x0), this.ux(x1)), y: sorted(this.uy(y0), this.uy(y1)) });
    });
    canvas.addEventListener("pointercancel", () => { this.#drag = null; this.#box = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (!this.inner) return;
      const p = this.#place(event);
      const at = { x: (p.x - this.inner.left) / this.inner.width, y: 1 - (p.y - this.inner.top) / this.inner.height };
      this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), at, false, event.ctrlKey ? "y" : event.shiftKey ? "x" : null);
      clearTimeout(this.#wheel);
      this.#wheel = setTimeout(() => this.onView?.(this.view, true), 120);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (steps[event.key]) this.move(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(0.6, this.centre?.());
      else if (event.key === "-") this.zoom(1 / 0.6, this.centre?.());
      else return;
      event.preventDefault();
    });
  }
}

/** A polyline; NaN breaks it. */
export function polyline(c, plot, xs, ys) {
  c.beginPath();
  let pen = false;
  for (let i = 0; i < xs.length; ++i) {
    if (!Number.isFinite(xs[i]) || !Number.isFinite(ys[i])) { pen = false; continue; }
    const x = plot.px(xs[i]), y = plot.py(ys[i]);
    if (pen) c.lineTo(x, y); else c.moveTo(x, y);
    pen = true;
  }
  c.stroke();
}
