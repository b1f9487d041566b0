// Results out of frames (drivers/explore/frame.hpp): arrays by name over named dimensions.

const types = { i8: Int8Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

/** A result or a part of one. */
export class Dataset {
  constructor(header, buffer, start) {
    this.dimensions = header.dimensions ?? {};
    this.attributes = header.attributes ?? {};
    this.arrays = new Map();
    for (const entry of header.arrays ?? []) {
      const values = new types[entry.type](buffer, start + entry.at, entry.count);
      this.arrays.set(entry.name, { ...entry, values });
    }
    this.groups = Object.fromEntries(
      Object.entries(header.groups ?? {}).map(([name, part]) => [name, new Dataset(part, buffer, start)]));
  }
  has(name) { return this.arrays.has(name); }
  array(name) { return this.arrays.get(name); }
  values(name) { return this.arrays.get(name)?.values; }
  /** Value of one element; classes by name; undefined where there is none. */
  at(name, index) {
    const array = this.arrays.get(name);
    if (!array || index >= array.count) return undefined;
    const value = array.values[index];
    return array.flags ? array.flags[value] : value;
  }
  /** What the indices of a dimension are called. */
  names(dimension) {
    const array = this.arrays.get(dimension);
    const size = this.dimensions[dimension] ?? 0;
    return Array.from({ length: size }, (_, i) => (array ? String(array.flags ? array.flags[array.values[i]] ?? i : array.values[i]) : String(i)));
  }
}

/** Takes bytes as they come and gives {header, data} for every whole frame. */
export class Frames {
  #bytes = new Uint8Array(0);
  add(more) {
    if (this.#bytes.length === 0) {
      this.#bytes = more;
    } else {
      const joined = new Uint8Array(this.#bytes.length + more.length);
      joined.set(this.#bytes);
      joined.set(more, this.#bytes.length);
      this.#bytes = joined;
    }
  }
  next() {
    const bytes = this.#bytes;
    if (bytes.length < 8) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
    const headerSize = view.getUint32(0, true);
    const size = view.getUint32(4, true);
    const whole = 8 + headerSize + size;
    if (bytes.length < whole) return undefined;
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerSize)));
    const values = bytes.slice(8 + headerSize, whole);
    this.#bytes = bytes.subarray(whole);
    return { header, data: new Dataset(header, values.buffer, 0) };
  }
}

/** A number as people read it: so many significant digits, no zeros at the end. */
export function text(x, digits = 6) {
  if (x === undefined || x === null || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const rounded = Number(x.toPrecision(digits));
  const size = Math.abs(rounded);
  const written = size !== 0 && (size < 1e-4 || size >= 1e7) ? rounded.toExponential() : String(rounded);
  return written.replace(/-/g, "−").replace("e+", "e");
}

/** A number in TOML, to be read back as it is. */
export function toml(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  const written = String(x);
  return /[.e]/.test(written) ? written : written + ".0";
}
