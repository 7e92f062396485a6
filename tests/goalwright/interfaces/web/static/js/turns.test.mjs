import assert from "node:assert/strict";
import { test } from "node:test";
import { blocked, isOpen, joined } from "../../../../../../goalwright/interfaces/web/static/conversations/turns.js";

const turn = (run_id, more = {}) => ({ run_id, status: "done", held_by: null, ...more });
const ids = (turns) => turns.map((one) => one.run_id);

test("newly read turns replace known ones, and earlier ones stay", () => {
  assert.deepEqual(ids(joined([turn("a"), turn("b")], [turn("b"), turn("c")])), ["a", "b", "c"]);
});

test("a turn missing from the response was undone", () => {
  assert.deepEqual(ids(joined([turn("a"), turn("b"), turn("c")], [turn("b"), turn("d")])), ["a", "b", "d"]);
  assert.deepEqual(joined([turn("a")], []), []);
});

test("if all turns are new, known ones are dropped", () => {
  assert.deepEqual(ids(joined([turn("a")], [turn("x"), turn("y")])), ["x", "y"]);
});

test("the next turn waits for the last one and its questions", () => {
  assert.equal(blocked(undefined), "");
  assert.equal(blocked(turn("a")), "");
  assert.equal(blocked(turn("a", { status: "failed" })), "");
  assert.match(blocked(turn("a", { status: "running", held_by: "here" })), /Wait/);
  assert.match(blocked(turn("a", { status: "waiting" })), /Answer/);
  assert.ok(isOpen(turn("a", { status: "done", held_by: "elsewhere" })));
});
