import assert from "node:assert/strict";
import { test } from "node:test";
import { merged } from "../../../../../../goalwright/interfaces/web/static/core/merge.js";
import { ago, bytes, money, seconds, ticks, tickText } from "../../../../../../goalwright/interfaces/web/static/core/format.js";
import { parse, read } from "../../../../../../goalwright/interfaces/web/static/core/stream.js";
import { begin, changed, redone, undone } from "../../../../../../goalwright/interfaces/web/static/goal/history.js";
import { filePatches } from "../../../../../../goalwright/interfaces/web/static/run/patch.js";
import { conversation, detailOf } from "../../../../../../goalwright/interfaces/web/static/run/detail.js";

test("undo goes back by changes, and rapid typing is one change", () => {
  let history = begin("a");
  history = changed(history, "ab", 5000);
  history = changed(history, "abc", 5100);
  history = changed(history, "x", 5200, true);
  assert.equal(undone(history).now, "abc");
  assert.equal(undone(undone(history)).now, "a");
  assert.equal(redone(undone(history)).now, "x");
  assert.equal(undone(begin("a")).now, "a");
});

test("values are formatted for people", () => {
  assert.deepEqual([0.04, 9.94, 31.4, 200, 7199, 7500, null].map(seconds), ["0.0 s", "9.9 s", "31 s", "3 min 20 s", "2 h", "2 h 5 min", "–"]);
  assert.deepEqual([0, 0.00000123, 0.0381, 12.3, null].map(money), ["$0", "$0.0000012", "$0.0381", "$12.30", "unknown"]);
  assert.deepEqual([999, 1500, 93_000_000].map(bytes), ["999 B", "1.5 kB", "93 MB"]);
  assert.equal(ago("2026-01-01T00:00:00Z", Date.UTC(2026, 0, 1, 2)), "2 h ago");
  assert.deepEqual(ticks(31), [0, 15, 30]);
  assert.deepEqual(ticks(0), [0]);
  assert.deepEqual(ticks(12.6, 12.2).map((tick) => tickText(tick, 0.1)), ["12.2 s", "12.3 s", "12.4 s", "12.5 s", "12.6 s"]);
  assert.deepEqual(ticks(100, 31), [45, 60, 75, 90]);
  assert.deepEqual(ticks(0.2).map((tick) => tickText(tick, 0.05)), ["0.00 s", "0.05 s", "0.10 s", "0.15 s", "0.20 s"]);
  assert.deepEqual([0, 2].map((tick) => tickText(tick, 2)), ["0 s", "2 s"]);
});

test("a stream is parsed from chunks of any size", async () => {
  const bytesOf = new TextEncoder().encode('retry: 1000\n\nid: 1\nevent: warned\ndata: {"a":"ü"}\n\n: here\n\nevent: x\ndata: 2\n\n');
  for (const size of [1, 2, 3, 7, 1000]) {
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytesOf.length; at += size) controller.enqueue(bytesOf.slice(at, at + size));
        controller.close();
      },
    });
    const found = [];
    for await (const event of read(new Response(body))) found.push(event);
    assert.deepEqual(found, [{ type: "warned", id: "1", data: { a: "ü" } }, { type: "x", id: "", data: 2 }]);
  }
  assert.equal(parse(": comment"), null);
});

test("a conversation shows only what is new in each call", () => {
  const user = { role: "user", content: "q" };
  const tool = { role: "tool", content: "r" };
  const rows = [
    { type: "call_started", seq: 1, model: "m", messages: [user] },
    { type: "call_finished", seq: 2, model: "m", reply: { text: "", tool_calls: [{ name: "R", arguments: "{}" }] } },
    { type: "tool_logged", seq: 3, name: "R", log: "l", stderr: "", exit_status: 0 },
    { type: "tool_called", seq: 4, name: "R", envelope: { status: "success", context: { params_input: { p: 1 } } } },
    { type: "call_started", seq: 5, model: "m", messages: [user, { role: "assistant", content: "", tool_calls: [{ name: "R", arguments: "{}" }] }, tool] },
    { type: "call_failed", seq: 6, model: "m", error: "e", seconds: 1 },
  ];
  const detail = detailOf(rows);
  assert.deepEqual(conversation(detail.calls).map((one) => [one.messages.map((message) => message.role), one.repeated]), [[["user"], 0], [["tool"], 2]]);
  assert.deepEqual([detail.tools[0].arguments, detail.tools[0].log.log, detail.calls[1].error], [{ p: 1 }, "l", "e"]);
});

test("a patch is parsed by files, and file content is never taken for a header", () => {
  const patch = [
    "diff --git a/notes b/notes", "--- a/notes", "+++ b/notes", "@@ -1,3 +1,3 @@", " first", "--- a/notes", "+++ b/evil", " diff --git a/x b/x", "\\ No newline at end of file",
    'diff --git "a/na\\303\\257 \\"b/c" "b/na\\303\\257 \\"b/c"', "new file mode 100644", "--- /dev/null", '+++ "b/x"', "@@ -0,0 +1 @@", "+<b>new</b>", "",
  ].join("\n");
  const files = filePatches(patch);
  assert.deepEqual(files.map((one) => [one.path, one.is]), [["notes", "changed"], ['naï "b/c', "new"]]);
  assert.deepEqual(files[0].lines.map((line) => line.kind), ["place", "same", "dropped", "added", "same", "place"]);
  assert.deepEqual(files[1].lines.at(-1), { kind: "added", text: "<b>new</b>" });
  assert.deepEqual(filePatches(""), []);
});

test("a moved or deleted file has its old and new path", () => {
  const patch = ["diff --git a/x y b/docs/z", "similarity index 100%", "rename from x y", "rename to docs/z", 'diff --git "a/n\\303\\257" "b/o\\303\\257"', "similarity index 100%", 'rename from "n\\303\\257"', 'rename to "o\\303\\257"', "diff --git a/old b/old", "deleted file mode 100755", "--- a/old", "+++ /dev/null", "@@ -1 +0,0 @@", "-rename to evil", ""].join("\n");
  assert.deepEqual(filePatches(patch).map((one) => [one.from, one.path, one.is]), [["x y", "docs/z", "moved"], ["nï", "oï", "moved"], [undefined, "old", "deleted"]]);
});

test("two changes of a text are merged, and conflicts keep both", () => {
  const base = "a\nb\nc\nd\ne";
  assert.deepEqual(merged(base, "A\nb\nc\nd\ne", "a\nb\nc\nd\nE\nf"), { text: "A\nb\nc\nd\nE\nf", conflicts: 0 });
  assert.deepEqual(merged(base, "a\nb\nX\nd\ne", "a\nb\nY\nd\ne"), { text: "a\nb\n<<<<<<< mine\nX\n=======\nY\n>>>>>>> theirs\nd\ne", conflicts: 1 });
  assert.deepEqual(merged(base, "a\nd\ne", "a\nd\ne"), { text: "a\nd\ne", conflicts: 0 });
  assert.deepEqual(merged(base, base, "x"), { text: "x", conflicts: 0 });
  assert.deepEqual(merged("", "mine", ""), { text: "mine", conflicts: 0 });
  assert.deepEqual(merged("a\nb", "a\nnew\nb", "a\nb"), { text: "a\nnew\nb", conflicts: 0 });
});
