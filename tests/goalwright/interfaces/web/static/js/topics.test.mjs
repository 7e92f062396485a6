import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, concerns, covers, isEnd, note, union } from "../../../../../../goalwright/interfaces/web/static/core/topics.js";

test("one stream covers all tabs, with each run from the earliest missing event", () => {
  const all = union([{ run: "a", after: 7 }, { run: "b", after: 0 }, { run: "a", after: 3 }, { skills: true }, {}]);
  assert.equal(addressOf(all), "/events?run=a%3A3&run=b%3A0");
  assert.equal(addressOf(union([{ run: "a", after: 7 }])), "/events?run=a%3A7&lists=0&skills=0");
  assert.equal(addressOf(union([{}])), "/events?skills=0");
  assert.equal(addressOf(union([])), null);
});

test("a stream is reopened only if a tab missed an event", () => {
  const open = union([{ run: "a", after: 3 }]);
  note(open, { type: "task_started", id: "5", data: { run_id: "a", seq: 5 } });
  assert.ok(covers(open, union([{ run: "a", after: 5 }])));
  assert.ok(covers(open, union([{ run: "a", after: 9 }])));
  assert.ok(!covers(open, union([{ run: "a", after: 4 }])));
  assert.ok(!covers(open, union([{ run: "b", after: 9 }])));
  assert.ok(!covers(open, union([{}])));
  assert.ok(!covers(union([{}]), union([{ skills: true }])));
  const end = { type: "run_status", id: "", data: { run_id: "a", status: "done", held_by: null } };
  assert.ok(isEnd(end));
  note(open, end);
  assert.ok(!covers(open, union([{ run: "a", after: 5 }])));
});

test("a rest event is requested by the last event, sent once, and delivered to its listeners", () => {
  const all = union([{ rest: "a", after: 9 }, { rest: "a", after: 7 }]);
  assert.equal(addressOf(all), "/events?rest=a%3A7&lists=0&skills=0");
  assert.ok(covers(all, union([{ rest: "a", after: 7 }])));
  assert.ok(!covers(all, union([{ rest: "a", after: 9 }])));
  const word = { type: "rest", id: "", data: { run_id: "a" } };
  assert.deepEqual([{ rest: "a" }, { rest: "b" }, { run: "a" }, {}].map((topic) => concerns(topic, word)), [true, false, false, false]);
  assert.ok(!concerns({ rest: "a" }, { type: "runs", id: "", data: { runs: [], gone: [] } }));
  note(all, word);
  assert.ok(!covers(all, union([{ rest: "a", after: 7 }])));
});

test("an event is delivered only to its topics", () => {
  const row = { type: "task_started", id: "5", data: { run_id: "a", seq: 5 } };
  assert.deepEqual([{ run: "a" }, { run: "b" }, {}, { skills: true }].map((topic) => concerns(topic, row)), [true, false, false, false]);
  const lines = { type: "runs", id: "", data: { runs: [], gone: [] } };
  assert.deepEqual([{ run: "a" }, {}, { skills: true }].map((topic) => concerns(topic, lines)), [false, true, true]);
  assert.deepEqual([{ run: "a" }, {}, { skills: true }].map((topic) => concerns(topic, { type: "skills", id: "", data: {} })), [false, false, true]);
});
