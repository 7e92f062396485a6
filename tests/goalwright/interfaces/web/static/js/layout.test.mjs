import assert from "node:assert/strict";
import { test } from "node:test";
import { compose, inOrder, parentOf } from "../../../../../../goalwright/interfaces/web/static/graph/compose.js";
import { layout } from "../../../../../../goalwright/interfaces/web/static/graph/layout.js";
import { layered, plan40 } from "./plans.mjs";

const boxes = (tasks) => tasks.map((task) => ({ id: task.id, deps: task.depends_on, w: 180, h: 52 }));

test("a task is placed after its dependencies", () => {
  const tasks = plan40();
  const { cards } = compose(tasks, new Set());
  const at = new Map(cards.map((card) => [card.id, card]));
  for (const task of tasks) for (const need of task.depends_on) assert.ok(at.get(need).x + 180 < at.get(task.id).x);
});

test("no two cards overlap", () => {
  for (const tasks of [plan40(), layered(8, 12, 3)]) {
    const { cards } = compose(tasks, new Set());
    for (const a of cards) for (const b of cards) {
      if (a === b) continue;
      assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, `${a.id} and ${b.id}`);
    }
  }
});

test("a plan of 40 tasks has few crossings", () => {
  assert.ok(layout(boxes(plan40())).crossings <= 50);
});

test("layers move apart until the drawing has the shape of the pane", () => {
  const narrow = layout(boxes(layered(5, 40, 2)));
  const wide = layout(boxes(layered(5, 40, 2)), { shape: 2 });
  assert.ok(narrow.width / narrow.height < 1);
  assert.ok(wide.width / wide.height > 1.5);
  assert.equal(wide.height, narrow.height);
});

test("cycles, unknown and duplicate dependencies are drawn as far as possible", () => {
  const { nodes, edges } = layout(boxes([{ id: "a", depends_on: ["b"] }, { id: "b", depends_on: ["a", "a", "nowhere"] }]));
  assert.equal(nodes.length, 2);
  assert.equal(edges.length, 1);
  assert.deepEqual(compose([], new Set()).cards, []);
});

test("parts are folded into their task, or shown in its frame when it is open", () => {
  const tasks = [
    { id: "list", depends_on: [] }, { id: "review", depends_on: ["list"] }, { id: "end", depends_on: ["review"] },
    ...[1, 2, 3, 4, 5, 6, 7].map((number) => ({ id: `review[${number}]`, depends_on: ["list"] })),
  ];
  const folded = compose(tasks, new Set());
  assert.deepEqual(folded.cards.map((card) => [card.id, card.parts]), [["list", 0], ["review", 7], ["end", 0]]);
  const opened = compose(tasks, new Set(["review"]));
  assert.equal(opened.cards.length, 10);
  const [frame] = opened.frames;
  for (const card of opened.cards.filter((one) => one.id.startsWith("review"))) {
    assert.ok(card.x >= frame.x && card.y >= frame.y && card.x + card.w <= frame.x + frame.w && card.y + card.h <= frame.y + frame.h, card.id);
  }
  for (const id of ["list", "end"]) {
    const card = opened.cards.find((one) => one.id === id);
    assert.ok(card.x + card.w <= frame.x || card.x >= frame.x + frame.w, `${id} is outside`);
  }
});

test("sub-goals nest, with the edges between their own tasks", () => {
  const tasks = [{ id: "research", depends_on: [] }, { id: "research/a", depends_on: [] }, { id: "research/b", depends_on: ["research/a"] }, { id: "research/b/c", depends_on: [] }];
  const { cards, frames, lines } = compose(tasks, new Set(["research", "research/b"]));
  assert.equal(cards.length, 4);
  assert.equal(frames.length, 2);
  assert.deepEqual(lines.map((line) => [line.from, line.to]), [["research/a", "research/b"]]);
});

test("parts follow their task, items by number", () => {
  const ids = ["a", "b", "a[10]", "a[2]", "b/x", "a[2]/y", "c[1]", "b/w"];
  assert.deepEqual(inOrder(ids), ["a", "a[2]", "a[2]/y", "a[10]", "b", "b/x", "b/w", "c[1]"]);
});

test("rounds follow the parts of the first round, by number", () => {
  assert.deepEqual(inOrder(["a", "b", "a#10", "a#2", "a/x", "a#2/x", "b[1]", "b[1]#2"]), ["a", "a/x", "a#2", "a#2/x", "a#10", "b", "b[1]", "b[1]#2"]);
  assert.deepEqual(["a#2", "a[1]#3", "a#2/b", "a#2/b[1]", "a#0", "#2"].map(parentOf), ["a", "a[1]", "a#2", "a#2/b", null, null]);
});

test("the parent of a part is its task", () => {
  assert.deepEqual(["a", "a[1]", "a/b", "a/b[2]", "a[0]", "a[1]/b", "a/büro"].map(parentOf), [null, "a", "a", "a/b", null, "a[1]", "a"]);
});
