import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, empty, fromDocument, skillsUsed } from "../../../../../../goalwright/interfaces/web/static/run/fold.js";
import { partsOf, progress } from "../../../../../../goalwright/interfaces/web/static/graph/cards.js";
import { fullTitle, itemName } from "../../../../../../goalwright/interfaces/web/static/run/names.js";
import { tally } from "../../../../../../goalwright/interfaces/web/static/run/spans.js";
import { criticalPath, criticalSegments, timeSpent } from "../../../../../../goalwright/interfaces/web/static/run/critical_path.js";

const at = (seconds) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
let seq = 0;
const row = (seconds, type, more = {}) => ({ seq: ++seq, at: at(seconds), type, ...more });
const fold = (rows) => rows.reduce((state, one) => (apply(state, one), state), empty());
const plan = (...tasks) => ({ plan: { tasks }, attempts: 1 });
const task = (id, ...depends_on) => ({ id, action_type: "llm", title: id.toUpperCase(), depends_on });
const started = row(0, "run_started", { run_id: "r", goal: "g", settings: { model: "m" } });
const reply = (cost) => ({ usage: { calls: 1, prompt_tokens: 10, completion_tokens: 5 }, cost, text: "t" });

test("a run is folded from its events: spans, usage, cost and the critical path", () => {
  const state = fold([
    started, row(1, "skills_selected", { selections: [{ name: "s", score: 0.5, reason: "words" }] }),
    row(3, "call_finished", { role: "decomposer", task: null, seconds: 2, reply: reply(0.5) }),
    row(3, "plan_made", plan(task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"))),
    row(4, "task_started", { task: "a" }), row(6, "task_finished", { task: "a", status: "done" }),
    row(6, "task_started", { task: "b" }), row(6, "task_started", { task: "c" }),
    row(7, "call_retried", { role: "task", task: "c", attempt: 1, wait: 1, reason: "429" }),
    row(8, "task_finished", { task: "b", status: "done" }), row(9, "task_finished", { task: "c", status: "done" }),
    row(9, "task_started", { task: "d" }), row(11, "task_finished", { task: "d", status: "failed", error: "no" }),
    row(12, "run_finished", { status: "failed", error: "no" }),
  ]);
  assert.deepEqual(criticalPath(state), ["(plan)", "a", "c", "d"]);
  const c = state.spans.get("c");
  assert.deepEqual([c.start, c.end, c.attempts, c.retries], [6, 9, 2, [7]]);
  assert.deepEqual([state.seconds, state.cost, state.usage.prompt_tokens, state.status], [12, 0.5, 10, "failed"]);
  assert.equal(state.spans.get("d").error, "no");
});

test("the recipe of a run, its values and whether its plan was used are kept", () => {
  const recipe = { name: "weekly-report", values: { team: "<b>design</b>" }, way: "auto", used: false };
  const state = fold([row(0, "run_started", { run_id: "r", goal: "g", settings: {}, recipe })]);
  assert.deepEqual(state.given.recipe, recipe);
});

test("skills are used by finished steps: their own, and those that their models loaded", () => {
  const skill = (id, name) => ({ ...task(id), action_type: "skill", name });
  const loaded = (id, name, status = "success") => row(4, "tool_called", { task: id, name: "Skill", envelope: { status, data: { name } } });
  const rows = [
    started, row(1, "plan_made", plan(skill("a", "one"), skill("b", "two"), task("c"), task("d"))),
    ...["a", "b", "c", "d"].map((id) => row(2, "task_started", { task: id })), loaded("c", "three"), loaded("c", "four", "error"), loaded("d", "five"),
    row(5, "task_finished", { task: "a", status: "done" }), row(5, "task_finished", { task: "b", status: "failed" }), row(5, "task_finished", { task: "c", status: "done" }),
    row(6, "warned", { message: "w" }), row(7, "warned", { message: "w" }),
  ];
  const state = fold(rows);
  assert.deepEqual([skillsUsed(state), state.warnings, state.seconds], [["one", "three"], ["w"], 7]);
  assert.deepEqual(skillsUsed({ ...empty(), used: ["before"] }), ["before"]);
});

test("pauses before a resume do not count, and interrupted tasks wait again", () => {
  const state = fold([
    started, row(1, "plan_made", { plan: { tasks: [task("a")] }, attempts: 0 }), row(2, "task_started", { task: "a" }),
    row(100, "run_resumed", { settings: {} }), row(101, "task_started", { task: "a" }), row(103, "task_finished", { task: "a", status: "done" }),
  ]);
  assert.deepEqual([state.seconds, state.resumes, state.spans.get("a").start], [5, [2], 3]);
});

test("a clock that was set back takes no time away", () => {
  const state = fold([
    started, row(-60, "call_finished", { role: "decomposer", task: null, seconds: 2, reply: reply(0) }), row(-59, "plan_made", plan(task("a"))),
    row(-59, "task_started", { task: "a" }), row(-56, "task_finished", { task: "a", status: "done" }), row(-58, "run_finished", { status: "done" }),
  ]);
  const spans = ["(plan)", "a"].map((id) => state.spans.get(id)).map(({ start, end }) => [start, end]);
  assert.deepEqual([state.seconds, spans], [4, [[0, 0], [1, 4]]]);
});

test("a rejected plan is a failure until a plan is accepted", () => {
  const call = (at) => row(at, "call_finished", { role: "decomposer", task: null, seconds: 1, reply: reply(0) });
  const rows = [started, call(1), row(1, "plan_refused", { attempt: 1, faults: ["no tasks"] }), call(2), row(2, "plan_refused", { attempt: 2, faults: ["no tasks"] })];
  const { status, tries } = fold(rows).spans.get("(plan)");
  assert.deepEqual([status, tries.map((one) => one.status)], ["failed", ["failed", "failed"]]);
  const made = fold([...rows, call(3), row(3, "plan_made", plan(task("a")))]).spans.get("(plan)");
  assert.deepEqual([made.status, made.tries.map((one) => one.status)], ["done", ["failed", "failed", "done"]]);
});

test("a changed plan keeps started tasks, and a relinked task waits for its new dependency", () => {
  const state = fold([
    started, row(1, "plan_made", plan(task("a"), task("b", "a"), task("c", "b"))),
    row(2, "plan_changed", { cause: "replan", of: null, added: [task("b2", "a")], dropped: ["b"], rewired: { b: "b2" }, note: "b cannot work" }),
  ]);
  assert.deepEqual([...state.spans.keys()], ["(plan)", "a", "c", "b2"]);
  assert.deepEqual(state.spans.get("c").depends_on, ["b2"]);
  assert.deepEqual(state.changes, [{ at: 2, cause: "replan", added: ["b2"], dropped: ["b"], rewired: { b: "b2" }, note: "b cannot work" }]);
});

test("a task that asks is shown as asking until it is answered", () => {
  const rows = [started, row(1, "plan_made", plan(task("a"))), row(2, "task_started", { task: "a" }), row(3, "approval_asked", { id: "q1", task: "a", kind: "tool", tool: "Write" })];
  const state = fold(rows);
  assert.deepEqual([state.spans.get("a").status, state.waiting.length], ["waiting", 1]);
  apply(state, row(4, "approval_given", { call: "q1", decision: "allow" }));
  assert.deepEqual([state.spans.get("a").status, state.waiting.length], ["running", 0]);
});

test("unneeded and waiting are states like others, and unknown events change nothing", () => {
  const state = fold([started, row(1, "plan_made", plan(task("a"), task("b", "a")))]);
  const before = JSON.stringify([...state.spans]);
  apply(state, row(2, "of_a_later_version", { anything: [1] }));
  assert.equal(JSON.stringify([...state.spans]), before);
  apply(state, row(3, "task_finished", { task: "b", status: "unneeded" }));
  apply(state, row(4, "run_finished", { status: "waiting" }));
  assert.deepEqual([state.spans.get("b").status, state.status], ["unneeded", "waiting"]);
});

test("an event is applied only once", () => {
  const state = fold([started, row(1, "plan_made", plan(task("a"))), row(2, "task_started", { task: "a" })]);
  apply(state, { seq: state.last_seq, at: at(2), type: "task_started", task: "a" });
  assert.equal(state.spans.get("a").attempts, 1);
});

test("a document continues where it was written", () => {
  const span = { id: "a", kind: "llm", name: null, title: "", status: "running", depends_on: [], start: 1, end: null, attempts: 1, calls: 0, tokens: 0, cost_usd: 0, tools: {}, waited_for: null, why: null, error: null, retries: [], tries: [{ start: 1, end: null, status: "running" }], item: null, replaced_by: null };
  const state = fromDocument({ run_id: "r", goal: "g", status: "running", started: at(0), seconds: 5, now: at(50), last_at: at(47), last_seq: 9, spans: [span], selected: [], usage: { calls: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 }, cost_usd: 0 });
  apply(state, { seq: 10, at: at(52), type: "task_finished", task: "a", status: "done" });
  assert.deepEqual([state.spans.get("a").end, state.spans.get("a").status], [7, "done"]);
  assert.deepEqual(state.spans.get("a").tries, [{ start: 1, end: 7, status: "done" }]);
  const early = fromDocument({ run_id: "r", goal: "g", status: "running", started: at(0), seconds: 5, now: at(50), last_at: at(47), last_seq: 9, spans: [], selected: [], usage: { calls: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 }, cost_usd: 0 });
  for (const [seq, time] of [[10, 49], [11, 52]]) apply(early, { seq, at: at(time), type: "warned", message: "w" });
  assert.equal(early.seconds, 7, "an event that was written before the document, and came after it");
});

test("items added while the plan is streamed stay with their task", () => {
  const state = fold([
    started, row(1, "plan_changed", { cause: "stream", added: [task("each")] }), row(1, "task_started", { task: "each" }),
    row(2, "plan_changed", { cause: "for_each", of: "each", added: [task("each[1]"), task("each[2]")] }),
    row(2, "task_started", { task: "each[1]" }), row(3, "task_finished", { task: "each[1]", status: "done" }),
    row(4, "plan_made", plan(task("first"), task("each"), task("last", "each"))),
  ]);
  const steps = [...state.spans.values()].filter((span) => span.id !== "(plan)");
  assert.deepEqual(steps.map((span) => [span.id, span.status]), [
    ["first", "pending"], ["each", "running"], ["each[1]", "done"], ["each[2]", "pending"], ["last", "pending"],
  ]);
});

test("a task still waits after a refused change of the plan, and waiting is no attempt", () => {
  const state = fold([
    started, row(1, "plan_made", plan(task("a"))), row(2, "task_started", { task: "a" }),
    row(2, "approval_asked", { id: "x#1", task: "a", kind: "task" }), row(3, "run_finished", { status: "waiting" }),
    row(9, "run_resumed", { settings: {} }), row(10, "run_finished", { status: "waiting", error: "the plan was not changed" }),
  ]);
  assert.deepEqual([state.spans.get("a").status, state.spans.get("a").attempts, state.waiting.length], ["waiting", 1, 1]);
  for (const one of [row(20, "run_resumed", { settings: {} }), row(20, "approval_given", { call: "x#1" }), row(21, "task_started", { task: "a" })]) apply(state, one);
  assert.deepEqual([state.spans.get("a").status, state.spans.get("a").attempts], ["running", 1]);
});

const ofTries = (state, id) => state.spans.get(id).tries.map(({ start, end, status }) => [start, end, status]);

test("every attempt keeps its time across a stop, a failure and a change of the plan", () => {
  const state = fold([
    started, row(1, "call_finished", { role: "decomposer", task: null, seconds: 1, reply: reply(0) }), row(1, "plan_made", plan(task("a"), task("b", "a"))),
    row(2, "task_started", { task: "a" }), row(4, "run_finished", { status: "interrupted", code: "STOPPED_BY_USER" }),
    row(50, "run_resumed", { settings: {} }), row(51, "task_started", { task: "a" }), row(53, "task_finished", { task: "a", status: "done" }),
    row(53, "task_started", { task: "b" }), row(55, "task_finished", { task: "b", status: "failed", error: "no" }),
    row(57, "call_finished", { role: "replanner", task: null, seconds: 2, reply: reply(0) }),
    row(57, "plan_changed", { cause: "replan", added: [task("c", "a")], dropped: [], rewired: { b: "c" }, note: "b cannot work" }),
    row(58, "task_started", { task: "c" }), row(60, "task_finished", { task: "c", status: "done" }), row(61, "run_finished", { status: "done" }),
  ]);
  assert.deepEqual(ofTries(state, "a"), [[2, 4, "interrupted"], [5, 7, "done"]]);
  assert.deepEqual(ofTries(state, "b"), [[7, 9, "failed"]]);
  assert.equal(state.spans.get("b").replaced_by, "c");
  assert.deepEqual(criticalSegments(state).map(({ step, start, end }) => [step, start, end]), [
    ["(plan)", 0, 1], [null, 1, 2], ["a", 2, 4], [null, 4, 5], ["a", 5, 7], ["b", 7, 9], ["(replan)", 9, 11], [null, 11, 12], ["c", 12, 14], [null, 14, 15],
  ]);
  assert.equal(timeSpent(state).reduce((sum, one) => sum + one.seconds, 0), state.seconds);
  assert.deepEqual(tally(state.spans), { all: 3, done: 2, failed: 0, unneeded: 0, left: 0 });
});

test("an attempt of zero length continues the critical path", () => {
  const state = fold([
    started, row(1, "call_finished", { role: "decomposer", task: null, seconds: 1, reply: reply(0) }), row(1, "plan_made", plan(task("a"), task("b", "a"))),
    row(1, "task_started", { task: "a" }), row(3, "task_finished", { task: "a", status: "done" }), row(4, "task_started", { task: "b" }),
    row(50, "run_resumed", { settings: {} }), row(51, "task_started", { task: "b" }), row(53, "task_finished", { task: "b", status: "done" }), row(53, "run_finished", { status: "done" }),
  ]);
  assert.deepEqual(criticalSegments(state).map(({ step, start, end }) => [step, start, end]), [
    ["(plan)", 0, 1], ["a", 1, 3], [null, 3, 4], ["b", 4, 4], [null, 4, 5], ["b", 5, 7],
  ]);
  assert.deepEqual(criticalPath(state), ["(plan)", "a", "b"]);
});

test("a fanned-out task takes the time of its last item", () => {
  const state = fold([
    started, row(1, "plan_made", { plan: { tasks: [task("each")] }, attempts: 0 }), row(1, "task_started", { task: "each" }),
    row(1, "plan_changed", { cause: "for_each", of: "each", added: [{ ...task("each[1]"), item: { value: "Insurers" } }, { ...task("each[2]"), item: { value: { name: "Banks" } } }] }),
    row(2, "task_started", { task: "each[1]" }), row(2, "task_started", { task: "each[2]" }), row(4, "task_finished", { task: "each[1]", status: "done" }),
    row(8, "task_finished", { task: "each[2]", status: "failed" }), row(9, "task_finished", { task: "each", status: "done" }), row(9, "run_finished", { status: "done" }),
  ]);
  assert.deepEqual(criticalSegments(state).map(({ step, start, end }) => [step, start, end]), [[null, 0, 2], ["each[2]", 2, 8], ["each", 8, 9]]);
  assert.deepEqual([...state.spans.values()].map((span) => fullTitle(span, state.spans)), ["EACH", "EACH › Insurers", "EACH › Banks"]);
  assert.equal(progress(partsOf(state.spans, "each")), "1 failed · 1 of 2");
  assert.deepEqual([state.changes, state.streamed], [[], 0]);
});

test("an item is named by its text, its name, or its JSON", () => {
  assert.deepEqual([itemName(" two\n words "), itemName({ id: 3, title: "A title" }), itemName([1, "b"]), itemName(null), itemName("x".repeat(80)).length], ["two words", "A title", '[1,"b"]', "null", 60]);
});

test("a started task that was dropped stays in the timeline", () => {
  const state = fold([
    started, row(1, "plan_changed", { cause: "stream", added: [task("early"), task("never")] }), row(1, "task_started", { task: "early" }),
    row(3, "plan_changed", { cause: "stream", added: [], dropped: ["early", "never"] }), row(3, "plan_made", plan(task("other"))),
  ]);
  assert.deepEqual(state.dropped.map((span) => [span.id, span.tries]), [["early", [{ start: 1, end: 3, status: "cancelled" }]]]);
  assert.deepEqual([...state.spans.keys()], ["(plan)", "other"]);
});

test("the critical path of steps of about the same time goes back in time only", () => {
  const step = (id, start, end, ...needs) => [id, { id, depends_on: needs, tries: [{ start, end }] }];
  const spans = new Map([step("a", 4.003, 4.004), step("b", 4.003, 4.003, "a"), step("c", 4.001, 4.002, "b"), step("d", 4, 5, "c")]);
  const found = criticalSegments({ spans, dropped: [], resumes: [], seconds: 5 });
  assert.deepEqual(found.flatMap(({ step }) => step ?? []), ["a", "b", "c", "d"]);
  assert.ok(found.every((one, at) => one.start <= one.end && (!at || found[at - 1].end === one.start)));
});
