// The differences of two texts, rendered or line by line.
import { useMemo, useState } from "../vendor/hooks.js";
import { ChangeLines } from "../core/change_lines.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { Markdown } from "../core/markdown.js";
import { lineDifference } from "../core/text_diff.js";
import { blockDifference } from "./blocks.js";

/** Longer texts are compared as source, which is faster. */
const LONG = 50_000;
const SAID = /** @type {Record<string, string>} */ ({ added: "Only in B", dropped: "Only in A" });

/** @param {{ a: string, b: string }} props */
export function TextChange({ a, b }) {
  const lines = useMemo(() => lineDifference(a, b).map((one) => (one.kind === "cut" ? { kind: "cut", text: `${counted(Number(one.text), "line is", "lines are")} the same` } : one)), [a, b]);
  return html`<${ChangeLines} lines=${lines} label="Difference of the texts" />`;
}

/** Two texts in Markdown. @param {{ title: string, a: string, b: string }} props */
export function MarkdownChange({ title, a, b }) {
  const [raw, setRaw] = useState(a.length + b.length > LONG);
  return html`<h3 class="sec">${title}<button type="button" class="plain" aria-pressed=${raw ? "true" : "false"} onClick=${() => setRaw(!raw)}>${raw ? "Rendered" : "Raw"}</button></h3>${raw ? html`<${TextChange} a=${a} b=${b} />` : html`<${Rendered} a=${a} b=${b} />`}`;
}

/** @param {{ a: string, b: string }} props */
function Rendered({ a, b }) {
  const blocks = useMemo(() => blockDifference(a, b), [a, b]);
  return html`<div class="rendered" role="region" aria-label="Difference of the texts" tabIndex=${0}>${blocks.map((one) => (one.kind === "cut" ? html`<p class="muted small">${counted(Number(one.text), "paragraph is", "paragraphs are")} the same</p>`
    : html`<div class="hunk ${one.kind}">${SAID[one.kind] && html`<small>${SAID[one.kind]}</small>`}<${Markdown} text=${one.text} /></div>`))}</div>`;
}
