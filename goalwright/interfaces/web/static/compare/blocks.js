// Compares two Markdown texts by blocks between blank lines, so that each block can be rendered. Pure.
import { lineDifference } from "../core/text_diff.js";

/** @typedef {{ kind: string, text: string }} Block */

const FENCE = /^\s*(`{3,}|~{3,})/;

/** The blocks of a text; code with blank lines is one block. @param {string} text @returns {string[]} */
export function blocksOf(text) {
  /** @type {string[]} */
  const blocks = [];
  /** @type {string[]} */
  let lines = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence ? mark.startsWith(fence) : mark) fence = fence ? "" : mark;
    if (!fence && !line.trim()) {
      if (lines.length) blocks.push(lines.join("\n"));
      lines = [];
    } else lines.push(line);
  }
  if (lines.length) blocks.push(lines.join("\n"));
  return blocks;
}

/** The changed blocks; unchanged ones are replaced by their count. @param {string} a @param {string} b @returns {Block[]} */
export function blockDifference(a, b) {
  /** @type {string[]} */
  const known = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  const named = (/** @type {string} */ text) => blocksOf(text).map((block) => {
    if (!numbers.has(block)) numbers.set(block, known.push(block) - 1);
    return String(numbers.get(block));
  }).join("\n");
  return lineDifference(named(a), named(b)).map(({ kind, text }) => ({ kind, text: kind === "cut" ? text : known[Number(text)] ?? "" }));
}
