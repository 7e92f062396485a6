// Applies events to the steps of a run. Pure.
import { inOrder, parentOf, roundOf } from "../graph/compose.js";
import { itemName } from "./names.js";

/**
 * @typedef {object} Span
 * @property {string} id @property {string} kind @property {string | null} name @property {string} title @property {string} status
 * @property {string[]} depends_on @property {number | null} start @property {number | null} end @property {number} attempts
 * @property {number} calls @property {number} tokens @property {number | null} cost_usd @property {number} estimated_calls @property {Record<string, number>} tools
 * @property {string | null} waited_for @property {string | null} why @property {string | null} error @property {number[]} retries
 * @property {{ start: number, end: number | null, status: string }[]} tries the attempts @property {string | null} item the value of an item of a list
 * @property {string | null} replaced_by the task that replaced it
 * @typedef {import("./fold.js").State} State
 * @typedef {Record<string, any>} Row
 */

/** @param {Partial<Span> & { id: string, kind: string }} given @returns {Span} */
export const make = (given) => ({
  name: null, title: "", status: "pending", depends_on: [], start: null, end: null, attempts: 0, calls: 0, tokens: 0,
  cost_usd: 0, estimated_calls: 0, tools: {}, waited_for: null, why: null, error: null, retries: [], tries: [], item: null, replaced_by: null, ...given,
});

/** The duration of a step's last attempt, until now if it is running. @param {Span} span @param {number} now */
export const took = (span, now) => (span.start === null ? null : (span.end ?? (span.status === "running" ? now : span.tries.at(-1)?.end ?? span.start)) - span.start);

/** End the open attempt, if any. @param {Span} span @param {number} at @param {string} status */
export function close(span, at, status) {
  const last = span.tries.at(-1);
  if (last && last.end === null) span.tries = [...span.tries.slice(0, -1), { ...last, end: at, status }];
}

/** @param {State} state @param {Row[]} tasks */
function add(state, tasks) {
  const reasons = new Map(state.selected.map((one) => [one.name, `${one.score.toFixed(2)}: ${one.reason}`]));
  for (const task of tasks) {
    if (state.spans.get(task.id)?.start != null) continue; // it started while the plan was streamed
    const { id, action_type: kind, name = null, title = "", depends_on = [], item = null } = task;
    state.spans.set(id, make({ id, kind, name, title, depends_on, why: reasons.get(name ?? "") ?? null, item: roundOf(id) ? `round ${roundOf(id)}` : item && itemName(item.value) }));
  }
  return tasks.map((task) => task.id);
}

/** Sort the steps in the order of the plan, as on the server. @param {State} state @param {string[]} [ids] */
function order(state, ids = [...state.spans.keys()]) {
  const spans = inOrder(ids).map((id) => /** @type {Span} */ (state.spans.get(id)));
  for (const span of spans) state.spans.delete(span.id);
  for (const span of spans) state.spans.set(span.id, span);
}

/** @param {State} state @param {Row} row */
export function noteTasks(state, row) {
  const ids = add(state, row.plan.tasks);
  order(state, ids);
  if ([...state.spans.keys()].some((id) => parentOf(id) !== null)) order(state); // items that were added while the plan was streamed
  if (row.attempts === 0) state.spans.delete("(plan)");
  return ids;
}

/** @param {State} state @param {Row} row @param {number} at */
export function noteChange(state, row, at) {
  const { cause, added = [], dropped = [], rewired = {}, note = "" } = row;
  for (const id of dropped) drop(state, id, at);
  const ids = add(state, added);
  if (ids.some((id) => parentOf(id) !== null)) order(state);
  for (const [old, taken] of Object.entries(rewired)) {
    const span = state.spans.get(old);
    if (span) span.replaced_by = taken;
  }
  for (const span of Object.keys(rewired).length ? state.spans.values() : []) {
    span.depends_on = [...new Set(span.depends_on.map((one) => rewired[one] ?? one))];
  }
  if (cause === "stream") state.streamed += added.length;
  if (cause === "replan" || cause === "person") {
    state.changes = [...state.changes, { at, cause, added: ids, dropped, rewired, note }];
    state.going.delete("(replan)");
  }
  return [...ids, ...dropped];
}

/** Remove a task from the plan; a started one stays in the timeline. @param {State} state @param {string} id @param {number} at */
function drop(state, id, at) {
  const span = state.spans.get(id);
  if (!span) return;
  state.spans.delete(id);
  close(span, at, "cancelled");
  if (span.tries.length) state.dropped = [...state.dropped, span];
}

/** @param {State} state @param {Row} row @param {number} at */
export function noteTask(state, row, at) {
  const span = state.spans.get(row.task);
  if (!span) return [];
  if (row.type === "task_started") {
    Object.assign(span, { start: at, end: null, status: "running", tries: [...span.tries, { start: at, end: null, status: "running" }] });
    if (!state.waited.delete(span.id)) span.attempts++;
    span.waited_for = lastOf(state, span.depends_on) ?? state.spans.get(parentOf(span.id) ?? "")?.waited_for ?? null;
  } else if (row.type === "task_reused") {
    Object.assign(span, { status: "reused", why: row.source });
  } else {
    const status = span.status === "reused" && row.status === "done" ? "reused" : row.status;
    Object.assign(span, { status, error: row.error ?? null, end: span.start === null ? null : at });
    close(span, at, row.status);
    span.waited_for = lastPart(state, span.id) ?? span.waited_for;
  }
  return [span.id];
}

/** The step that ended last. @param {State} state @param {string[]} ids */
function lastOf(state, ids) {
  let last = null, end = -1;
  for (const id of ids) {
    const span = state.spans.get(id);
    if (span && (span.end ?? 0) > end) [last, end] = [id, span.end ?? 0];
  }
  return last;
}

/** The part of a task that ended last; null if it has none. @param {State} state @param {string} id */
function lastPart(state, id) {
  let last = null, end = -1;
  for (const span of state.spans.values()) {
    if (span.end !== null && span.end >= end && parentOf(span.id) === id) [last, end] = [span.id, span.end];
  }
  return last;
}

const STEPS = /** @type {Record<string, string>} */ ({ decomposer: "(plan)", replanner: "(replan)" });

/** @param {State} state @param {Row} row @param {number} at */
export function noteCall(state, row, at) {
  const id = row.task ?? STEPS[row.role] ?? `(${row.role})`;
  let span = state.spans.get(id);
  if (!span) state.spans.set(id, (span = make({ id, kind: row.role })));
  if (row.type === "call_started") {
    if (!row.task && span.status === "pending") span.status = "running";
    state.phase = row.role;
    return [id];
  }
  if (row.type === "call_broken") {
    spend(state, span, { usage: row.usage, cost: row.cost });
    return [id];
  }
  if (row.type === "call_retried") {
    span.attempts++;
    span.retries = [...span.retries, at];
    return [id];
  }
  if (!row.task) {
    const start = Math.max(0, at - row.seconds);
    const status = row.type === "call_finished" ? "done" : "failed";
    Object.assign(span, { start: state.going.has(id) ? (span.start ?? start) : start, end: at, status, tries: [...span.tries, { start, end: at, status }] });
    state.going.add(id);
    span.attempts++;
  }
  if (row.type === "call_finished") spend(state, span, row.reply ?? {});
  return [id];
}

/** @param {State} state @param {Span} span @param {Row} reply */
function spend(state, span, reply) {
  const usage = reply.usage ?? {};
  const cost = reply.cost ?? null;
  span.calls++;
  span.tokens += (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
  span.cost_usd = span.cost_usd === null || cost === null ? null : span.cost_usd + cost;
  span.estimated_calls += usage.estimated_calls ?? 0;
  const { calls, prompt_tokens, completion_tokens, cached_tokens, estimated_calls } = state.usage;
  state.usage = {
    calls: calls + (usage.calls ?? 1),
    prompt_tokens: prompt_tokens + (usage.prompt_tokens ?? 0),
    completion_tokens: completion_tokens + (usage.completion_tokens ?? 0),
    cached_tokens: cached_tokens + (usage.cached_tokens ?? 0),
    estimated_calls: (estimated_calls ?? 0) + (usage.estimated_calls ?? 0),
  };
  state.cost = state.cost === null || cost === null ? null : state.cost + cost;
}

/** Count the plan's tasks by status, with items of lists; rounds count as one task. @param {ReadonlyMap<string, Span>} spans */
export function tally(spans) {
  const tasks = tasksOf(spans).filter((span) => !span.id.includes("#"));
  const those = (/** @type {(span: Span) => boolean} */ is) => tasks.filter(is).length;
  const hasResult = (/** @type {Span} */ span) => span.status === "done" || span.status === "reused";
  return {
    all: tasks.length, done: those(hasResult), failed: those((span) => span.status === "failed" && !span.replaced_by), unneeded: those((span) => span.status === "unneeded"),
    left: those((span) => !hasResult(span) && span.status !== "unneeded" && !span.replaced_by),
  };
}

/** The tasks of the plan: every step that is not planning or synthesis. @param {ReadonlyMap<string, Span>} spans */
export const tasksOf = (spans) => [...spans.values()].filter((span) => !span.id.startsWith("("));

/** Mark the planning call as failed: its plan was rejected. @param {State} state @param {string} id */
export function refuse(state, id) {
  const span = state.spans.get(id);
  if (span?.tries.length) Object.assign(span, { status: "failed", tries: span.tries.map((one, at) => (at === span.tries.length - 1 ? { ...one, status: "failed" } : one)) });
  return [id];
}

/** Mark planning as done, despite earlier rejections. @param {State} state */
export function planned(state) {
  const plan = state.spans.get("(plan)");
  if (plan?.status === "failed") plan.status = "done";
}
