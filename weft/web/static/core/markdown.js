// Markdown as elements: marked only reads it, nothing is ever set as HTML. What is not listed here is shown as text.
import { h } from "../vendor/preact.js";
import { useMemo, useState } from "../vendor/hooks.js";
import { lexer } from "../vendor/marked.js";
import { count } from "./format.js";
import { html } from "./html.js";

/** Longer texts are shown as they are until asked for. */
const LONG = 50_000;
const LINK = /^(?:https?:\/\/|mailto:)/i;
const ENTITIES = /** @type {Record<string, string>} */ ({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" });

/** @typedef {Record<string, any>} Token */

/** @param {string} text */
const plain = (text) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (found) => ENTITIES[found]);

/** @param {Token[]} [tokens] @returns {any[]} */
const inline = (tokens = []) => tokens.map((token) => {
  switch (token.type) {
    case "strong": case "em": case "del": return h(token.type, null, inline(token.tokens));
    case "codespan": return h("code", null, plain(token.text));
    case "br": return h("br", null);
    case "link": return link(token);
    case "image": return h("span", { class: "image" }, `[image: ${token.text || token.href}]`);
    case "text": case "escape": return token.tokens ? inline(token.tokens) : plain(token.text);
    default: return token.raw; // HTML too: as text
  }
});

/** @param {Token} token */
const link = ({ href, tokens }) => LINK.test(href)
  ? h("a", { href, rel: "noopener noreferrer", target: "_blank", title: href }, inline(tokens))
  : h("span", { title: href }, inline(tokens));

/** @param {Token} token @returns {any} */
function block(token) {
  switch (token.type) {
    case "heading": return h(`h${Math.min(6, token.depth + 2)}`, null, inline(token.tokens));
    case "paragraph": return h("p", null, inline(token.tokens));
    case "text": return h("p", null, token.tokens ? inline(token.tokens) : plain(token.text));
    case "code": return h("pre", { tabIndex: 0 }, h("code", null, token.text));
    case "blockquote": return h("blockquote", null, token.tokens.map(block));
    case "list": return list(token);
    case "table": return table(token);
    case "hr": return h("hr", null);
    case "space": case "def": return null;
    default: return h("p", null, token.raw);
  }
}

/** @param {Token} token */
const list = ({ ordered, start, items }) => h(ordered ? "ol" : "ul", ordered && start > 1 ? { start } : null, items.map((/** @type {Token} */ item) => h("li", null,
  item.task ? (item.checked ? "☑ " : "☐ ") : null,
  item.tokens.filter((/** @type {Token} */ one) => one.type !== "checkbox").map((/** @type {Token} */ one) => (one.type === "text" ? inline(one.tokens ?? [one]) : block(one))))));

/** @param {Token} token */
const table = ({ header, rows }) => h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Table" }, h("table", null,
  h("thead", null, h("tr", null, header.map((/** @type {Token} */ cell) => h("th", null, inline(cell.tokens))))),
  h("tbody", null, rows.map((/** @type {Token[]} */ row) => h("tr", null, row.map((cell) => h("td", null, inline(cell.tokens))))))));

/** The elements of a text. @param {string} text */
export const elements = (text) => lexer(text).map(block);

/** @param {{ text: string }} props */
export function Markdown({ text }) {
  const [asked, setAsked] = useState(false);
  const long = text.length > LONG && !asked;
  const shown = useMemo(() => {
    try {
      return long ? null : elements(text);
    } catch { // marked gives up on some texts
      return null;
    }
  }, [text, long]);
  if (shown) return html`<div class="md">${shown}</div>`;
  return html`<div class="md">${long && html`<p><button type="button" class="btn small" onClick=${() => setAsked(true)}>Show ${count(text.length)} characters as Markdown</button></p>`}
    <pre class="raw">${text}</pre></div>`;
}
