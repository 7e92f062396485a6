// Two texts as one, with what was dropped and added.
import { useMemo } from "../vendor/hooks.js";
import { ChangeLines } from "../core/change_lines.js";
import { count } from "../core/format.js";
import { html } from "../core/html.js";
import { lineDifference } from "../core/text_diff.js";

/** @param {{ a: string, b: string }} props */
export function TextChange({ a, b }) {
  const lines = useMemo(() => lineDifference(a, b).map((one) => (one.kind === "cut" ? { kind: "cut", text: `${count(Number(one.text))} lines are the same` } : one)), [a, b]);
  return html`<${ChangeLines} lines=${lines} label="Difference of the texts" />`;
}
