// Formats values for people. Pure: no DOM, no clock.

const GROUPED = new Intl.NumberFormat("en");
const TINY = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });

/** @param {number | null | undefined} value */
export const count = (value) => (value == null ? "–" : GROUPED.format(value));

/** "1 task", "2 tasks". @param {number} value @param {string} word @param {string} [many] */
export const counted = (value, word, many = `${word}s`) => `${count(value)} ${value === 1 ? word : many}`;

/** Seconds with sensible precision: 0.4 s, 31 s, 3 min 20 s, 2 h 5 min. @param {number | null | undefined} value */
export function seconds(value) {
  if (value == null || !Number.isFinite(value)) return "–";
  if (value < 9.95) return `${value.toFixed(1)} s`;
  if (value < 99.5) return `${Math.round(value)} s`;
  const whole = Math.round(value);
  if (whole < 3600) return joined(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

/** @param {number} big @param {string} unit @param {number} small @param {string} part */
const joined = (big, unit, small, part) => (small ? `${big} ${unit} ${small} ${part}` : `${big} ${unit}`);

/** The sign of an estimate, if the usage is estimated. @param {{ estimated_calls?: number } | null | undefined} spent */
export const approx = (spent) => (spent?.estimated_calls ? "≈" : "");

/** Dollars; small amounts keep four decimals, and tiny ones two significant digits. @param {number | null | undefined} value */
export function money(value) {
  if (value == null) return "unknown";
  if (value === 0) return "$0";
  return value < 0.0001 ? `$${TINY.format(value)}` : `$${value.toFixed(value < 1 ? 4 : 2)}`;
}

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (value == null) return "–";
  if (value < 1000) return `${value} B`;
  const power = Math.min(4, Math.floor(Math.log10(value) / 3));
  const size = value / 1000 ** power;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}

/** The age of a time in a word or two. @param {string | null | undefined} at @param {number} now in milliseconds */
export function ago(at, now) {
  const then = at ? Date.parse(at) : NaN;
  if (Number.isNaN(then)) return "–";
  const passed = Math.max(0, (now - then) / 1000);
  if (passed < 45) return "just now";
  if (passed < 3300) return `${Math.max(1, Math.round(passed / 60))} min ago`;
  if (passed < 79200) return `${Math.round(passed / 3600)} h ago`;
  const days = Math.round(passed / 86400);
  return days <= 1 ? "yesterday" : days < 30 ? `${days} days ago` : at?.slice(0, 10) ?? "–";
}

/** A moment in the reader's time zone. @param {string | null | undefined} at */
export const moment = (at) => (at ? new Date(at).toLocaleString() : "–");

/** @param {number | null | undefined} value */
export const score = (value) => (value == null ? "" : value.toFixed(2));

/** The first line of a text, cut. @param {string | null | undefined} text @param {number} [most] */
export function firstLine(text, most = 120) {
  const line = (text ?? "").trimStart().split("\n", 1)[0] ?? "";
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** A value as readable JSON; a string is returned unchanged. @param {unknown} value */
export const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");

/** Round ticks of an axis: about `most` of them between two times. @param {number} end @param {number} [from] @param {number} [most] */
export function ticks(end, from = 0, most = 6) {
  if (!(end > from)) return [from];
  const raw = (end - from) / most;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const fits = [1, 2, 5, 10].map((factor) => factor * magnitude).find((value) => value >= raw) ?? raw;
  const sixty = [15, 30, 60, 120, 300, 600, 900, 1800, 3600].find((value) => value >= raw);
  const step = fits >= 10 && sixty ? sixty : fits;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(end / step + 1e-9) - first + 1 }, (_, index) => (first + index) * step);
}

/** The label of a tick, precise enough to differ from the next one. @param {number} tick @param {number} step */
export const tickText = (tick, step) => (step < 0.95 ? `${tick.toFixed(step < 0.095 ? 2 : 1)} s` : seconds(tick).replace(".0 s", " s"));
