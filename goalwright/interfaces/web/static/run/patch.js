// Parses a patch as `git apply` does: files, and the kind of each line. Pure.

/** @typedef {{ kind: "same" | "added" | "dropped" | "place", text: string }} PatchLine */
/** @typedef {{ path: string, is: "new" | "deleted" | "moved" | "changed", from?: string, lines: PatchLine[] }} FilePatch */

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const HEAD = "diff --git ";
const ESCAPES = /** @type {Record<string, string>} */ ({ t: "\t", n: "\n", r: "\r" });

/** The files of a patch. Lines are counted by hunk headers, so that file content is never taken for a header. @param {string} patch @returns {FilePatch[]} */
export function filePatches(patch) {
  /** @type {FilePatch[]} */
  const files = [];
  let old = 0, added = 0;
  for (const line of patch.split("\n")) {
    const file = files.at(-1);
    if (file && (old > 0 || added > 0) && /^[ +-]/.test(line)) {
      if (line[0] !== "+") old--;
      if (line[0] !== "-") added--;
      file.lines.push({ kind: line[0] === "+" ? "added" : line[0] === "-" ? "dropped" : "same", text: line.slice(1) });
      continue;
    }
    const hunk = HUNK.exec(line);
    if (line.startsWith(HEAD)) files.push({ path: named(line.slice(HEAD.length)), is: "changed", lines: [] });
    else if (hunk && file) {
      old = Number(hunk[1] ?? 1);
      added = Number(hunk[2] ?? 1);
      file.lines.push({ kind: "place", text: line });
    } else if (file && line.startsWith("new file")) file.is = "new";
    else if (file && line.startsWith("deleted file")) file.is = "deleted";
    else if (file && line.startsWith("rename from ")) file.from = plain(line.slice(12));
    else if (file && line.startsWith("rename to ")) Object.assign(file, { is: "moved", path: plain(line.slice(10)) });
    else if (file && line.startsWith("\\ ")) file.lines.push({ kind: "place", text: "No newline at the end" });
  }
  return files;
}

/** The path in "a/PATH b/PATH"; both halves have the same length. @param {string} both */
function named(both) {
  const half = both.slice((both.length + 1) / 2);
  return half.startsWith('"') ? unquoted(half.slice(3, -1)) : half.slice(2);
}

/** A name, unquoted if git quoted it. @param {string} name */
const plain = (name) => (name.startsWith('"') ? unquoted(name.slice(1, -1)) : name);

/** A name as git quotes it: bytes in octal. @param {string} text */
function unquoted(text) {
  const bytes = [...text.matchAll(/\\(\d{3})|\\(.)|([^\\]+)/g)].flatMap(([, octal, escaped, plain]) => (octal ? [parseInt(octal, 8)] : [...new TextEncoder().encode(plain ?? ESCAPES[escaped] ?? escaped)]));
  return new TextDecoder().decode(new Uint8Array(bytes));
}
