// What the pages beside runs compute without a browser: text differences, alignment of two runs, archives, time left.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { aligned, countKinds } from "../../../../../../goalwright/interfaces/web/static/compare/aligned.js";
import { difference, lineDifference } from "../../../../../../goalwright/interfaces/web/static/core/text_diff.js";
import { crc32, zip } from "../../../../../../goalwright/interfaces/web/static/skills/zip.js";
import { blockDifference, blocksOf } from "../../../../../../goalwright/interfaces/web/static/compare/blocks.js";

const longest = (a, b) => {
  const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  a.forEach((one, x) => b.forEach((other, y) => (table[x + 1][y + 1] = one === other ? table[x][y] + 1 : Math.max(table[x][y + 1], table[x + 1][y]))));
  return table[a.length][b.length];
};

test("a difference is minimal", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const some = () => Array.from({ length: Math.floor(random() * 9) }, () => "abc"[Math.floor(random() * 3)]);
  for (let round = 0; round < 500; round++) {
    const a = some(), b = some();
    const pieces = difference(a, b);
    assert.deepEqual(pieces.filter((one) => one.kind !== "added").map((one) => one.text), a);
    assert.deepEqual(pieces.filter((one) => one.kind !== "dropped").map((one) => one.text), b);
    assert.equal(pieces.filter((one) => one.kind === "same").length, longest(a, b));
  }
});

test("long stretches without a change are left out", () => {
  const lines = Array.from({ length: 100 }, (_, number) => `line ${number}`);
  const shown = lineDifference(lines.join("\n"), lines.with(50, "other").join("\n"));
  assert.deepEqual(shown.filter((one) => one.kind !== "same").map((one) => [one.kind, one.text]), [["cut", "47"], ["dropped", "line 50"], ["added", "other"], ["cut", "46"]]);
  assert.deepEqual(lineDifference("a", "a"), []);
});

test("the search stops for texts without common lines", () => {
  const some = (word) => Array.from({ length: 5000 }, (_, number) => `${word} ${number}`).join("\n");
  assert.equal(lineDifference(some("a"), some("b")).length, 10_000);
});

test("tasks of two runs are aligned; measures alone change none", () => {
  const steps = (...ids) => new Map(ids.map((id) => [id, { id, title: id }]));
  const rows = aligned([
    { where: "run", what: "status", a: "done", b: "failed" },
    { where: "a", what: "seconds", a: 1, b: 2 },
    { where: "b", what: "output: line 1", a: "x", b: "y" },
    { where: "c", what: "task", a: true, b: false },
    { where: "d", what: "task", a: false, b: true },
    { where: "e", what: "renamed", a: "e", b: "f" },
  ], steps("a", "b", "c", "e"), steps("a", "b", "d", "f"));
  assert.deepEqual(rows.map((row) => [row.id, row.kind, row.other]), [["a", "same", "a"], ["b", "changed", "b"], ["c", "dropped", "c"], ["e", "same", "f"], ["d", "added", "d"]]);
  assert.deepEqual(countKinds(rows), { same: 2, changed: 1, added: 1, dropped: 1 });
});

test("a packed folder is a valid zip archive", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  const folder = mkdtempSync(join(tmpdir(), "goalwright-zip-"));
  try {
    const text = new TextEncoder().encode("# Grüße\n");
    writeFileSync(join(folder, "one.zip"), zip([{ path: "notes/SKILL.md", data: text }, { path: "notes/empty.md", data: new Uint8Array() }]));
    const code = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist()); z.extractall(sys.argv[2])";
    const said = execFileSync("python3", ["-c", code, join(folder, "one.zip"), folder], { encoding: "utf8" });
    assert.equal(said.trim(), "None ['notes/SKILL.md', 'notes/empty.md']");
    assert.deepEqual(new Uint8Array(readFileSync(join(folder, "notes", "SKILL.md"))), text);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a done task that is reused has not changed", () => {
  const spans = new Map(["a", "b"].map((id) => [id, { id, title: id }]));
  const rows = aligned([{ where: "a", what: "status", a: "done", b: "reused" }, { where: "b", what: "status", a: "done", b: "failed" }], spans, spans);
  assert.deepEqual(rows.map((row) => row.kind), ["same", "changed"]);
});

test("texts are compared by blocks, and code with blank lines is one", () => {
  const code = "```py\na = 1\n\nb = 2\n```";
  assert.deepEqual(blocksOf(`One.\n\n${code}\n\nTwo.\n`), ["One.", code, "Two."]);
  assert.deepEqual(blockDifference("One.\n\nTwo.\n", "One.\n\nThree.\n"), [{ kind: "same", text: "One." }, { kind: "dropped", text: "Two." }, { kind: "added", text: "Three." }]);
  assert.deepEqual(blockDifference("", "New."), blockDifference("", "New.\n"));
});
