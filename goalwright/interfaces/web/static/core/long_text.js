// A plain text of any length.
import { useMemo } from "../vendor/hooks.js";
import { html } from "./html.js";
import { linesOf } from "./pieces.js";

/** @param {{ text: string, label?: string }} props with a label, it can be scrolled by keyboard */
export function LongText({ text, label }) {
  const parts = useMemo(() => linesOf(text), [text]);
  const inside = parts.length > 1 ? parts.map((part, at) => html`<div class="piece" key=${at}>${part}</div>`) : text;
  return html`<pre class="raw" dir="auto" tabIndex=${label ? 0 : undefined} role=${label ? "region" : undefined} aria-label=${label}>${inside}</pre>`;
}
