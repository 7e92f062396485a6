// Aligns two runs by the server's differences: the run as a whole, then task by task. Pure.

/**
 * @typedef {{ where: string, what: string, a: any, b: any }} Difference
 * @typedef {{ id: string, title: string, kind: "same" | "changed" | "added" | "dropped", other: string, texts: Difference[], plan: Difference | null, values: Difference[] }} Aligned
 */

/** Measurements of a run; a task that differs only in them is not changed. */
const MEASURES = new Set(["seconds", "tokens", "cost_usd", "calls", "attempts"]);

/** A task that was done in one run and reused in the other has the same result. @param {Difference} one */
const isReuse = (one) => one.what === "status" && [one.a, one.b].every((status) => status === "done" || status === "reused");

/** @param {Difference} one */
export const isText = (one) => one.what.startsWith("output") || one.what.startsWith("line");

/** The differences of the runs as a whole. @param {Difference[]} all */
export const ofRuns = (all) => all.filter((one) => one.where === "run" || one.where === "selection" || one.where === "answer");

/**
 * The tasks of both runs: those of the first in order, then those that only the second has.
 * @param {Difference[]} all @param {ReadonlyMap<string, { id: string, title: string }>} a @param {ReadonlyMap<string, { id: string, title: string }>} b
 * @returns {Aligned[]}
 */
export function aligned(all, a, b) {
  /** @type {Map<string, Difference[]>} */
  const found = new Map();
  for (const one of all) if (!ofRuns([one]).length) found.set(one.where, [...(found.get(one.where) ?? []), one]);
  const renamed = new Set(all.filter((one) => one.what === "renamed").map((one) => one.b));
  const rows = [...a.values()].map((span) => row(span, found.get(span.id) ?? [], a, b));
  const fresh = [...b.values()].filter((span) => !a.has(span.id) && !renamed.has(span.id)).map((span) => row(span, found.get(span.id) ?? [], a, b));
  return [...rows, ...fresh];
}

/** @param {{ id: string, title: string }} span @param {Difference[]} differences @param {ReadonlyMap<string, any>} a @param {ReadonlyMap<string, any>} b @returns {Aligned} */
function row(span, differences, a, b) {
  const only = differences.find((one) => one.what === "task");
  const other = differences.find((one) => one.what === "renamed")?.b ?? span.id;
  const texts = differences.filter(isText);
  const plan = differences.find((one) => one.what === "plan") ?? null;
  const values = differences.filter((one) => !isText(one) && !["task", "plan", "renamed"].includes(one.what) && !isReuse(one));
  const changed = texts.length > 0 || plan !== null || values.some((one) => !MEASURES.has(one.what));
  const kind = only ? (only.a ? "dropped" : "added") : !a.has(span.id) && b.has(span.id) ? "added" : changed ? "changed" : "same";
  return { id: span.id, title: span.title, kind, other, texts, plan, values };
}

/** The number of tasks of each kind. @param {Aligned[]} rows */
export const countKinds = (rows) => rows.reduce((counts, one) => ({ ...counts, [one.kind]: counts[one.kind] + 1 }), { same: 0, changed: 0, added: 0, dropped: 0 });
