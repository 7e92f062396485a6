import assert from "node:assert/strict";
import { test } from "node:test";
import { colored } from "../../../../../../goalwright/interfaces/web/static/core/code.js";
import { asText, kindOf, pixelsOf } from "../../../../../../goalwright/interfaces/web/static/core/file_kinds.js";
import { csvTable, isNumeric, jsonTable, MOST_ROWS } from "../../../../../../goalwright/interfaces/web/static/core/tables.js";
import { named } from "../../../../../../goalwright/interfaces/web/static/run/preview.js";

const bytes = (text) => new TextEncoder().encode(text);
const png = (width, height) => new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, ...[width, height].flatMap((one) => [one >>> 24, (one >>> 16) & 255, (one >>> 8) & 255, one & 255])]);

test("the type of a file is read from its bytes, not its name", () => {
  assert.deepEqual(kindOf("chart.txt", png(3, 2)), { kind: "image", type: "image/png", pixels: 6 });
  assert.equal(kindOf("chart.png", bytes("<html><script>alert(1)</script>")).kind, "text");
  assert.equal(kindOf("page.svg", bytes("<html><svg></svg></html>")).kind, "text");
  assert.deepEqual(kindOf("a.svg", bytes('<?xml version="1.0"?>\n<!-- x -->\n<svg onload="alert(1)"/>')), { kind: "image", type: "image/svg+xml" });
  assert.equal(kindOf("a.png", bytes("<svg></svg>")).kind, "text");
  assert.equal(kindOf("report.html", bytes("%PDF-1.7\n")).kind, "pdf");
  assert.equal(kindOf("a.pdf", bytes("<html>")).kind, "text");
  assert.equal(kindOf("a.csv", new Uint8Array([1, 0, 2])).kind, "other");
  assert.equal(kindOf("a.md", bytes("# Title")).kind, "markdown");
});

test("the size of a picture is read from its header", () => {
  assert.equal(kindOf("bomb.png", png(100_000, 100_000)).pixels, 1e10);
  assert.equal(pixelsOf("image/gif", bytes("GIF89a\x05\0\x04\0")), 20);
  assert.equal(pixelsOf("image/jpeg", new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 7, 0, 9, 3, 0, 0])), 63);
  assert.equal(pixelsOf("image/jpeg", new Uint8Array([0xff, 0xd8, 0xff])), 0);
});

test("a text cut inside a character is still a text", () => {
  assert.equal(asText(bytes("ü").slice(0, 1)), "");
  assert.equal(asText(new Uint8Array([0xff, 0xfe, 0xfd])), null);
});

test("CSV is parsed with quotes and the detected separator, and formulas stay text", () => {
  assert.deepEqual(csvTable('a;b\n"x;1";"say ""hi"""\r\n=1+1;2\n'), { head: ["a", "b"], rows: [["x;1", 'say "hi"'], ["=1+1", "2"]], more: false });
  const long = csvTable(`n\n${Array.from({ length: 10_000 }, (_, index) => index).join("\n")}`);
  assert.deepEqual([long.rows.length, long.more], [MOST_ROWS, true]);
  assert.deepEqual(csvTable(""), { head: [], rows: [], more: false });
  assert.ok(isNumeric([["1,000.5"], [""], ["-3 %"]], 0));
  assert.ok(!isNumeric([["=1+1"]], 0));
});

test("a list of objects is a table, and nothing else is", () => {
  assert.deepEqual(jsonTable('[{"a": 1}, {"b": [2], "a": null}]'), { head: ["a", "b"], rows: [["1", ""], ["", "[2]"]], more: false });
  assert.deepEqual(jsonTable('{"a": 1}\n{"a": 2}')?.rows, [["1"], ["2"]]);
  for (const text of ["[1, 2]", '{"a": 1}', "# Title", "", "[{]"]) assert.equal(jsonTable(text), null, text);
});

test("code is highlighted without losing characters", () => {
  const python = 'def f(x):  # why\n    return "a\\"b" + 12';
  assert.deepEqual(colored(python, "python").filter(([kind]) => kind), [["keyword", "def"], ["comment", "# why"], ["keyword", "return"], ["string", '"a\\"b"'], ["number", "12"]]);
  for (const language of ["python", "js", "sql", "json", "html", "", "mermaid"]) assert.equal(colored(python, language).map(([, piece]) => piece).join(""), python);
  const began = performance.now();
  colored("'\\'".repeat(3_000), "js");
  assert.ok(performance.now() - began < 2_000);
});

test("a picture in a text is a file of the run, never a remote address", () => {
  const made = [{ path: "chart.png", bytes: 1 }, { path: "deep/a b.png", bytes: 1 }];
  assert.equal(named(made, "./chart.png"), made[0]);
  assert.equal(named(made, "/w/.agents/runs/r/artifacts/chart.png"), made[0]);
  assert.equal(named(made, "deep/a%20b.png"), made[1]);
  for (const href of ["https://x/chart.png", "//x/chart.png", "javascript:chart.png", "other.png", "%"]) assert.equal(named(made, href), null, href);
});
