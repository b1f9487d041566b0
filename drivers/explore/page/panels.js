// What is shown of one motion: phase portrait, section, history, events, multipliers, facts.
import { text } from "graze/data";
import { Plot, extent, polyline, roomy } from "graze/plot";
import { label, symbol } from "graze/diagram";

const impactKinds = new Set(["impact", "graze", "chatter_complete", "contact_begin"]);

/** A motion out of a result of `simulate`. */
export class Motion {
  constructor(frame, known) {
    const d = frame.data;
    this.known = known;
    this.states = this.known.states.map((s) => s.name);
    this.width = this.states.length;
    this.time = d.values("time");
    this.state = d.values("state");
    this.mode = d.values("mode");
    this.contacts = this.known.contacts;
    const n = d.dimensions.event ?? 0;
    this.events = Array.from({ length: n }, (_, k) => ({
      time: d.values("event_time")[k], kind: d.at("event_kind", k), contact: d.values("event_contact")[k],
      speed: d.values("event_approach_speed")[k],
      before: d.values("event_before").subarray(k * this.width, (k + 1) * this.width),
      after: d.values("event_after").subarray(k * this.width, (k + 1) * this.width),
    }));
    this.outcome = d.at("outcome", 0);
    this.stops = this.contacts.map((_, contact) => this.#stopOf(contact));
  }
  /** Positions and their velocities. */
  static pairs(known) {
    const names = known.states.map((s) => s.name);
    const pairs = known.states.flatMap((s, v) => (s.velocity_of ? [{ position: names.indexOf(s.velocity_of), velocity: v }] : []));
    return pairs.length ? pairs : names.length > 1 ? [{ position: 0, velocity: 1 }] : [{ position: 0, velocity: 0 }];
  }
  /** The coordinate that a contact stops: its velocity jumps at one value of it. */
  #stopOf(contact) {
    const events = this.events.filter((event) => event.contact === contact && event.kind === "impact");
    const [low, high] = extent(this.state);
    const room = 1e-9 * Math.max(high - low, 1e-12);
    const stopped = Motion.pairs(this.known).filter(({ position, velocity }) =>
      events.some((e) => e.before[velocity] !== e.after[velocity]) &&
      events.every((e) => Math.abs(e.before[position] - events[0].before[position]) <= room));
    return stopped.length === 1 ? { state: stopped[0].position, level: events[0].before[stopped[0].position], contact } : undefined;
  }
  /** Samples and both sides of every event, in order of time. */
  path(states) {
    const columns = [[], ...states.map(() => [])];
    const put = (time, at) => { columns[0].push(time); states.forEach((s, k) => columns[k + 1].push(at(s))); };
    let e = 0;
    const until = (time) => {
      for (; e < this.events.length && this.events[e].time <= time; ++e) {
        const event = this.events[e];
        put(event.time, (s) => event.before[s]);
        put(event.time, (s) => event.after[s]);
      }
    };
    for (let i = 0; i < this.time.length; ++i) {
      until(this.time[i]);
      put(this.time[i], (s) => this.state[i * this.width + s]);
    }
    until(Infinity);
    return columns;
  }
  /** Times from … to while a contact is closed. */
  closed(contact) {
    const spans = [];
    const bit = 2 ** contact;
    for (let i = 0; i < this.time.length; ++i) {
      const is = Math.floor(this.mode[i] / bit) % 2 === 1;
      if (!is) continue;
      const from = this.time[i], to = this.time[Math.min(i + 1, this.time.length - 1)];
      if (spans.length && spans.at(-1)[1] >= from) spans.at(-1)[1] = to; else spans.push([from, to]);
    }
    return spans;
  }
}

function contactColour(known, contact) { return known.colours.contacts[contact % known.colours.contacts.length]; }

function paintStop(c, plot, known, stop, upright) {
  const at = upright ? plot.px(stop.level) : plot.py(stop.level);
  const { left, top, width, height } = plot.inner;
  c.strokeStyle = contactColour(known, stop.contact); c.lineWidth = 2.5;
  c.beginPath();
  if (upright) { c.moveTo(at, top); c.lineTo(at, top + height); } else { c.moveTo(left, at); c.lineTo(left + width, at); }
  c.stroke();
}

export class Panels {
  motion = null; place = null; free = null; chosen = -1;
  #pair = { position: 0, velocity: 1 };

  /** `start(state)`: somebody wants the motion from this state. */
  constructor(known, start) {
    this.known = known;
    const host = (id) => document.getElementById(id);
    this.phase = new Plot(host("phase"), { name: "Phase portrait", title: "Phase portrait", onPick: (x, y, event) => { if (event.altKey) start(this.#stateAt(x, y)); } });
    this.poincare = new Plot(host("poincare"), { name: "Poincaré points", title: "Poincaré points", onPick: (x, y, event) => { if (event.altKey) start(this.#stateAt(x, y)); } });
    this.history = new Plot(host("history"), { name: "Time history", title: "Time history", x: "t" });
    this.multipliers = new Plot(host("multipliers"), { name: "Multipliers in the unit circle", title: "Multipliers", square: true });
    this.facts = host("facts");
    this.table = host("events");
    for (const plot of [this.phase, this.poincare, this.history, this.multipliers])
      plot.canvas.addEventListener("dblclick", () => this.#fit());
    const select = host("pair");
    this.pairs = Motion.pairs(known);
    this.pairs.forEach((p, k) => select.add(new Option(`${symbol(known, this.#name(p.position))}, ${symbol(known, this.#name(p.velocity))}`, String(k))));
    this.#pair = this.pairs[0];
    this.#fit();
    select.addEventListener("change", () => { this.#pair = this.pairs[Number(select.value)]; this.#fit(); this.draw(); });
    this.draw();
  }
  #name(s) { return this.known.states[s].name; }
  #stateAt(x, y) {
    const state = [...(this.place?.state ?? this.known.start)];
    state[this.#pair.position] = x;
    state[this.#pair.velocity] = y;
    return state;
  }
  /** Shows a place of the diagram; its motion may come later. */
  show(place, motion) {
    this.place = place;
    this.motion = motion;
    this.chosen = -1;
    this.#fit();
    this.draw();
    this.#facts();
    this.#events();
  }
  /** There are more Poincaré points now. */
  showSection() { this.#fit(); this.draw(); }
  #fit() {
    const { position, velocity } = this.#pair;
    const points = this.place?.iterates ?? [];
    if (this.motion) {
      const [time, x, v] = this.motion.path([position, velocity]);
      const levels = this.motion.stops.filter((s) => s?.state === position).map((s) => s.level);
      this.phase.view = { x: roomy(extent([...levels, ...x, ...points.map((p) => p[position])]), 0.06), y: roomy(extent(v), 0.06) };
      this.history.view = { x: extent(time), y: roomy(extent([...levels, ...x]), 0.06) };
    }
    const section = this.place?.section ?? points;
    this.poincare.view = { x: roomy(extent(section.map((p) => p[position])), 0.12), y: roomy(extent(section.map((p) => p[velocity])), 0.12) };
    const radius = Math.min(Math.max(1.15, ...(this.place?.multipliers ?? []).map((m) => Math.hypot(m.re, m.im) * 1.1)), 1e6);
    this.multipliers.view = { x: [-radius, radius], y: [-radius, radius] };
    for (const plot of [this.phase, this.history, this.poincare, this.multipliers]) plot.draw();
  }
  draw() {
    const { known, motion, place } = this;
    const { position, velocity } = this.#pair;
    const names = [label(known, this.#name(position)), label(known, this.#name(velocity))];
    [this.phase.x, this.phase.y] = names;
    [this.poincare.x, this.poincare.y] = names;
    this.history.y = names[0];
    this.history.margin = 46;
    this.history.band = 4 + 12 * Math.min(known.contacts.length, 4);
    this.phase.hint = place ? "" : "click a point of the diagram";
    const points = place?.iterates ?? [];
    const marks = (c, plot, some) => {
      c.fillStyle = "#d55e00";
      const radius = some.length > 400 ? 0.9 : some.length > 40 ? 1.6 : 4;
      for (const p of some) { c.beginPath(); c.arc(plot.px(p[position]), plot.py(p[velocity]), radius, 0, 7); c.fill(); }
    };
    const path = motion?.path([position, velocity]);
    const chosen = motion?.events[this.chosen];
    this.phase.layers = [(c, plot) => {
      if (!motion) return;
      for (const stop of motion.stops) if (stop?.state === position) paintStop(c, plot, known, stop, true);
      c.strokeStyle = "#08284a"; c.lineWidth = 1.2;
      polyline(c, plot, path[1], path[2]);
      marks(c, plot, points);
      if (chosen) { c.strokeStyle = "#000"; c.lineWidth = 2; c.beginPath(); c.arc(plot.px(chosen.after[position]), plot.py(chosen.after[velocity]), 6, 0, 7); c.stroke(); }
    }];
    this.poincare.layers = [(c, plot) => marks(c, plot, place?.section ?? points)];
    const history = (c, plot) => {
      if (!motion) return;
      for (const stop of motion.stops) if (stop?.state === position) {
        c.fillStyle = contactColour(known, stop.contact); c.globalAlpha = 0.25;
        for (const [a, b] of motion.closed(stop.contact)) c.fillRect(plot.px(a), plot.inner.top, plot.px(b) - plot.px(a), plot.inner.height);
        c.globalAlpha = 1;
        paintStop(c, plot, known, stop, false);
      }
      c.strokeStyle = "#08284a"; c.lineWidth = 1.4;
      polyline(c, plot, path[0], path[1]);
      if (chosen) { c.strokeStyle = "#000"; c.lineWidth = 1.5; c.setLineDash([3, 3]); c.beginPath(); c.moveTo(plot.px(chosen.time), plot.inner.top); c.lineTo(plot.px(chosen.time), plot.inner.top + plot.inner.height); c.stroke(); }
    };
    history.outside = (c, plot) => {
      if (!motion) return;
      const { left, top, width, height } = plot.inner;
      const within = (p) => Math.min(Math.max(p, left), left + width);
      known.contacts.slice(0, 4).forEach((contact, k) => {
        const y = top + height + 3 + 12 * k;
        c.fillStyle = contactColour(known, k);
        for (const [a, b] of motion.closed(k)) c.fillRect(within(plot.px(a)), y + 2, within(plot.px(b)) - within(plot.px(a)), 7);
        for (const event of motion.events) {
          const p = plot.px(event.time);
          if (event.contact !== k || !impactKinds.has(event.kind) || p < left || p > left + width) continue;
          c.fillRect(p - 0.75, y, 1.5, 11);
        }
        c.fillStyle = "#1a1a1a"; c.font = "11px system-ui, sans-serif"; c.textAlign = "right"; c.textBaseline = "middle";
        c.fillText(/^\d+$/.test(contact.name) ? `contact ${contact.name}` : contact.name, left - 4, y + 6);
      });
    };
    this.history.layers = [history];
    this.multipliers.layers = [(c, plot) => {
      c.strokeStyle = "#5c6670"; c.lineWidth = 1.2;
      c.beginPath(); c.arc(plot.px(0), plot.py(0), plot.px(1) - plot.px(0), 0, 7); c.stroke();
      for (const m of place?.multipliers ?? []) {
        c.fillStyle = Math.hypot(m.re, m.im) > 1 ? "#d55e00" : "#08457e";
        c.beginPath(); c.arc(plot.px(m.re), plot.py(m.im), 4, 0, 7); c.fill();
      }
    }];
    for (const plot of [this.phase, this.history, this.poincare, this.multipliers]) plot.draw();
  }
  #facts() {
    const rows = [...(this.place?.facts ?? [])];
    for (const m of this.place?.multipliers ?? [])
      if (m.im >= 0) rows.push(["multiplier", m.im ? `${text(m.re, 4)} ± ${text(m.im, 4)} i, size ${text(Math.hypot(m.re, m.im), 4)}` : text(m.re, 5)]);
    if (this.motion && this.motion.outcome !== "ok") rows.unshift(["motion", this.motion.outcome?.replace(/_/g, " ") ?? ""]);
    const table = document.createElement("table");
    for (const [name, value] of rows) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = value;
    }
    this.facts.replaceChildren(table);
  }
  #events() {
    const most = 500;
    const events = this.motion?.events ?? [];
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of ["event", "contact", "time", "speed"]) head.append(Object.assign(document.createElement("th"), { textContent: name }));
    const body = table.createTBody();
    events.slice(0, most).forEach((event, k) => {
      const row = body.insertRow();
      const mark = document.createElement("span");
      mark.className = "mark";
      mark.style.background = event.contact >= 0 ? contactColour(this.known, event.contact) : "transparent";
      row.insertCell().append(mark, event.kind.replace(/_/g, " "));
      row.insertCell().textContent = event.contact >= 0 ? this.known.contacts[event.contact]?.name ?? event.contact : "";
      row.insertCell().textContent = text(event.time, 7);
      row.insertCell().textContent = text(event.speed, 5);
      row.addEventListener("click", () => {
        this.chosen = this.chosen === k ? -1 : k;
        body.querySelectorAll("tr").forEach((tr, i) => tr.classList.toggle("chosen", i === this.chosen));
        this.draw();
      });
    });
    if (events.length > most) body.insertRow().insertCell().textContent = `… ${events.length - most} more`;
    this.table.replaceChildren(events.length || !this.motion ? table : document.createTextNode("no events"));
  }
}
