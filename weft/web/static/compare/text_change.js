// Two texts as one, with what was dropped and added.
import { useMemo, useState } from "../vendor/hooks.js";
import { count } from "../core/format.js";
import { html } from "../core/html.js";
import { lineDifference } from "../core/text_diff.js";

const MOST = 400;
const SIGNS = { same: " ", added: "+", dropped: "−", cut: "⋯" };
const WORDS = /** @type {Record<string, string>} */ ({ added: "added: ", dropped: "dropped: " });

/** @param {{ a: string, b: string }} props */
export function TextChange({ a, b }) {
  const [whole, setWhole] = useState(false);
  const pieces = useMemo(() => lineDifference(a, b), [a, b]);
  const shown = whole ? pieces : pieces.slice(0, MOST);
  return html`<pre class="change" tabIndex=${0} role="region" aria-label="Difference of the texts">${shown.map((piece) => html`<span class=${piece.kind}><i aria-hidden="true">${SIGNS[piece.kind]}</i>${WORDS[piece.kind] && html`<span class="sr">${WORDS[piece.kind]}</span>`}${piece.kind === "cut" ? `${count(Number(piece.text))} lines are the same` : piece.text}${"\n"}</span>`)}</pre>
    ${shown.length < pieces.length && html`<button type="button" class="btn small" onClick=${() => setWhole(true)}>Show all ${count(pieces.length)} lines</button>`}`;
}
