// Changed lines of a text with their signs; the lines stay plain text.
import { useState } from "../vendor/hooks.js";
import { count } from "./format.js";
import { html } from "./html.js";

const MOST = 400;
const SIGNS = /** @type {Record<string, string>} */ ({ same: " ", added: "+", dropped: "−", cut: "⋯", place: "" });
const WORDS = /** @type {Record<string, string>} */ ({ added: "added: ", dropped: "dropped: " });

/** @param {{ lines: { kind: string, text: string }[], label: string }} props */
export function ChangeLines({ lines, label }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? lines : lines.slice(0, MOST);
  return html`<pre class="change" tabIndex=${0} role="region" aria-label=${label}>${shown.map((line) => html`<span class=${line.kind}><i aria-hidden="true">${SIGNS[line.kind]}</i>${WORDS[line.kind] && html`<span class="sr">${WORDS[line.kind]}</span>`}${line.text}${"\n"}</span>`)}</pre>
    ${shown.length < lines.length && html`<button type="button" class="btn small" onClick=${() => setWhole(true)}>Show all ${count(lines.length)} lines</button>`}`;
}
