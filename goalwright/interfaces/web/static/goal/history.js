// Undo and redo of a text. Pure: each change returns a new history.

/** @typedef {{ past: string[], now: string, future: string[], at: number }} History */

const MOST = 200;
const TOGETHER = 700;

/** @param {string} text @returns {History} */
export const begin = (text) => ({ past: [], now: text, future: [], at: 0 });

/** The history after a change; rapid typing counts as one change. @param {History} history @param {string} text @param {number} at in milliseconds @param {boolean} [apart] */
export function changed(history, text, at, apart = false) {
  if (text === history.now) return history;
  const joins = !apart && at - history.at < TOGETHER && history.past.length > 0;
  const past = joins ? history.past : [...history.past, history.now].slice(-MOST);
  return { past, now: text, future: [], at: apart ? 0 : at };
}

/** @param {History} history */
export const undone = (history) => (history.past.length ? { past: history.past.slice(0, -1), now: history.past[history.past.length - 1], future: [history.now, ...history.future], at: 0 } : history);

/** @param {History} history */
export const redone = (history) => (history.future.length ? { past: [...history.past, history.now], now: history.future[0], future: history.future.slice(1), at: 0 } : history);
