// The page: one result or case, its diagram, the motion at a chosen point.
import { text, toml } from "graze/data";
import { Inside, Refused, Server } from "graze/source";
import { Plot } from "graze/plot";
import { Branches, continueFrom, diagramOf, longRecord, symbol } from "graze/diagram";
import { Motion, Panels } from "graze/panels";
import { caseText, commandLine, csvText, download, fromFragment, modelSettings, toFragment } from "graze/exports";

const $ = (id) => document.getElementById(id);
const shownOrbits = 2, chaoticPeriods = 30;  // of a motion, as `graze motion` shows it

class App {
  set = {};           // parameters that differ from the case: "model.r1" -> number
  diagram = null;     // what is drawn
  added = [];         // branches through single orbits
  quantity = "";
  place = null;
  history = []; now = -1;
  ranges = null;      // [x range, y range] of the last computation
  computed = { settings: [] };
  times = {};         // milliseconds: what a user waits for

  async begin() {
    this.source = $("frames") ? new Inside() : new Server();
    const [first] = await this.source.first();
    this.known = first.header.case;
    document.title = `${this.known.title || this.known.model} – graze`;
    $("title").textContent = this.known.title || this.known.name;
    $("title").title = `${this.known.name}: ${this.known.meaning}`;
    this.panels = new Panels(this.known, (state) => this.startFrom(state));
    this.plot = new Plot($("diagram"), {
      name: "Diagram of the result", onPick: (x, y, event) => this.pick(x, y, event),
      onView: (view, settled) => { this.changed(); if (settled) this.viewed(); },
    });
    this.plot.centre = () => this.centre();
    this.fields();
    this.listen();
    const state = fromFragment(location.hash);
    this.set = this.source.live ? state.set ?? {} : {};
    this.showFields();
    if (this.known.analysis === "simulate") return this.beginMotion(first);
    if (first.data.arrays.size > 0 && !Object.keys(this.set).length) this.take(first, [], true);
    else if (!(await this.compute(null, true))) return;
    if (state.quantity && [...$("quantity").options].some((o) => o.value === state.quantity)) { $("quantity").value = state.quantity; this.choose(state.quantity); }
    this.plot.drawNow();
    const goal = state.x && state.y ? { x: state.x, y: state.y } : null;
    this.remember();
    if (goal) { this.plot.setView(goal, false); this.remember(); await this.refine(); }
    if (state.point) { const [x, y] = state.point; this.select(this.diagram.pick(x, y, this.plot, this.quantity)); }
    document.body.dataset.ready = "yes";
  }

  /** A case or result of one motion: only the panels. */
  async beginMotion(first) {
    document.body.dataset.only = "motion";
    if (first.data.arrays.size > 0 && !Object.keys(this.set).length) this.showMotion(first);
    else await this.computeMotion();
    document.body.dataset.ready = "yes";
  }
  showMotion(frame) {
    const place = { iterates: [], multipliers: [], facts: [], parameters: {}, state: [...this.known.start] };
    this.panels.show(place, new Motion(frame, this.known));
    document.body.dataset.motions = String(Number(document.body.dataset.motions ?? 0) + 1);
  }
  computeMotion() { return this.ask("diagram", [this.model()], (frame) => this.showMotion(frame)); }

  status(words, busy = false) { $("status").textContent = words; $("status").classList.toggle("busy", busy); }
  error(words) { $("error").textContent = words; $("error").hidden = !words; }

  /** Has something computed; what the program refuses is shown in its own words. */
  async ask(lane, runs, got) {
    try {
      const done = await this.source.run(lane, runs, got);
      if (done) this.error("");
      return done;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.error(error.message);
      this.status("");
      this.flag(error.message);
      return false;
    }
  }

  model() { return modelSettings(this.set); }

  /** Takes a result for the diagram. */
  take(frame, settings, home = false) {
    const kept = this.place;
    this.diagram = diagramOf(frame);
    this.computed = { settings };
    const select = $("quantity"), offered = this.diagram.quantities();
    if (!offered.includes(this.quantity)) this.quantity = offered.find((q) => !this.known.drifting.includes(q)) ?? offered[0];
    select.replaceChildren(...offered.map((q) => new Option(q === "regions" ? "regions" : this.diagram.quantityLabel(q), q)));
    select.value = this.quantity;
    if (home) this.plot.view = this.diagram.home(this.quantity);
    this.layers();
    if (kept && this.diagram.nearest) { const index = this.diagram.nearest(kept); if (index >= 0) this.mark(index); }
  }
  layers() {
    const { plot, diagram } = this;
    plot.x = diagram.xLabel();
    plot.y = diagram.quantityLabel(this.quantity);
    plot.band = diagram.band;
    plot.legend = diagram.legend(this.quantity);
    const added = this.added.filter((b) => b.name === diagram.name && this.known.states.some((s) => s.name === this.quantity));
    if (added.length && !(diagram instanceof Branches)) plot.legend = [...plot.legend, ...added[0].legend().slice(0, 2)];
    plot.layers = [diagram.layer(this.quantity), ...added.map((b) => b.layer(this.quantity)), (c, p) => this.paintPlace(c, p)];
    plot.draw();
  }
  paintPlace(c, plot) {
    if (!this.place || this.place.free) return;
    const { x, ys } = this.diagram.marker(this.place, this.quantity);
    c.strokeStyle = "#00000088"; c.lineWidth = 1; c.setLineDash([4, 3]);
    c.beginPath(); c.moveTo(plot.px(x), plot.inner.top); c.lineTo(plot.px(x), plot.inner.top + plot.inner.height); c.stroke();
    c.setLineDash([]);
    for (const y of ys.length > 20 ? [] : ys) {
      c.beginPath(); c.arc(plot.px(x), plot.py(y), 6, 0, 7);
      c.strokeStyle = "#fff"; c.lineWidth = 4; c.stroke();
      c.strokeStyle = "#000"; c.lineWidth = 1.8; c.stroke();
    }
  }

  /** Computes the whole diagram of the case, or the visible range of it. */
  async compute(view, home = false) {
    const began = performance.now();
    const size = { width: this.plot.inner?.width ?? 700, height: this.plot.inner?.height ?? 400 };
    const runs = view && this.diagram ? this.diagram.runs(view, size) : this.wholeRuns();
    const settings = runs.map((run) => [...this.model(), ...run]);
    if (!runs.length) return true;
    const branches = this.diagram instanceof Branches && view;
    this.status("computing …", true);
    const parts = [];
    let count = 0;
    const done = await this.ask("diagram", settings, (frame) => {
      const last = ++count === runs.length;
      if (count === 1) this.times.first = performance.now() - began;
      if (branches) { parts.push(diagramOf(frame)); if (last) this.takeBranches(parts); return; }
      const better = last || !this.diagram || home || this.stale || !view || diagramOf(frame).visible(view) > this.diagram.visible(view);
      if (!better) return;
      this.stale = false;
      this.take(frame, settings[count - 1], home && count === 1 && !this.goal);
      this.plot.drawNow();
    });
    if (!done) return false;
    this.plot.drawNow();
    this.times.full = performance.now() - began;
    this.status(`${this.diagram.visible(this.plot.view)} points, first picture after ${Math.round(this.times.first)} ms, full after ${Math.round(this.times.full)} ms`);
    document.body.dataset.computed = String(Number(document.body.dataset.computed ?? 0) + 1);
    return true;
  }
  /** The whole of the case; where that are many points, coarsely first. */
  wholeRuns() {
    const axes = ["axis", "axis2"].flatMap((key) => {
      const points = /points = (\d+)/.exec(this.known.sections.analysis[key] ?? "");
      return points ? [[key, Number(points[1])]] : [];
    });
    const share = axes.length > 1 ? 5 : 16;
    if (!axes.length || axes.some(([, n]) => n < 3 * share)) return [[]];
    return [axes.map(([key, n]) => `analysis.${key}.points=${Math.round(n / share)}`), []];
  }
  /** Branches that were computed anew over the visible range stand beside the whole ones. */
  takeBranches(parts) {
    this.diagram.anew = new Set(this.diagram.asked.filter((_, k) => parts[k].n > 1));
    this.added = [...this.added.filter((b) => !b.zoomed), ...parts.filter((p) => p.n > 1).map((p) => Object.assign(p, { zoomed: true }))];
    this.layers();
  }

  async refine() {
    if (!this.source.live || !this.diagram?.recomputes) return;
    if (await this.compute(this.plot.view)) this.keep();
  }

  // ---- Views and their history -----------------------------------------------------------------------

  entry() { return { view: this.plot.view, diagram: this.diagram, added: this.added, anew: this.diagram.anew, set: { ...this.set }, computed: this.computed }; }
  remember() {
    this.history.length = this.now + 1;
    this.history.push(this.entry());
    this.now = this.history.length - 1;
    this.buttons();
  }
  /** The newest data belong to the entry that is shown. */
  keep() { if (this.now >= 0) this.history[this.now] = this.entry(); }
  go(index) {
    const entry = this.history[index];
    if (!entry) return;
    this.source.cancel("diagram");
    this.now = index;
    this.plot.view = entry.view;
    const sameParameters = JSON.stringify(entry.set) === JSON.stringify(this.set);
    this.diagram = entry.diagram;
    this.added = entry.added;
    this.diagram.anew = entry.anew;
    this.computed = entry.computed;
    this.set = { ...entry.set };
    if (!sameParameters) this.showFields();
    if (this.place) { const i = this.diagram.nearest(this.place); if (i >= 0 && !this.place.free) this.mark(i); }
    this.layers();
    this.changed();
    this.status("");
    this.buttons();
  }
  buttons() {
    $("back").disabled = this.now <= 0;
    $("forward").disabled = this.now >= this.history.length - 1;
    const place = this.place;
    $("continue").disabled = !(this.source.live && place && place.period >= 1 && place.state?.length && this.diagram?.continuation(this.plot.view) && !place.free);
  }
  /** Zooming by keys and buttons is about the chosen point, if it is visible. */
  centre() {
    const { x: [a, b], y: [c, d] } = this.plot.view;
    if (this.place && !this.place.free) {
      const { x, ys } = this.diagram.marker(this.place, this.quantity);
      const y = ys.find((v) => v > c && v < d);
      if (x > a && x < b && y !== undefined) return { x: (x - a) / (b - a), y: (y - c) / (d - c) };
    }
    return { x: 0.5, y: 0.5 };
  }
  /** The view has come to rest at another place. */
  viewed() {
    const last = this.history[this.now]?.view;
    const near = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) < 1e-9 * (b[1] - b[0]);
    if (!last || (near(this.plot.view.x, last.x) && near(this.plot.view.y, last.y))) return;
    const sameX = near(this.plot.view.x, last.x);
    this.remember();
    if (!sameX || this.diagram.plane) this.refine();
  }
  changed() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => window.history.replaceState(null, "", toFragment(this.state())), 300);
  }
  state() {
    const state = { x: this.plot.view.x, y: this.plot.view.y, quantity: this.quantity };
    if (Object.keys(this.set).length) state.set = this.set;
    if (this.place && !this.place.free) { const { x, ys } = this.diagram.marker(this.place, this.quantity); state.point = [x, ys[0]]; }
    return state;
  }

  // ---- The chosen point --------------------------------------------------------------------------------

  pick(x, y) {
    if (!this.diagram) return;
    const near = this.added.map((b) => [b, b.pick(x, y, this.plot, this.quantity)]).filter(([, p]) => p >= 0);
    const index = this.diagram.pick(x, y, this.plot, this.quantity);
    const from = (d, p) => { const m = d.marker(d.place(p), this.quantity); return Math.min(...m.ys.map((v) => Math.hypot(this.plot.px(m.x) - this.plot.px(x), this.plot.py(v) - this.plot.py(y)))); };
    let best = null, least = index >= 0 ? from(this.diagram, index) : Infinity;
    for (const [b, p] of near) { const d = from(b, p); if (d < least && d < 12) { least = d; best = [b, p]; } }
    if (best) return this.showPlace({ ...best[0].place(best[1]), foreign: true });
    this.select(index);
  }
  /** Marks a point of the diagram without asking for its motion. */
  mark(index) {
    this.place = this.diagram.place(index);
    const track = this.diagram.track(index);
    const slider = $("slider");
    slider.disabled = false;
    slider.max = String(track.count - 1);
    slider.value = String(track.at);
    this.words();
    this.buttons();
  }
  words() {
    const where = Object.entries(this.place.parameters).map(([name, v]) => `${symbol(this.known, name)} = ${text(v)}`).join(", ");
    $("slider-value").textContent = where;
    $("place").textContent = [where, this.place.note, this.place.free ? "motion from the chosen state" : ""].filter(Boolean).join("; ");
  }
  select(index) {
    if (!(index >= 0)) return;
    this.mark(index);
    this.plot.draw();
    return this.showPlace(this.place);
  }
  /** Settings of the motion at a place. */
  motionSettings(place) {
    const settings = [...this.model(), ...Object.entries(place.parameters).map(([name, v]) => `model.${name}=${toml(v)}`)];
    settings.push(`initial={ time = ${toml(place.time)}, state = [${place.state.map(toml).join(", ")}] }`);
    let analysis;
    if (Number.isFinite(place.forcing)) {
      const periods = place.forcing >= 1 && !place.transient ? Math.ceil(shownOrbits * place.forcing) : chaoticPeriods;
      analysis = `{ name = "simulate", periods = ${periods} }`;
    } else {
      const turn = place.turn > 0 ? shownOrbits * place.turn : 100;
      analysis = `{ name = "simulate", end_time = ${toml(place.time + turn)}, samples = 4000 }`;
    }
    return [...settings, `analysis=${analysis}`];
  }
  async showPlace(place) {
    const began = performance.now();
    this.place = place;
    this.words();
    this.buttons();
    this.plot.draw();
    this.changed();
    if (!place.state.length || !place.state.every(Number.isFinite)) return this.panels.show(place, null);
    const show = (frame) => {
      this.panels.show(place, new Motion(frame, this.known));
      this.times.panels = performance.now() - began;
      document.body.dataset.motions = String(Number(document.body.dataset.motions ?? 0) + 1);
    };
    if (this.source.live) {
      if (!(await this.ask("motion", [this.motionSettings(place)], show))) return;
      return this.showSection(place);
    }
    const held = place.foreign || place.free ? undefined : this.source.motion(place.stored ?? place.point);
    if (!held) return this.panels.show(place, null);
    if (!held.exact) place.note = [place.note, "curves and events: a point beside it"].filter(Boolean).join("; ");
    this.words();
    show(held.frame);
  }
  /** Of a motion that is not periodic, more Poincaré points than the diagram has. */
  async showSection(place) {
    if (place.period >= 1 || place.free || place.transient || !place.iterates.length) return;
    const settings = this.motionSettings(place).filter((s) => !s.startsWith("analysis="));
    await this.ask("section", [[...settings, ...longRecord(this.known, place)]], (frame) => {
      if (this.place !== place) return;
      const width = place.state.length, map = frame.data.values("map_state");
      place.section = Array.from({ length: map.length / width }, (_, k) => Array.from(map.subarray(k * width, (k + 1) * width)))
        .filter((state) => state.every(Number.isFinite));
      this.panels.showSection();
    });
  }
  startFrom(state) {
    if (!this.source.live || !this.place) return;
    return this.showPlace({ ...this.place, state, free: true, transient: true, iterates: [], multipliers: [], facts: [["start", state.map((v) => text(v)).join(", ")]] });
  }
  slide(by) {
    const slider = $("slider");
    if (slider.disabled) return;
    slider.value = String(Number(slider.value) + by);
    this.slid();
  }
  slid() {
    const track = this.diagram.track(this.place.foreign || this.place.free ? this.diagram.nearest(this.place) : this.place.point);
    return this.select(track.from + Number($("slider").value) * (track.step ?? 1));
  }
  /** The branch of periodic orbits through the chosen one. */
  async follow() {
    if ($("continue").disabled) return;
    const { name, range } = this.diagram.continuation(this.plot.view);
    const place = this.place, settings = this.model();
    for (const [other, v] of Object.entries(place.parameters)) if (other !== name) settings.push(`model.${other}=${toml(v)}`);
    settings.push(...continueFrom(this.known, name, range, place.parameters[name], place.state));
    this.status("following the branch …", true);
    await this.ask("branch", [settings], (frame) => {
      const branches = new Branches(frame);
      if (branches.n < 2) return this.status("no branch begins at this orbit");
      branches.settings = settings;
      this.added = [...this.added, branches];
      this.layers();
      this.keep();
      const kinds = [...branches.kinds()].map((k) => k.replace(/_/g, " ")).join(", ");
      this.status(`branch of ${branches.n} points${kinds ? `: ${kinds}` : ""}`);
      document.body.dataset.branches = String(this.added.length);
    });
  }

  // ---- Parameters ------------------------------------------------------------------------------------

  swept() { return [...(this.known.sections.analysis.axis ?? "").matchAll(/parameter = "([^"]*)"/g), ...(this.known.sections.analysis.axis2 ?? "").matchAll(/parameter = "([^"]*)"/g)].map((m) => m[1]); }
  fields() {
    const swept = this.swept();
    for (const p of this.known.parameters) {
      const row = document.createElement("div");
      row.className = "field";
      row.dataset.name = p.name;
      row.title = `${p.name}: ${p.meaning}${p.unit ? ` [${p.unit}]` : ""}; ${p.rule}`;
      const id = `p-${p.name}`;
      const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: p.symbol });
      const number = Object.assign(document.createElement("input"), { type: "number", id, step: "any", value: p.value });
      const [low, high] = this.span(p);
      const slider = Object.assign(document.createElement("input"), { type: "range", min: low, max: high, step: (high - low) / 200, value: p.value });
      slider.setAttribute("aria-label", `${p.name}, slider`);
      const unit = Object.assign(document.createElement("span"), { className: "unit", textContent: p.unit });
      const fixed = swept.includes(p.name) || !this.source.live;
      number.disabled = slider.disabled = fixed;
      if (swept.includes(p.name)) { number.value = ""; number.placeholder = "axis"; }
      number.addEventListener("change", () => this.edit(p, number.value));
      slider.addEventListener("input", () => { number.value = slider.value; });
      slider.addEventListener("change", () => this.edit(p, slider.value));
      row.append(label, number, slider, unit);
      $("fields").append(row);
    }
    if (!this.source.live) $("parameters").querySelector("summary").textContent = "Parameters (this page is a copy without the program)";
  }
  span(p) {
    if (p.low !== null && p.high !== null) return [p.low, p.high];
    const size = Math.max(2 * Math.abs(p.value), 1);
    return p.low !== null ? [p.low, Math.max(p.low + size, 2 * p.value)] : [-size, size];
  }
  showFields() {
    for (const p of this.known.parameters) {
      const row = $("fields").querySelector(`[data-name="${CSS.escape(p.name)}"]`);
      const [number, slider] = row.querySelectorAll("input");
      const value = this.set[`model.${p.name}`] ?? p.value;
      row.classList.toggle("changed", this.set[`model.${p.name}`] !== undefined);
      row.classList.remove("wrong");
      if (!number.disabled) number.value = String(value);
      slider.value = String(value);
    }
  }
  /** Marks the field that a message of the program names. */
  flag(message) {
    for (const row of $("fields").children) row.classList.toggle("wrong", message.includes(`model.${row.dataset.name} `));
  }
  async edit(p, written) {
    const value = Number(written);
    const key = `model.${p.name}`;
    const before = { ...this.set };
    if (written === "" || value === p.value) delete this.set[key]; else this.set[key] = value;
    if (JSON.stringify(before) === JSON.stringify(this.set)) return;
    if (document.body.dataset.only) {
      if (await this.computeMotion()) this.showFields(); else if (!$("error").hidden) this.set = before;
      return;
    }
    this.stale = true;
    const wasAdded = this.added;
    this.added = [];
    const view = !this.diagram || this.diagram.whole ? null : this.plot.view;
    if (await this.compute(view)) {
      this.showFields();
      this.remember();
      this.changed();
      if (this.place && !this.place.free) { const i = this.diagram.nearest(this.place); if (i >= 0) this.select(i); }
    } else if (!$("error").hidden) {
      this.set = before;  // what the program refuses is shown, but not kept
      this.added = wasAdded;
      this.layers();
    }
  }

  // ---- Buttons, keys, exports ------------------------------------------------------------------------

  viewSettings() { return this.computed.settings.length ? this.computed.settings : this.model(); }
  show(words) { $("text-content").textContent = words; $("text").showModal(); }
  choose(quantity) {
    this.quantity = quantity;
    const home = this.diagram.home(quantity);
    this.plot.view = { x: this.plot.view.x, y: this.diagram.plane ? this.plot.view.y : home.y };
    this.layers();
    this.changed();
  }
  listen() {
    const on = (id, work) => $(id).addEventListener("click", work);
    on("back", () => this.go(this.now - 1));
    on("forward", () => this.go(this.now + 1));
    on("reset", () => this.reset());
    on("zoom-in", () => this.plot.zoom(0.6, this.plot.centre?.()));
    on("zoom-out", () => this.plot.zoom(1 / 0.6, this.plot.centre?.()));
    on("continue", () => this.follow());
    $("quantity").addEventListener("change", () => this.choose($("quantity").value));
    $("slider").addEventListener("input", () => this.slid());
    const title = this.known.title || this.known.model;
    on("export-case", () => download("view.toml", "application/toml", caseText(this.known, this.viewSettings(), title)));
    on("export-motion", () => {
      if (document.body.dataset.only) download("motion.toml", "application/toml", caseText(this.known, this.model(), title));
      else if (this.place) download("motion.toml", "application/toml", caseText(this.known, this.motionSettings(this.place), `${title}: ${$("place").textContent}`));
      else this.error("No point is chosen: click in the diagram first.");
    });
    on("export-command", () => this.show(commandLine(this.known, this.viewSettings())));
    on("export-svg", () => download("diagram.svg", "image/svg+xml", this.plot.svg()));
    on("export-png", () => this.plot.canvas.toBlob((blob) => download("diagram.png", "image/png", blob)));
    on("export-csv", () => download("visible.csv", "text/csv", csvText(this.diagram.csv(this.plot.view))));
    on("export-link", () => this.show(location.href.split("#")[0] + toFragment(this.state())));
    on("text-copy", () => navigator.clipboard?.writeText($("text-content").textContent));
    document.addEventListener("click", (event) => { for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target) || event.target.tagName === "BUTTON") menu.open = false; });
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey || $("text").open) return;
      const keys = { ",": () => this.slide(-1), ".": () => this.slide(1), 0: () => this.reset(), c: () => this.follow(),
        Escape: () => { this.source.cancel("diagram"); this.source.cancel("branch"); this.status("stopped"); },
        Backspace: () => this.go(this.now + (event.shiftKey ? 1 : -1)) };
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
  }
  reset() {
    if (this.now < 0) return;
    this.source.cancel("diagram");
    const first = this.history[0];
    if (JSON.stringify(first.set) === JSON.stringify(this.set)) {
      this.plot.view = first.view;
      this.diagram = first.diagram;
      this.added = this.added.filter((b) => !b.zoomed);
      this.diagram.anew = undefined;
      this.computed = first.computed;
      if (this.place && !this.place.free) { const i = this.diagram.nearest(this.place); if (i >= 0) this.mark(i); }
      this.layers();
      this.changed();
      this.remember();
    } else {
      this.plot.setView(first.view);
    }
  }
}

const app = new App();
window.graze = app;  // for whoever looks from the browser's console
app.begin().catch((error) => { app.error(`The page has failed: ${error.message}`); throw error; });
