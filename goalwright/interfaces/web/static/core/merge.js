// Merges two changes of a text by lines; if both changed the same lines, both versions are kept. Pure.
import { difference } from "./text_diff.js";

/** The lines of a text that replace each line of its base, and those inserted before it. @param {string[]} base @param {string[]} text */
function edits(base, text) {
  const before = /** @type {string[][]} */ (Array.from({ length: base.length + 1 }, () => []));
  const kept = new Array(base.length).fill(false);
  let at = 0;
  for (const piece of difference(base, text)) {
    if (piece.kind === "added") before[at].push(piece.text);
    else kept[at++] = piece.kind === "same";
  }
  return { before, kept };
}

/** @param {string} base what both began with @param {string} mine @param {string} theirs @returns {{ text: string, conflicts: number }} */
export function merged(base, mine, theirs) {
  const lines = base.split("\n");
  const a = edits(lines, mine.split("\n")), b = edits(lines, theirs.split("\n"));
  /** @type {string[]} */
  const found = [];
  let conflicts = 0;
  const calm = (/** @type {number} */ at) => at >= lines.length || (a.kept[at] && b.kept[at]);
  for (let at = 0; at <= lines.length;) {
    let end = at;
    while (!calm(end)) end++; // a stretch that one side changed
    const own = stretch(lines, a, at, end), other = stretch(lines, b, at, end), origin = lines.slice(at, end);
    if (same(own, origin) || same(own, other)) found.push(...other);
    else if (same(other, origin)) found.push(...own);
    else {
      conflicts++;
      found.push("<<<<<<< mine", ...own, "=======", ...other, ">>>>>>> theirs");
    }
    if (end < lines.length) found.push(lines[end]);
    at = end + 1;
  }
  return { text: found.join("\n"), conflicts };
}

/** The lines of a text that replace some lines of its base. @param {string[]} lines @param {ReturnType<typeof edits>} edited @param {number} from @param {number} to */
function stretch(lines, { before, kept }, from, to) {
  const found = [...before[from]];
  for (let at = from; at < to; at++) found.push(...(kept[at] ? [lines[at]] : []), ...before[at + 1]);
  return found;
}

/** @param {string[]} a @param {string[]} b */
const same = (a, b) => a.length === b.length && a.every((line, at) => line === b[at]);
