import assert from "node:assert/strict";
import { test } from "node:test";
import { Cutter, definitions, linesOf, pieces } from "../../../../../../goalwright/interfaces/web/static/core/pieces.js";

const words = (count) => "some words of a paragraph ".repeat(count);

test("a short text is one unchanged piece", () => {
  const text = "# Title\n\nA paragraph.\n\n- one\n\n- two\n";
  assert.deepEqual(pieces(text), [{ text }]);
  assert.deepEqual(pieces("").map((piece) => piece.text), [""]);
});

test("a long text is split between blocks without loss", () => {
  const text = Array.from({ length: 50 }, (_, at) => `## Part ${at}\n\n${words(20)}\n`).join("\n");
  const found = pieces(text);
  assert.ok(found.length > 5);
  assert.equal(found.map((piece) => piece.text).join("\n"), text);
  assert.ok(found.slice(1).every((piece) => piece.text.startsWith("## Part")));
});

test("code is not split at blank lines, and very long code is reopened as code", () => {
  const code = `\`\`\`python\n${`x = 1\n\n`.repeat(600)}\`\`\``;
  assert.equal(pieces(code).length, 1);
  const long = pieces(`\`\`\`python\n${"x = 1  # a comment\n\n".repeat(2000)}\`\`\`\n\nAfter it.`);
  assert.ok(long.length > 2);
  for (const { text } of long.slice(0, -1)) assert.match(text.trimEnd(), /^```python\n[\s\S]*\n```$/);
  assert.equal(long.at(-1).text, "After it.");
});

test("a very long table repeats its header, and a list is split only if very long", () => {
  const table = pieces(`| a | b |\n|---|--:|\n${"| one | two |\n".repeat(3000)}`);
  assert.ok(table.length > 2);
  assert.ok(table.every(({ text }) => text.startsWith("| a | b |\n|---|--:|\n| one")));
  const list = pieces(`${"- an item of a list that is not long\n\n".repeat(70)}The end.`);
  assert.equal(list.length, 2);
  assert.equal(list[1].text, "The end.");
});

test("a very long list is split between its top-level items", () => {
  const found = pieces(`- above\n${"    - below it\n".repeat(500)}- the next one\n`.repeat(3));
  assert.ok(found.length > 1);
  assert.ok(found.every(({ text }) => text.startsWith("- ")));
});

test("a growing text keeps its pieces", () => {
  const whole = Array.from({ length: 80 }, (_, at) => `## Part ${at}\n\n- one\n\n- two\n\n\`\`\`py\nx = 1\n\n\`\`\`\n\n| a |\n|---|\n| b |\n`).join("\n");
  const cutter = new Cutter("");
  for (let length = 0; length <= whole.length + 7; length += 7) {
    const before = [...cutter.found];
    cutter.grow(whole.slice(0, length));
    while (cutter.step());
    for (const [at, piece] of before.slice(0, -2).entries()) assert.equal(cutter.found[at], piece);
  }
  assert.deepEqual(cutter.found, pieces(whole));
});

test("an endless line is shown unchanged", () => {
  const found = pieces(`Before\n${"x".repeat(40_000)}\nafter`);
  assert.deepEqual(found.map(({ text, plain = false }) => [text.length, plain]), [[6, false], [16_000, true], [16_000, true], [8_000, true], [5, false]]);
});

test("formulas are code despite Markdown marks in them; amounts of money are not", () => {
  assert.equal(pieces("So\n\n$$\na_1 * b_1 * c\n$$\n\nholds.")[0].text, "So\n\n```math\na_1 * b_1 * c\n```\n\nholds.");
  assert.equal(pieces("$$ x^2 $$")[0].text, "```math\nx^2\n```");
  assert.equal(pieces("\\[\nx\n\\]")[0].text, "```math\nx\n```");
  for (const text of ["It costs $5 or $6.", "$$ is a process id", "```sh\n$$\nx\n$$\n```"]) assert.equal(pieces(text)[0].text, text);
});

test("link definitions at the end apply to all pieces", () => {
  assert.deepEqual({ ...definitions("See [This  Page].\n\n[this page]: https://example.com/x\n[This Page]: https://other") }, { "this page": { href: "https://example.com/x", title: "" } });
});

test("lines are kept whole unless too long", () => {
  const text = "line of text\n".repeat(5000);
  const parts = linesOf(text);
  assert.equal(parts.join(""), text);
  assert.ok(parts.length > 1 && parts.slice(0, -1).every((part) => part.endsWith("\n")));
  assert.equal(linesOf("y".repeat(100_000)).length, 4);
});
