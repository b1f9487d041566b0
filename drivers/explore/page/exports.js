// What can be taken away from the page.
import { toml } from "graze/data";

/** The text of a case file: the tables of the case with settings "key=TOML" in place of its own. */
export function caseText(known, settings, title) {
  const sections = structuredClone(known.sections);
  for (const setting of settings) {
    const equals = setting.indexOf("=");
    const key = setting.slice(0, equals), value = setting.slice(equals + 1);
    const dot = key.indexOf(".");
    if (dot < 0) sections[key] = { whole: value };
    else if (sections[key.slice(0, dot)]?.whole === undefined) (sections[key.slice(0, dot)] ??= {})[key.slice(dot + 1)] = value;
  }
  const lines = ["graze = 1", `title = ${JSON.stringify(title)}`];
  for (const [name, table] of Object.entries(sections)) if (table.whole !== undefined) lines.push(`${name} = ${table.whole}`);
  for (const [name, table] of Object.entries(sections)) {
    if (table.whole !== undefined) continue;
    lines.push("", `[${name}]`);
    for (const [key, value] of Object.entries(table)) lines.push(`${key} = ${value}`);
  }
  return lines.join("\n") + "\n";
}

const quoted = (word) => (/^[\w+=./,:@%-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/** The command that computes the same, from the case file or from one that has been exported. */
export function commandLine(known, settings) {
  const file = known.name.endsWith(".toml") ? known.name : "view.toml";
  const given = known.name.endsWith(".toml") ? settings.flatMap((s) => ["--set", s]) : [];
  const command = ["graze", "run", file, ...given, "-o", "view.h5"].map(quoted).join(" ");
  return known.name.endsWith(".toml") ? command : `# ${file} is the exported case of this view\n${command}`;
}

export function csvText(rows) {
  const cell = (v) => (typeof v === "number" ? (Number.isFinite(v) ? String(v) : "nan") : /[",\n]/.test(v) ? `"${v.replace(/"/g, '""')}"` : v);
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

export function download(name, type, content) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The state of a view in the address, and back. */
export const toFragment = (state) => "#" + encodeURIComponent(JSON.stringify(state));
export function fromFragment(fragment) {
  try {
    const state = JSON.parse(decodeURIComponent(fragment.slice(1)));
    const range = (r) => r === undefined || (Array.isArray(r) && r.length === 2 && r.every(Number.isFinite) && r[0] < r[1]);
    const settings = state.set ?? {};
    if (!range(state.x) || !range(state.y)) return {};
    if (!Object.entries(settings).every(([k, v]) => /^model\.\w+$/.test(k) && Number.isFinite(v))) return {};
    return state;
  } catch { return {}; }
}

export const modelSettings = (set) => Object.entries(set).map(([key, value]) => `${key}=${toml(value)}`);
