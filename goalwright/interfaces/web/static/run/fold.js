// Computes a run's state from its events: for live, past and played-back runs, and equal to `goalwright trace show`.
// Pure: no DOM, and only the clock of the events.
import { close, make, noteCall, noteChange, noteTask, noteTasks, planned, refuse } from "./spans.js";

/**
 * @typedef {import("./spans.js").Span} Span
 * @typedef {{ id: string, task: string | null, kind: string, tool?: string, arguments?: unknown, preview?: string, asked?: string }} Request
 * @typedef {{ cause: string, added: string[], dropped: string[], rewired: Record<string, string>, note: string, at: number }} Change by a model or a person
 * @typedef {object} State
 * @property {string} run_id @property {string} goal @property {string} status @property {string} started
 * @property {string | null} parent @property {string | null} answer @property {string | null} error @property {string | null} question
 * @property {string | null} code why it ended, if not as planned
 * @property {Map<string, Span>} spans @property {Span[]} dropped started steps that a change removed from the plan @property {{ name: string, score: number, reason: string, certain?: boolean }[]} selected
 * @property {string[]} used skills that finished steps had used when the run was read @property {Map<string, string[]>} loaded skills that models loaded since, by step
 * @property {string[]} faults @property {string[]} warnings @property {string[]} repairs @property {Change[]} changes
 * @property {Request[]} waiting @property {{ calls: number, prompt_tokens: number, completion_tokens: number, cached_tokens: number, estimated_calls: number }} usage
 * @property {number | null} cost @property {Record<string, any>} settings @property {Record<string, any>} given
 * @property {number} streamed the number of tasks received while the plan was streamed @property {Set<string>} going steps without a task whose calls belong together
 * @property {number[]} resumes @property {Set<string>} waited tasks that waited for a person, which is not an attempt
 * @property {{ path: string, bytes: number, task: string | null }[]} artifacts files that tools left
 * @property {{ id: string, task: string | null, question: string, answer: string | null }[]} questions questions to a person, with answers
 * @property {string | null} after the run that it follows up
 * @property {number | null} worked the seconds that lists of runs show, once it has ended
 * @property {number} seconds @property {number} clock @property {string} phase
 * @property {number} last_seq @property {number} version counts what changes the shape of the plan
 */

/** Only these move the clock, as on the server. */
const TIMED = new Set([
  "run_started", "run_resumed", "skills_selected", "plan_refused", "plan_made", "plan_changed", "task_started", "task_reused",
  "condition_checked", "result_checked", "task_finished", "call_retried", "call_broken", "call_failed", "call_finished", "tool_called", "approval_asked",
  "approval_given", "skill_shortened", "warned", "run_finished",
]);

/** An empty state. @returns {State} */
export const empty = () => ({
  run_id: "", goal: "", status: "running", started: "", parent: null, after: null, questions: [], answer: null, error: null, question: null, code: null,
  spans: new Map([["(plan)", make({ id: "(plan)", kind: "plan" })]]), dropped: [], streamed: 0, going: new Set(), selected: [], artifacts: [], used: [], loaded: new Map(), faults: [], warnings: [], repairs: [], changes: [], waiting: [],
  usage: { calls: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, estimated_calls: 0 }, cost: 0, settings: {}, given: {},
  resumes: [], waited: new Set(), worked: null, seconds: 0, clock: NaN, phase: "", last_seq: 0, version: 0,
});

/** The state that a document of the server describes. @param {Record<string, any>} document @returns {State} */
export function fromDocument(document) {
  const state = empty();
  const { run_id, goal, status, started, parent, after = null, questions = [], answer, error, question, usage, last_seq, code = null } = document;
  Object.assign(state, { run_id, goal, status, started, parent, after, questions, answer, error, question, usage, last_seq, code });
  state.spans = new Map(document.spans.map((/** @type {Span} */ span) => [span.id, span]));
  state.dropped = document.dropped ?? [];
  state.changes = document.plan_changes ?? [];
  state.streamed = document.plan_streamed ?? 0;
  state.selected = document.selected ?? [];
  state.used = document.skills_used ?? [];
  state.faults = document.plan_faults ?? [];
  state.warnings = document.warnings ?? [];
  state.waiting = document.waiting ?? [];
  state.artifacts = document.artifacts ?? [];
  state.cost = document.cost_usd;
  state.settings = document.settings ?? {};
  state.given = document.given ?? {};
  state.resumes = document.resumes ?? [];
  state.going = new Set(document.spans.filter((/** @type {Span} */ span) => isGoing(state, span)).map((/** @type {Span} */ span) => span.id));
  state.worked = document.worked ?? null;
  state.clock = instant(document.last_at);
  const since = status === "running" ? Math.max(0, instant(document.now) - state.clock) / 1000 : 0; // events of this time may still arrive
  state.seconds = Math.max(0, document.seconds - since);
  askers(state);
  return state;
}

/** Whether the next call of a step without a task continues the earlier calls. @param {State} state @param {Span} span */
const isGoing = ({ resumes, changes }, { id, end }) => id.startsWith("(") && end !== null && end >= (resumes.at(-1) ?? 0) && (id !== "(replan)" || end > (changes.at(-1)?.at ?? -1));

/**
 * Apply one event; returns the ids of the changed steps.
 * @param {State} state @param {Record<string, any>} row @returns {string[]}
 */
export function apply(state, row) {
  if (row.seq && row.seq <= state.last_seq) return [];
  if (row.seq) state.last_seq = row.seq;
  const at = TIMED.has(row.type) ? advance(state, row) : state.seconds;
  switch (row.type) {
    case "run_started": return begin(state, row);
    case "run_resumed": return resume(state, row, at);
    case "skills_selected": if (!row.task) state.selected = row.selections ?? []; return [];
    case "prompt_made": state.phase = row.role; return [];
    case "warned": if (!state.warnings.includes(row.message)) state.warnings = [...state.warnings, row.message]; return [];
    case "plan_refused": state.faults = [...state.faults, ...row.faults.map((/** @type {string} */ fault) => (row.task ? `${row.task}: ${fault}` : fault))]; return row.task ? [] : refuse(state, row.change == null ? "(plan)" : "(replan)");
    case "model_loading": state.phase = "loading"; return [];
    case "condition_checked": return noteCondition(state, row);
    case "plan_made": state.repairs = row.repairs ?? []; state.version++; planned(state); return noteTasks(state, row);
    case "plan_changed": state.version++; return noteChange(state, row, at);
    case "task_started": case "task_reused": case "task_finished": return noteTask(state, row, at);
    case "call_started": case "call_finished": case "call_failed": case "call_broken": case "call_retried": return noteCall(state, row, at);
    case "tool_called": return noteTool(state, row);
    case "approval_asked": return ask(state, row);
    case "approval_given": return answered(state, row);
    case "run_finished": return finish(state, row, at);
    default: return row.task ? [row.task] : [];
  }
}

/** The skills that finished steps used or loaded, without duplicates. @param {State} state @returns {string[]} */
export function skillsUsed(state) {
  const done = [...state.spans.values()].filter((span) => span.status === "done" || span.status === "reused");
  const names = done.flatMap((span) => [...(span.kind === "skill" && span.name ? [span.name] : []), ...(state.loaded.get(span.id) ?? [])]);
  return [...new Set([...state.used, ...names])];
}

/** The seconds to show for a run: the value of lists if events account for the difference. @param {State} state */
export const secondsShown = ({ worked, seconds }) => (worked !== null && Math.abs(worked - seconds) < 0.5 ? worked : seconds);

/** A recorded time in milliseconds, with the microseconds that Date drops: they decide which of two tasks ended last. @param {string} at */
const instant = (at) => Date.parse(at) + Number(/\.\d{3}(\d{3})/.exec(at)?.[1] ?? 0) / 1000;

/** The seconds worked until an event, without pauses before resumes and without jumps back of the clock. @param {State} state @param {Record<string, any>} row */
function advance(state, row) {
  const now = instant(row.at);
  if (!Number.isNaN(state.clock) && row.type !== "run_resumed") state.seconds = Math.round(state.seconds * 1e6 + Math.max(0, now - state.clock) * 1e3) / 1e6;
  state.clock = now;
  return state.seconds;
}

/** @param {State} state @param {Record<string, any>} row */
function begin(state, row) {
  Object.assign(state, { run_id: row.run_id, goal: row.goal, started: row.at, parent: row.parent ?? null, after: row.after?.run_id ?? null, settings: row.settings ?? {} });
  state.given = { asked_skills: row.asked_skills, files: row.files, answers: row.answers, batch: row.batch, batch_goal: row.batch_goal, recipe: row.recipe };
  state.phase = "selecting";
  return [];
}

/** @param {State} state @param {Record<string, any>} row @param {number} at */
function resume(state, row, at) {
  const stopped = [...state.spans.values()].filter((span) => ["running", "interrupted", "waiting"].includes(span.status));
  for (const span of stopped) {
    span.status = "pending";
    close(span, at, "interrupted");
  }
  state.going.clear();
  if (state.status === "waiting") for (const span of stopped) state.waited.add(span.id);
  Object.assign(state, { status: "running", answer: null, error: null, question: null, code: null, settings: row.settings ?? state.settings });
  state.resumes = [...state.resumes, at];
  return stopped.map((span) => span.id);
}

/** @param {State} state @param {Record<string, any>} row */
function noteCondition(state, row) {
  const span = state.spans.get(row.task);
  if (span && !row.holds && !row.round) span.why = row.why ?? null;
  return [row.task];
}

/** @param {State} state @param {Record<string, any>} row */
function noteTool(state, row) {
  const span = row.task ? state.spans.get(row.task) : undefined;
  if (!span) return [];
  span.tools = { ...span.tools, [row.name]: (span.tools[row.name] ?? 0) + 1 };
  const left = Array.isArray(row.envelope?.data?.artifacts) ? row.envelope.data.artifacts.filter((/** @type {any} */ one) => typeof one?.path === "string" && typeof one.bytes === "number") : [];
  if (left.length) state.artifacts = [...state.artifacts.filter((one) => !left.some((/** @type {any} */ file) => file.path === one.path)), ...left.map((/** @type {any} */ { path, bytes }) => ({ path, bytes, task: span.id }))];
  const skill = row.name === "Skill" && row.envelope?.status !== "error" ? row.envelope?.data?.name : null;
  if (typeof skill === "string") state.loaded.set(span.id, [...(state.loaded.get(span.id) ?? []), skill]);
  return [span.id];
}

/** @param {State} state @param {Record<string, any>} row */
function ask(state, row) {
  const request = row.request ?? row;
  if (request.kind === "question" && !state.questions.some((one) => one.id === request.id)) {
    state.questions = [...state.questions, { id: request.id, task: request.task ?? null, question: request.preview ?? "", answer: null }];
    const plan = request.task ? undefined : state.spans.get("(plan)");
    if (plan) plan.attempts = Math.max(0, plan.attempts - 1); // a call that only led to a question is no attempt
  }
  state.waiting = [...state.waiting.filter((one) => one.id !== request.id), request];
  return askers(state);
}

/** @param {State} state @param {Record<string, any>} row */
function answered(state, row) {
  const id = row.call ?? row.id;
  const given = row.text || row.note || row.decision;
  state.questions = state.questions.map((one) => (one.id === id ? { ...one, answer: given } : one));
  const task = state.waiting.find((one) => one.id === id)?.task;
  state.waiting = state.waiting.filter((one) => one.id !== id);
  const span = task ? state.spans.get(task) : undefined;
  if (span?.status === "waiting") span.status = "running";
  return span ? [span.id] : [];
}

/** Mark tasks that wait for a person. @param {State} state @param {string[]} from the states to change */
function askers(state, from = ["running", "interrupted"]) {
  const ids = [];
  for (const { task } of state.waiting) {
    const span = task ? state.spans.get(task) : undefined;
    if (!span || !from.includes(span.status)) continue;
    span.status = "waiting";
    ids.push(span.id);
  }
  return ids;
}

/** @param {State} state @param {Record<string, any>} row @param {number} at */
function finish(state, row, at) {
  const { status, answer = null, error = null, question = null, code = null } = row;
  Object.assign(state, { status, answer, error, question, code, phase: "", worked: (state.worked ?? 0) + (row.seconds ?? 0) });
  const open = [...state.spans.values()].filter((span) => span.status === "running");
  for (const span of open) span.status = "interrupted";
  const asking = askers(state, ["interrupted", "pending"]);
  for (const span of state.spans.values()) close(span, at, span.status);
  return [...open.map((span) => span.id), ...asking];
}
