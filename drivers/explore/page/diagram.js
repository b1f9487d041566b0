// What a result shows as a diagram: sweeps, maps over two parameters, branches, basins.
import { text, toml } from "graze/data";
import { extent, polyline, roomy } from "graze/plot";

const spaced = (name) => (name === "neimark_sacker" ? "Neimark–Sacker" : name.replace(/_/g, " "));

/** Symbol and unit of a parameter or state. */
export function label(known, name) {
  const q = [...known.parameters, ...known.states].find((entry) => entry.name === name);
  if (!q) return spaced(name);
  return q.unit ? `${q.symbol} [${q.unit}]` : q.symbol;
}
export function symbol(known, name) {
  return [...known.parameters, ...known.states].find((entry) => entry.name === name)?.symbol ?? spaced(name);
}

/** One square for each place that a point has not been drawn to yet. */
function dots(c, plot, size) {
  const { left, top, width, height } = plot.inner;
  const columns = Math.ceil(width), rows = Math.ceil(height);
  const seen = new Uint8Array(columns * rows);
  return (x, y) => {
    const i = Math.floor(x - left), j = Math.floor(y - top);
    if (!(i >= 0 && j >= 0 && i < columns && j < rows) || seen[j * columns + i]) return;
    seen[j * columns + i] = 1;
    c.fillRect(Math.round(x) - size / 2, Math.round(y) - size / 2, size, size);
  };
}

/** [from, to] kept inside of what a parameter may be. */
function inside([from, to], parameter) {
  if (!parameter) return [from, to];
  const low = parameter.low ?? -Infinity, high = parameter.high ?? Infinity;
  const room = (Math.min(to, high) - Math.max(from, low)) * 1e-6;
  const excluded = /</.test(parameter.rule.replace(/<=/g, ""));
  const edge = excluded ? room : 0;
  return [Number.isFinite(low) ? Math.max(from, low + edge) : from, Number.isFinite(high) ? Math.min(to, high - edge) : to];
}

const axisText = (kind, name, [from, to], points) =>
  `{ ${kind} = "${name}", from = ${toml(from)}, to = ${toml(to)}${points ? `, points = ${points}` : ""} }`;

/**
 * What the kinds have in common. `recomputes`: a zoom is computed anew, by runs(); `plane`: both axes are parameters or
 * initial states; `whole`: other parameters need all of it computed anew.
 */
class Diagram {
  band = 0; recomputes = true; plane = false; whole = false;
  constructor(frame) {
    this.data = frame.data;
    this.known = frame.header.case;
    this.colours = this.known.colours;
  }
  get states() { return this.known.states.map((s) => s.name); }
  classColour(name) { return this.colours.classes[name] ?? "#888"; }
  stateAt(name, index, width, item = 0, per = 1) {
    const values = this.data.values(name);
    return Array.from({ length: width }, (_, s) => values[(index * per + item) * width + s]);
  }
  multipliers(index) {
    const n = this.data.dimensions.multiplier ?? 0;
    const re = this.data.values("multiplier_re"), im = this.data.values("multiplier_im");
    if (!re) return [];
    return Array.from({ length: n }, (_, k) => ({ re: re[index * n + k], im: im[index * n + k] }))
      .filter((m) => Number.isFinite(m.re));
  }
  /** Points within a view. */
  visible({ x: [from, to] }) { let n = 0; for (const x of this.x) if (x >= from && x <= to) ++n; return n; }
  parameter(name) { return this.known.parameters.find((p) => p.name === name); }
  /** Arrays with one number per point, besides what the diagram is made of. */
  scalars(dimensions, left) {
    return [...this.data.arrays.values()]
      .filter((a) => a.type === "f64" && a.dimensions.join() === dimensions.join() && !left.includes(a.name) &&
        a.values.some(Number.isFinite)).map((a) => a.name);
  }
  quantityLabel(name) {
    if (this.states.includes(name)) return label(this.known, name);
    const array = this.data.array(name);
    return array && array.unit && array.unit !== "1" ? `${spaced(name)} [${array.unit}]` : spaced(name);
  }
  /** A point of a branch or a curve: a periodic orbit. */
  orbitPlace(index, parameters, what, number) {
    const d = this.data, width = this.states.length, n = this.iterates;
    const iterates = [];
    for (let k = 0; k < n; ++k) {
      const state = this.stateAt("orbit_state", index, width, k, n);
      if (state.every(Number.isFinite)) iterates.push(state);
    }
    const forcing = Math.round(d.at("forcing_periods", index));
    const facts = [["class", `periodic, period ${iterates.length}, ${d.at("stable", index) === "yes" ? "stable" : "unstable"}`],
      [what, String(number)], ["forcing periods", text(forcing)], ["time of one turn", text(d.at("orbit_time", index))],
      ["residual", text(d.at("residual", index), 2)]];
    const impacts = d.array("impacts");
    if (impacts) { const per = impacts.count / this.n; facts.push(["impacts", Array.from(impacts.values.subarray(index * per, (index + 1) * per)).join(", ")]); }
    return { point: index, parameters, state: iterates[0] ?? [], time: 0, forcing: forcing >= 1 ? forcing : NaN, turn: d.at("orbit_time", index),
      period: iterates.length, iterates, multipliers: this.multipliers(index), facts, note: `${what} ${number}` };
  }
  /** What a point of a sweep says of itself. */
  facts(index) {
    const d = this.data, facts = [];
    const add = (name, value) => { if (value !== undefined && value !== "–") facts.push([name, value]); };
    const count = (name) => {
      const array = d.array(name);
      if (!array) return;
      const per = array.count / d.array("attractor").count;
      const values = Array.from(array.values.subarray(index * per, (index + 1) * per));
      if (values.some((v) => v > 0)) add(spaced(name), values.map((v) => text(v, 4)).join(", "));
    };
    const found = d.at("attractor", index);
    const period = d.at("period", index);
    add("class", found === "periodic" ? `periodic, period ${period}` : found);
    if (d.at("outcome", index) !== "ok") add("outcome", spaced(d.at("outcome", index) ?? ""));
    add("forcing periods", text(d.at("forcing_periods", index)));
    add("Lyapunov exponent", text(d.at("lyapunov", index), 4));
    for (const name of ["impacts", "chatter_complete", "sticks", "rises", "stick_fraction"]) count(name);
    add("least speed at a contact", text(d.at("min_gap_speed", index), 4));
    return facts;
  }
}

/** Attractors over one parameter. */
export class Sweep extends Diagram {
  constructor(frame) {
    super(frame);
    const dimensions = this.data.array("attractor").dimensions;
    this.dimensions = dimensions;
    this.name = dimensions.at(-1);
    this.x = this.data.values(this.name);
    this.n = this.x.length;
    this.starts = this.data.dimensions.start ?? 1;
    this.iterates = this.data.dimensions.iterate;
    this.sets = this.data.values("attractor_set");
    this.band = 6 + 9 * Math.min(this.starts, 4);
  }
  quantities() { return [...this.states, ...this.scalars(this.dimensions, []), "period"].filter((q) => this.states.includes(q) || this.data.has(q)); }
  xLabel() { return label(this.known, this.name); }
  values(quantity) {
    const s = this.states.indexOf(quantity);
    const width = this.states.length;
    if (s < 0) { const v = this.data.values(quantity); return { per: 1, at: (p) => (quantity === "period" && v[p] < 1 ? NaN : v[p]) }; }
    const map = this.data.values("map_state");
    return { per: this.iterates, at: (p, k) => map[(p * this.iterates + k) * width + s] };
  }
  home(quantity) {
    const { per, at } = this.values(quantity);
    const all = [];
    for (let p = 0; p < this.n * this.starts; ++p) for (let k = 0; k < per; ++k) { const v = at(p, k); if (Math.abs(v) < 1e6) all.push(v); }
    const [a, b] = extent(this.x);
    return { x: a < b ? [a, b] : roomy([a, b]), y: roomy(extent(all)) };
  }
  colourOf(p) {
    const found = this.data.at("attractor", p);
    if (this.sets && found === "periodic") return this.colours.sets[Math.max(this.sets[p], 0) % this.colours.sets.length];
    return this.classColour(found);
  }
  legend() {
    const entries = new Map();
    for (let p = 0; p < this.n * this.starts; ++p) {
      const found = this.data.at("attractor", p);
      if (!found) continue;
      if (this.sets && found === "periodic") {
        const set = this.sets[p];
        if (set >= 0 && set < 6) entries.set(`attractor ${set + 1}`, this.colours.sets[set % this.colours.sets.length]);
      } else entries.set(found, this.classColour(found));
    }
    return [...entries].sort((a, b) => a[0].localeCompare(b[0])).map(([name, colour]) => ({ name, colour }));
  }
  layer(quantity) {
    const { per, at } = this.values(quantity);
    const layer = (c, plot) => {
      const groups = new Map();
      const [from, to] = plot.shown.x;
      for (let p = 0; p < this.n * this.starts; ++p) {
        const x = this.x[p % this.n];
        if (x < from || x > to) continue;
        const colour = this.colourOf(p);
        if (!groups.has(colour)) groups.set(colour, []);
        groups.get(colour).push(p);
      }
      for (const [colour, points] of groups) {
        c.fillStyle = colour;
        const dot = dots(c, plot, points.length < 300 || per === 1 ? 2.4 : 1.7);
        for (const p of points) {
          const x = plot.px(this.x[p % this.n]);
          for (let k = 0; k < per; ++k) { const y = at(p, k); if (Number.isFinite(y)) dot(x, plot.py(y)); }
        }
      }
    };
    layer.outside = (c, plot) => {
      const { left, top, width, height } = plot.inner;
      for (let s = 0; s < Math.min(this.starts, 4); ++s) {
        const y = top + height + 4 + 9 * s;
        for (let i = 0; i < this.n; ++i) {
          const half = (j) => (this.x[i] + this.x[Math.min(Math.max(j, 0), this.n - 1)]) / 2;
          const a = Math.max(plot.px(half(i - 1)), left), b = Math.min(plot.px(half(i + 1)), left + width);
          const [lo, hi] = [Math.min(a, b), Math.max(a, b)];
          if (!(hi > lo) && !(this.n === 1)) continue;
          c.fillStyle = this.classColour(this.data.at("attractor", s * this.n + i));
          c.fillRect(lo, y, Math.max(hi - lo, 0.5) + 0.3, 7);
        }
        c.fillStyle = "#1a1a1a"; c.font = '11px system-ui, "DejaVu Sans", sans-serif'; c.textAlign = "right"; c.textBaseline = "middle";
        c.fillText(this.starts > 1 ? this.data.names("start")[s] : "class", left - 5, y + 3);
      }
    };
    return layer;
  }
  pick(x, y, plot, quantity) {
    const { per, at } = this.values(quantity);
    let best = -1, least = Infinity;
    for (let p = 0; p < this.n * this.starts; ++p) {
      const dx = (plot.px(this.x[p % this.n]) - plot.px(x)) * 3;
      if (dx * dx >= least) continue;
      for (let k = 0; k < per; ++k) {
        const dy = (plot.py(at(p, k)) - plot.py(y)) * 0.3;
        const distance = dx * dx + (Number.isFinite(dy) ? dy * dy : 1e6);
        if (distance < least) { least = distance; best = p; }
      }
    }
    return best;
  }
  /** The point to go on with when the result is another one. */
  nearest(place) {
    const x = place.parameters[this.name];
    if (x === undefined) return -1;
    const start = Math.min(place.start ?? 0, this.starts - 1);
    let best = 0;
    for (let i = 1; i < this.n; ++i) if (Math.abs(this.x[i] - x) < Math.abs(this.x[best] - x)) best = i;
    return start * this.n + best;
  }
  track(index) { const start = Math.floor(index / this.n); return { from: start * this.n, count: this.n, at: index - start * this.n }; }
  place(index) {
    const d = this.data, width = this.states.length;
    const period = d.at("period", index) ?? 0;
    const times = d.values("map_time");
    const stroboscopic = !/"(impact|section)"/.test(this.known.sections.analysis.map ?? "");
    const forced = Number.isFinite(d.at("forcing_periods", index));
    const last = period >= 1 && period < this.iterates ? period : this.iterates - 1;
    const iterates = [];
    for (let k = 0; k < (period >= 1 ? Math.min(period, this.iterates) : this.iterates); ++k) {
      const state = this.stateAt("map_state", index, width, k, this.iterates);
      if (state.every(Number.isFinite)) iterates.push(state);
    }
    const start = Math.floor(index / this.n);
    return {
      point: index, start, parameters: { [this.name]: this.x[index % this.n] },
      state: this.stateAt("map_state", index, width, 0, this.iterates),
      time: stroboscopic || !forced ? 0 : times?.[index * this.iterates] ?? 0,
      forcing: forced ? (period >= 1 ? Math.round(d.at("forcing_periods", index)) : 0) : NaN,
      turn: times ? times[index * this.iterates + last] - times[index * this.iterates] : 0,
      period, iterates, multipliers: this.multipliers(index), facts: this.facts(index),
      note: this.starts > 1 ? `start ${d.names("start")[start]}` : "",
    };
  }
  marker(place, quantity) {
    const s = this.states.indexOf(quantity);
    const ys = s >= 0 ? place.iterates.map((state) => state[s]) : [this.values(quantity).at(place.point, 0)];
    return { x: place.parameters[this.name], ys: ys.slice(0, 64) };
  }
  /** Settings that compute the visible range in so many points, coarse ones first. */
  runs(view, size) {
    const range = inside(view.x, this.parameter(this.name));
    const full = Math.max(200, Math.min(1600, Math.round(size.width)));
    return [Math.round(full / 14), Math.round(full / 4), full].map((n) => [`analysis.axis=${axisText("parameter", this.name, range, n)}`]);
  }
  /** Orbits of forced systems are followed from phase zero of the forcing. */
  continuation(view) {
    const onSection = /"(impact|section)"/.test(this.known.sections.analysis.map ?? "");
    return onSection && this.known.forced ? undefined : { name: this.name, range: inside(view.x, this.parameter(this.name)) };
  }
  csv(view) {
    const rows = [[this.name, ...(this.starts > 1 ? ["start"] : []), "attractor", "period", "iterate", ...this.states]];
    const names = this.data.names("start");
    for (let p = 0; p < this.n * this.starts; ++p) {
      const x = this.x[p % this.n];
      if (x < view.x[0] || x > view.x[1]) continue;
      const head = [x, ...(this.starts > 1 ? [names[Math.floor(p / this.n)]] : []), this.data.at("attractor", p) ?? "", this.data.at("period", p)];
      this.place(p).iterates.forEach((state, k) => rows.push([...head, k, ...state]));
    }
    return rows;
  }
}

/** A grid of cells in the colours of regions. */
class Grid extends Diagram {
  constructor(frame, dimensions) {
    super(frame);
    [this.xName, this.yName] = dimensions;
    this.gridX = this.data.values(this.xName);
    this.gridY = this.data.values(this.yName);
    this.rows = this.gridY.length;
    this.plane = true;
  }
  xLabel() { return label(this.known, this.xName); }
  quantityLabel(quantity) { return quantity === "regions" ? label(this.known, this.yName) : `${label(this.known, this.yName)}  (colour: ${super.quantityLabel(quantity)})`; }
  home() {
    const whole = (v) => { const [a, b] = extent(v); const d = v.length > 1 ? (b - a) / (v.length - 1) / 2 : Math.abs(a) * 0.05 || 1; return [a - d, b + d]; };
    return { x: whole(this.gridX), y: whole(this.gridY) };
  }
  visible(view) { const n = (v, [a, b]) => v.reduce((k, x) => k + (x >= a && x <= b), 0); return n(this.gridX, view.x) * n(this.gridY, view.y); }
  layer(quantity) {
    const colour = this.cellColours(quantity);
    return (c, plot) => {
      const edges = (v, to) => Array.from({ length: v.length + 1 }, (_, i) => {
        const at = i === 0 ? v[0] - (v.length > 1 ? (v[1] - v[0]) / 2 : 0.5) : i === v.length ? v[i - 1] + (v.length > 1 ? (v[i - 1] - v[i - 2]) / 2 : 0.5) : (v[i - 1] + v[i]) / 2;
        return to(at);
      });
      const xs = edges(this.gridX, (v) => plot.px(v)), ys = edges(this.gridY, (v) => plot.py(v));
      for (let i = 0; i < this.gridX.length; ++i) {
        if (Math.max(xs[i], xs[i + 1]) < plot.inner.left || Math.min(xs[i], xs[i + 1]) > plot.inner.left + plot.inner.width) continue;
        for (let j = 0; j < this.rows;) {
          const here = colour(i * this.rows + j);
          let end = j + 1;
          while (end < this.rows && colour(i * this.rows + end) === here) ++end;
          if (here) {
            const top = Math.round(Math.min(ys[j], ys[end])), bottom = Math.round(Math.max(ys[j], ys[end]));
            const left = Math.round(Math.min(xs[i], xs[i + 1])), right = Math.round(Math.max(xs[i], xs[i + 1]));
            c.fillStyle = here;
            c.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
          }
          j = end;
        }
      }
    };
  }
  pick(x, y) {
    const near = (v, at) => v.reduce((best, value, i) => (Math.abs(value - at) < Math.abs(v[best] - at) ? i : best), 0);
    return near(this.gridX, x) * this.rows + near(this.gridY, y);
  }
  track(index) { const j = index % this.rows; return { from: j, count: this.gridX.length, at: Math.floor(index / this.rows), step: this.rows }; }
  runsOver(kind, view, size) {
    const range = (name, r) => (kind === "parameter" ? inside(r, this.parameter(name)) : r);
    return [[size.width / 40, 200], [size.width / 12, 2500], [size.width / 4.5, 15000]].map(([columns, most]) => {
      const nx = Math.max(8, Math.round(columns));
      const ny = Math.max(8, Math.min(Math.round((columns * size.height) / size.width), Math.floor(most / nx)));
      return [`analysis.axis=${axisText(kind, this.xName, range(this.xName, view.x), nx)}`,
              `analysis.axis2=${axisText(kind, this.yName, range(this.yName, view.y), ny)}`];
    });
  }
  marker(place) { return { x: place.at[0], ys: [place.at[1]] }; }
  scale(values) {
    const [low, high] = extent(values.filter((v) => Math.abs(v) < 1e12));
    const steps = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"].map((h) => [1, 3, 5].map((k) => parseInt(h.slice(k, k + 2), 16)));
    return (v) => {
      if (!Number.isFinite(v)) return "";
      const at = Math.min(Math.max(high > low ? ((v - low) / (high - low)) * 4 : 2, 0), 4), k = Math.min(Math.floor(at), 3);
      const level = Math.round((at - k) * 16) / 16;
      return `rgb(${steps[k].map((a, i) => Math.round(a + level * (steps[k + 1][i] - a))).join(",")})`;
    };
  }
  csv(view) {
    const rows = [[this.xName, this.yName, ...this.csvNames]];
    for (let p = 0; p < this.gridX.length * this.rows; ++p) {
      const x = this.gridX[Math.floor(p / this.rows)], y = this.gridY[p % this.rows];
      if (x >= view.x[0] && x <= view.x[1] && y >= view.y[0] && y <= view.y[1])
        rows.push([x, y, ...this.csvNames.map((name) => this.data.at(name, p) ?? "")]);
    }
    return rows;
  }
}

/** Regions of class and period over two parameters (of several starts, the first). */
export class RegionMap extends Grid {
  constructor(frame) {
    super(frame, frame.data.array("attractor").dimensions.filter((d) => d !== "start"));
    this.csvNames = ["attractor", "period", "lyapunov"];
    const periods = new Set();
    for (let p = 0; p < this.gridX.length * this.rows; ++p) if (this.data.at("attractor", p) === "periodic") periods.add(this.data.at("period", p));
    const colour = this.colours.regions;
    const powers = { 1: colour[0], 2: colour[1], 4: colour[3], 8: colour[7] };
    const others = [2, 4, 5, 6].map((k) => colour[k]);
    this.periods = new Map();
    for (const n of [...periods].sort((a, b) => a - b)) this.periods.set(n, powers[n] ?? others.shift() ?? colour[8]);
  }
  quantities() { return ["regions", ...this.scalars(this.data.array("attractor").dimensions, [])]; }
  region(p) {
    const found = this.data.at("attractor", p);
    return found === "periodic" ? this.periods.get(this.data.at("period", p)) : found ? this.classColour(found) : "";
  }
  cellColours(quantity) {
    if (quantity === "regions") return (p) => this.region(p);
    const values = this.data.values(quantity), scale = this.scale(values);
    return (p) => scale(values[p]);
  }
  legend(quantity) {
    if (quantity !== "regions") return [];
    const entries = [...this.periods].slice(0, 8).map(([n, colour]) => ({ name: `period ${n}`, colour }));
    const classes = new Set(Array.from({ length: this.gridX.length * this.rows }, (_, p) => this.data.at("attractor", p)));
    for (const name of classes) if (name && name !== "periodic") entries.push({ name, colour: this.classColour(name) });
    return entries;
  }
  nearest(place) {
    const x = place.parameters[this.xName], y = place.parameters[this.yName];
    return x === undefined || y === undefined ? -1 : this.pick(x, y);
  }
  place(index) {
    const place = Sweep.prototype.place.call(
      { data: this.data, known: this.known, states: this.states, iterates: this.data.dimensions.iterate, n: this.gridX.length * this.rows, starts: 1, x: [], name: "",
        stateAt: this.stateAt, multipliers: this.multipliers, facts: (p) => this.facts(p) }, index);
    const at = [this.gridX[Math.floor(index / this.rows)], this.gridY[index % this.rows]];
    return { ...place, at, parameters: { [this.xName]: at[0], [this.yName]: at[1] } };
  }
  runs(view, size) { return this.runsOver("parameter", view, size); }
  continuation() { return undefined; }
}

/** Initial states in the colours of the attractors that they lead to. */
export class Basins extends Grid {
  constructor(frame) {
    super(frame, frame.data.array("attractor").dimensions);
    this.csvNames = ["basin", "attractor", "period"];
  }
  quantities() { return ["regions", ...this.scalars(this.data.array("attractor").dimensions, [])]; }
  cellColours(quantity) {
    if (quantity !== "regions") { const values = this.data.values(quantity), scale = this.scale(values); return (p) => scale(values[p]); }
    const basin = this.data.values("basin") ?? [];
    return (p) => (basin[p] >= 0 ? this.colours.sets[basin[p] % this.colours.sets.length] : "#ffffff");
  }
  legend(quantity) {
    if (quantity !== "regions") return [];
    return Array.from({ length: Math.min(this.data.dimensions.number ?? 0, 6) }, (_, k) => {
      const found = this.data.at("basin_attractor", k);
      return { colour: this.colours.sets[k % this.colours.sets.length], name: `${found === "periodic" ? `period ${this.data.at("basin_period", k)}` : found} (${text(100 * this.data.at("basin_fraction", k), 3)} %)` };
    });
  }
  nearest(place) { return place.at ? this.pick(...place.at) : -1; }
  place(index) {
    const at = [this.gridX[Math.floor(index / this.rows)], this.gridY[index % this.rows]];
    const state = [...this.known.start];
    state[this.states.indexOf(this.xName)] = at[0];
    state[this.states.indexOf(this.yName)] = at[1];
    const number = this.data.at("basin", index);
    const iterates = [];
    const n = this.data.dimensions.iterate ?? 0;
    if (number >= 0 && this.data.has("basin_orbit"))
      for (let k = 0; k < n; ++k) { const s = this.stateAt("basin_orbit", number, this.states.length, k, n); if (s.every(Number.isFinite)) iterates.push(s); }
    return { point: index, stored: number, at, parameters: {}, state, time: this.known.start_time, forcing: this.known.forced ? 0 : NaN, turn: 0, period: this.data.at("period", index) ?? 0,
      iterates, multipliers: this.multipliers(index), facts: [["leads to attractor", number >= 0 ? number + 1 : "–"], ...this.facts(index)],
      note: `${symbol(this.known, this.xName)} = ${text(at[0])}, ${symbol(this.known, this.yName)} = ${text(at[1])}`, transient: true };
  }
  runs(view, size) { return this.runsOver("state", view, size); }
  continuation() { return undefined; }
}

const pointColours = { fold: "#d55e00", period_doubling: "#0072b2", neimark_sacker: "#009e73", branch_point: "#7b3294", grazing: "#b07d00" };

/** Located points, with their names as far as there is room. */
function paintMarks(c, plot, all) {
  const { left, top, width, height } = plot.inner;
  const taken = [];
  c.font = '12px system-ui, "DejaVu Sans", sans-serif'; c.textBaseline = "middle"; c.textAlign = "left";
  for (const { kind, px, py } of all) {
    c.strokeStyle = pointColours[kind] ?? "#30363c"; c.fillStyle = "#fff"; c.lineWidth = 1.8;
    c.beginPath(); c.arc(px, py, 4.2, 0, 7); c.fill(); c.stroke();
  }
  for (const { kind, px, py } of all) {
    const name = spaced(kind), box = { x: px + 7, y: py - 8, w: c.measureText(name).width, h: 16 };
    if (px < left || px > left + width || py < top || py > top + height) continue;
    if (box.x + box.w > left + width) box.x = px - 7 - box.w;
    if (taken.some((t) => box.x < t.x + t.w && t.x < box.x + box.w && box.y < t.y + t.h && t.y < box.y + box.h)) continue;
    taken.push(box);
    c.fillStyle = "#fff"; c.globalAlpha = 0.8; c.fillRect(box.x - 1, box.y + 1, box.w + 2, box.h - 2); c.globalAlpha = 1;
    c.fillStyle = "#1a1a1a"; c.fillText(name, box.x, py);
  }
}

/** Branches of periodic orbits and their located points. */
export class Branches extends Diagram {
  constructor(frame) {
    super(frame);
    const points = this.data.groups.bifurcation;
    this.located = points;
    const named = /parameter = "([^"]*)"/.exec(this.known.sections.analysis.axis ?? "");
    this.name = named ? named[1] : "";
    this.x = this.data.values(this.name) ?? new Float64Array(0);
    this.n = this.x.length;
    this.branch = this.data.values("branch") ?? [];
    this.iterates = this.data.dimensions.iterate ?? 1;
    this.background = this.data.groups.sweep;
    this.whole = true;
  }
  quantities() { return [...this.states, ...this.scalars(["point"], [this.name, "residual"])]; }
  xLabel() { return label(this.known, this.name); }
  value(quantity) {
    const s = this.states.indexOf(quantity), width = this.states.length;
    if (s < 0) { const v = this.data.values(quantity); return { per: 1, at: (p) => v[p] }; }
    const orbit = this.data.values("orbit_state");
    return { per: this.iterates, at: (p, k) => orbit[(p * this.iterates + k) * width + s] };
  }
  home(quantity) {
    const { per, at } = this.value(quantity);
    const all = [];
    for (let p = 0; p < this.n; ++p) for (let k = 0; k < per; ++k) if (Math.abs(at(p, k)) < 1e6) all.push(at(p, k));
    return { x: roomy(extent(this.x), 0.02), y: roomy(extent(all)) };
  }
  kinds() { return new Set(Array.from({ length: this.located?.dimensions.point ?? 0 }, (_, k) => this.located.at("kind", k))); }
  legend() {
    const entries = [{ name: "stable", colour: "#08457e", shape: "line" }, { name: "unstable", colour: "#d55e00", shape: "dashed" }];
    for (const kind of this.kinds()) entries.push({ name: spaced(kind), colour: pointColours[kind] ?? "#30363c", shape: "mark" });
    return entries;
  }
  layer(quantity) {
    const { per, at } = this.value(quantity);
    return (c, plot) => {
      if (this.background && this.states.includes(quantity)) this.paintSweep(c, plot, quantity);
      this.paint(c, plot, per, at);
      this.paintPoints(c, plot, quantity);
    };
  }
  /** The attractors that branches were begun from. */
  paintSweep(c, plot, quantity) {
    const map = this.background.array("map_state"), x = this.background.values(this.name);
    if (!map || !x) return;
    const n = this.background.dimensions.iterate, width = this.states.length, s = this.states.indexOf(quantity);
    c.fillStyle = "#c3cad0";
    const dot = dots(c, plot, 1.4);
    for (let p = 0; p < map.count / (n * width); ++p)
      for (let k = 0; k < n; ++k) dot(plot.px(x[p % x.length]), plot.py(map.values[(p * n + k) * width + s]));
  }
  /** Runs of points of one branch that are alike in stability and period. */
  runsOfPoints() {
    const stable = this.data.values("stable"), admissible = this.data.values("admissible");
    const periods = this.data.values("forcing_periods");
    const result = [];
    for (let p = 0; p < this.n; ++p) {
      const kind = admissible && !admissible[p] ? "impossible" : stable[p] ? "stable" : "unstable";
      const last = result.at(-1);
      if (last && last.branch === this.branch[p] && last.kind === kind && last.periods === periods?.[p]) last.points.push(p);
      else {
        const joined = last && last.branch === this.branch[p] && last.periods === periods?.[p];
        result.push({ branch: this.branch[p], kind, periods: periods?.[p], points: joined ? [last.points.at(-1), p] : [p] });
      }
    }
    return result;
  }
  paint(c, plot, per, at) {
    const style = { stable: ["#08457e", 2.2, []], unstable: ["#d55e00", 1.5, [5, 3]], impossible: ["#9aa3ab", 1, [2, 3]] };
    for (const run of this.runsOfPoints()) {
      const [colour, width, dash] = style[run.kind];
      c.globalAlpha = this.anew?.has(run.branch) ? 0.3 : 1;
      c.strokeStyle = colour; c.lineWidth = width; c.setLineDash(dash);
      for (let k = 0; k < per; ++k) {
        const xs = [], ys = [];
        let before = NaN;
        for (const p of run.points) {
          const y = at(p, k);
          if (Math.abs(plot.py(y) - plot.py(before)) > plot.inner.height / 4) { xs.push(NaN); ys.push(NaN); }
          xs.push(this.x[p]); ys.push(y);
          before = y;
        }
        if (ys.some(Number.isFinite)) polyline(c, plot, xs, ys);
      }
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
  }
  paintPoints(c, plot, quantity) {
    const s = this.states.indexOf(quantity);
    if (!this.located || s < 0) return;
    const width = this.states.length, x = this.located.values(this.name), states = this.located.values("orbit_state");
    paintMarks(c, plot, Array.from({ length: this.located.dimensions.point ?? 0 }, (_, k) =>
      ({ kind: this.located.at("kind", k), px: plot.px(x[k]), py: plot.py(states[k * width + s]) })));
  }
  pick(x, y, plot, quantity) {
    const { per, at } = this.value(quantity);
    let best = -1, least = Infinity;
    for (let p = 0; p < this.n; ++p)
      for (let k = 0; k < per; ++k) {
        const dx = plot.px(this.x[p]) - plot.px(x), dy = plot.py(at(p, k)) - plot.py(y);
        const d = dx * dx + dy * dy;
        if (d < least) { least = d; best = p; }
      }
    return best;
  }
  nearest(place) {
    let best = -1, least = Infinity;
    const width = this.states.length;
    for (let p = 0; p < this.n; ++p) {
      const state = this.stateAt("orbit_state", p, width, 0, this.iterates);
      const d = Math.abs(this.x[p] - place.parameters[this.name]) + state.reduce((sum, v, s) => sum + Math.abs(v - place.state[s]), 0);
      if (d < least) { least = d; best = p; }
    }
    return best;
  }
  track(index) {
    let from = index, to = index + 1;
    while (from > 0 && this.branch[from - 1] === this.branch[index]) --from;
    while (to < this.n && this.branch[to] === this.branch[index]) ++to;
    return { from, count: to - from, at: index - from };
  }
  place(index) { return this.orbitPlace(index, { [this.name]: this.x[index] }, "branch", this.branch[index]); }
  marker(place, quantity) {
    const s = this.states.indexOf(quantity);
    return { x: place.parameters[this.name], ys: s >= 0 ? place.iterates.map((v) => v[s]) : [this.value(quantity).at(place.point, 0)] };
  }
  continuation(view) { return { name: this.name, range: inside(view.x, this.parameter(this.name)) }; }
  /** A branch is computed anew from its orbit nearest to the middle of the view. */
  runs(view) {
    const { name, range } = this.continuation(view);
    const middle = (range[0] + range[1]) / 2, width = this.states.length;
    const best = new Map();
    for (let p = 0; p < this.n; ++p) {
      if (this.x[p] < range[0] || this.x[p] > range[1]) continue;
      const known = best.get(this.branch[p]);
      if (known === undefined || Math.abs(this.x[p] - middle) < Math.abs(this.x[known] - middle)) best.set(this.branch[p], p);
    }
    this.asked = [...best.keys()].slice(0, 12);
    return [...best.values()].slice(0, 12).map((p) =>
      continueFrom(this.known, name, range, this.x[p], this.stateAt("orbit_state", p, width, 0, this.iterates)));
  }
  csv(view) {
    const rows = [["branch", this.name, "stable", "forcing_periods", "iterate", ...this.states]];
    for (let p = 0; p < this.n; ++p) {
      if (this.x[p] < view.x[0] || this.x[p] > view.x[1]) continue;
      this.place(p).iterates.forEach((state, k) =>
        rows.push([this.branch[p], this.x[p], this.data.at("stable", p), this.data.at("forcing_periods", p), k, ...state]));
    }
    return rows;
  }
}

/** Curves of bifurcations over two parameters and the points of codimension two on them. */
export class Curves extends Diagram {
  constructor(frame) {
    super(frame);
    const named = (key) => /parameter = "([^"]*)"/.exec(this.known.sections.analysis[key] ?? "")?.[1] ?? "";
    [this.xName, this.yName] = [named("axis"), named("axis2")];
    this.x = this.data.values(this.xName) ?? new Float64Array(0);
    this.y = this.data.values(this.yName) ?? new Float64Array(0);
    this.n = this.x.length;
    this.curve = this.data.values("curve_index") ?? [];
    this.iterates = this.data.dimensions.iterate ?? 1;
    this.points = this.data.groups.codim2;
    this.recomputes = false;
    this.plane = this.whole = true;
  }
  quantities() { return ["curves"]; }
  xLabel() { return label(this.known, this.xName); }
  quantityLabel() { return label(this.known, this.yName); }
  home() { return { x: roomy(extent(this.x), 0.03), y: roomy(extent(this.y), 0.03) }; }
  visible(view) { let n = 0; for (let p = 0; p < this.n; ++p) n += this.x[p] >= view.x[0] && this.x[p] <= view.x[1] && this.y[p] >= view.y[0] && this.y[p] <= view.y[1]; return n; }
  kindOf(curve) { return this.data.at("kind", curve); }
  colour(kind) { return pointColours[kind] ?? "#30363c"; }
  legend() {
    const kinds = new Set(Array.from({ length: this.data.dimensions.curve_number ?? 0 }, (_, k) => this.kindOf(k)));
    return [...kinds].map((kind) => ({ name: spaced(kind), colour: this.colour(kind), shape: "line" }));
  }
  layer() {
    return (c, plot) => {
      for (let from = 0; from < this.n;) {
        let to = from;
        while (to < this.n && this.curve[to] === this.curve[from]) ++to;
        const real = this.data.values("admissible");
        c.strokeStyle = this.colour(this.kindOf(this.curve[from])); c.lineWidth = 2;
        for (const [wanted, dash] of [[1, []], [0, [2, 3]]]) {
          c.setLineDash(dash);
          const is = (p) => !real || real[p] === wanted || (p > from && real[p - 1] === wanted && wanted === 0);
          polyline(c, plot, Array.from({ length: to - from }, (_, k) => (is(from + k) ? this.x[from + k] : NaN)), this.y.subarray(from, to));
        }
        from = to;
      }
      c.setLineDash([]);
      if (!this.points) return;
      const x = this.points.values(this.xName), y = this.points.values(this.yName);
      paintMarks(c, plot, Array.from({ length: this.points.dimensions.point ?? 0 }, (_, k) => ({ kind: this.points.at("kind", k), px: plot.px(x[k]), py: plot.py(y[k]) })));
    };
  }
  pick(x, y, plot) {
    let best = -1, least = Infinity;
    for (let p = 0; p < this.n; ++p) {
      const d = Math.hypot(plot.px(this.x[p]) - plot.px(x), plot.py(this.y[p]) - plot.py(y));
      if (d < least) { least = d; best = p; }
    }
    return best;
  }
  nearest(place) { return place.point < this.n ? place.point : -1; }
  track(index) {
    let from = index, to = index + 1;
    while (from > 0 && this.curve[from - 1] === this.curve[index]) --from;
    while (to < this.n && this.curve[to] === this.curve[index]) ++to;
    return { from, count: to - from, at: index - from };
  }
  place(index) {
    const place = this.orbitPlace(index, { [this.xName]: this.x[index], [this.yName]: this.y[index] }, "curve", this.curve[index]);
    place.facts.unshift(["curve of", spaced(this.kindOf(this.curve[index]))]);
    return place;
  }
  marker(place) { return { x: place.parameters[this.xName], ys: [place.parameters[this.yName]] }; }
  continuation() { return undefined; }
  csv(view) {
    const rows = [["curve", "kind", this.xName, this.yName, "stable", "forcing_periods", ...this.states]];
    for (let p = 0; p < this.n; ++p)
      if (this.x[p] >= view.x[0] && this.x[p] <= view.x[1] && this.y[p] >= view.y[0] && this.y[p] <= view.y[1])
        rows.push([this.curve[p], this.kindOf(this.curve[p]), this.x[p], this.y[p], this.data.at("stable", p), this.data.at("forcing_periods", p), ...this.stateAt("orbit_state", p, this.states.length, 0, this.iterates)]);
    return rows;
  }
}

/** The keys of the case that say what an iterate is. */
export function mapKeys(known) {
  const keys = ["map", "contact", "side", "coordinate", "level", "direction"];
  return keys.filter((key) => known.sections.analysis[key] !== undefined).map((key) => `, ${key} = ${known.sections.analysis[key]}`).join("");
}

/** Settings that give many iterates of the motion at a place of a sweep. */
export function longRecord(known, place) {
  const [name, value] = Object.entries(place.parameters)[0];
  return [`analysis={ name = "sweep", axis = { parameter = "${name}", values = [${toml(value)}] }, transient = 0, record = 4000${mapKeys(known)} }`];
}

/** Settings that follow the branch through an orbit over a range of a parameter. */
export function continueFrom(known, name, range, at, state) {
  const follow = `axis = ${axisText("parameter", name, range)}, start = "state", at = ${toml(at)}, transient = 0, generations = 0`;
  return [`analysis={ name = "continue", ${follow}${mapKeys(known)} }`,
          `initial={ time = 0.0, state = [${state.map(toml).join(", ")}] }`];
}

/** The diagram of a result. */
export function diagramOf(frame) {
  const { analysis } = frame.header.case;
  if (analysis === "continue") return new Branches(frame);
  if (analysis === "curves") return new Curves(frame);
  if (analysis === "basins" && frame.data.array("attractor").dimensions.length !== 2)
    throw new Error("basins have a diagram here only over two states; graze plot draws the others");
  if (analysis === "basins") return new Basins(frame);
  const over = frame.data.array("attractor").dimensions.filter((d) => d !== "start");
  return over.length === 2 ? new RegionMap(frame) : new Sweep(frame);
}
