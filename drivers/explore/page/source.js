// Where results come from: the server that has sent the page, or the page itself.
import { Frames } from "graze/data";

/** A refusal of the program, in its own words. */
export class Refused extends Error {}

/** Asks the program that has sent the page. */
export class Server {
  live = true;
  #asked = new Map();
  #page = Array.from(crypto.getRandomValues(new Uint8Array(6)), (b) => b.toString(16).padStart(2, "0")).join("");

  async first() {
    const frames = new Frames();
    frames.add(new Uint8Array(await (await fetch("frames")).arrayBuffer()));
    return [frames.next()];
  }

  cancel(lane) { this.#asked.get(lane)?.abort(); }

  /**
   * Has runs of the case done, each a list of settings "key=TOML"; got(frame) is called for each. A later call
   * for the same lane ends this one. Returns false when that has happened. Throws Refused.
   */
  async run(lane, runs, got) {
    this.#asked.get(lane)?.abort();
    const control = new AbortController();
    this.#asked.set(lane, control);
    try {
      const answer = await fetch(`run/${lane}-${this.#page}`, {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ runs }), signal: control.signal,
      });
      if (!answer.ok) {
        if (answer.status === 409) return false;
        throw new Refused((await answer.json()).error);
      }
      const frames = new Frames();
      const reader = answer.body.getReader();
      let count = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        frames.add(value);
        for (let frame = frames.next(); frame; frame = frames.next()) {
          if (frame.header.error) throw new Refused(frame.header.error);
          ++count;
          got(frame);
        }
      }
      if (control.signal.aborted) return false;
      if (count < runs.length) throw new Refused("the computation ended before it was done");
      return true;
    } catch (error) {
      if (control.signal.aborted) return false;
      if (error instanceof TypeError) throw new Refused("the program does not answer; is it still running?");
      throw error;
    } finally {
      if (this.#asked.get(lane) === control) this.#asked.delete(lane);
    }
  }
}

/** A page in one file: the result, and the motions that were put into it. */
export class Inside {
  live = false;
  #motions = new Map();

  async first() {
    const packed = Uint8Array.from(atob(document.getElementById("frames").textContent), (c) => c.charCodeAt(0));
    const whole = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const frames = new Frames();
    frames.add(new Uint8Array(await new Response(whole).arrayBuffer()));
    const first = frames.next();
    for (let frame = frames.next(); frame; frame = frames.next()) this.#motions.set(frame.header.point, frame);
    return [first];
  }
  cancel() {}
  /** The motion of a point; where the page does not hold it, that of the nearest one in the order of points. */
  motion(point) {
    if (this.#motions.has(point)) return { frame: this.#motions.get(point), exact: true };
    let best;
    for (const held of this.#motions.keys()) if (best === undefined || Math.abs(held - point) < Math.abs(best - point)) best = held;
    return best === undefined ? undefined : { frame: this.#motions.get(best), exact: false };
  }
}
