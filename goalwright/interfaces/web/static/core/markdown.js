// Renders Markdown as elements: marked only parses it, and nothing is ever set as HTML. Unlisted kinds are shown as text.
import { h } from "../vendor/preact.js";
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { Lexer } from "../vendor/marked.js";
import { copy } from "./clipboard.js";
import { colored } from "./code.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { useNear } from "./near.js";
import { Cutter, definitions } from "./pieces.js";

/** A longer text is split in time slices, and rendered after its surroundings. */
const SHORT = 20_000;
const SLICE = 6;
const PIECES = 160;
/** The number of pieces that form one part until they are nearly in view. */
const PART = 16;
/** A text that marked parses first, to compile its patterns, which takes 40 ms. */
const COLD = ["a", "a `b`", "# a\n\n**b** _c_ [d](https://example.com)\n\n- e\n\n| f |\n|---|\n| g |"];
const LINK = /^(?:https?:\/\/|mailto:)/i;
const ENTITIES = /** @type {Record<string, string>} */ ({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" });

/** @typedef {Record<string, any>} Token */

/** @param {string} text */
const plain = (text) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (found) => ENTITIES[found]);

/** @typedef {((href: string, name: string) => any) | null} Pictures how a picture is shown; without it, by its name */

/** @param {Token[]} tokens @param {Pictures} pictures @returns {any[]} */
const inline = (tokens, pictures) => tokens.map((token) => {
  switch (token.type) {
    case "strong": case "em": case "del": return h(token.type, null, inline(token.tokens ?? [], pictures));
    case "codespan": return h("code", null, plain(token.text));
    case "br": return h("br", null);
    case "link": return link(token, pictures);
    case "image": return pictures && !LINK.test(token.href) ? pictures(token.href, token.text) : h("span", { class: "image" }, `[image: ${token.text || token.href}]`);
    case "text": case "escape": return token.tokens ? inline(token.tokens, pictures) : plain(token.text);
    default: return token.raw; // HTML too, as text
  }
});

/** @param {Token} token @param {Pictures} pictures */
const link = ({ href, tokens }, pictures) => LINK.test(href)
  ? h("a", { href, rel: "noopener noreferrer", target: "_blank", title: href }, inline(tokens, pictures))
  : h("span", { title: href }, inline(tokens, pictures));

/** @param {Token} token @param {Pictures} pictures @returns {any} */
function block(token, pictures) {
  switch (token.type) {
    case "heading": return h(`h${Math.min(6, token.depth + 2)}`, { dir: "auto" }, inline(token.tokens ?? [], pictures));
    case "paragraph": return h(hasPicture(token) ? "div" : "p", { dir: "auto", class: hasPicture(token) ? "p" : undefined }, inline(token.tokens ?? [], pictures));
    case "text": return h("p", { dir: "auto" }, token.tokens ? inline(token.tokens, pictures) : plain(token.text));
    case "code": return h(Code, { text: token.text, language: token.lang ?? "" });
    case "blockquote": return h("blockquote", { dir: "auto" }, token.tokens.map((/** @type {Token} */ one) => block(one, pictures)));
    case "list": return list(token, pictures);
    case "table": return table(token, pictures);
    case "hr": return h("hr", null);
    case "space": case "def": return null;
    default: return h("p", { dir: "auto" }, token.raw);
  }
}

/** A rendered picture is not allowed in a paragraph. @param {Token} token */
const hasPicture = (token) => (token.tokens ?? []).some((/** @type {Token} */ one) => one.type === "image");

/** Highlighted code with a copy button; diagrams and formulas are shown as text. @param {{ text: string, language: string }} props */
function Code({ text, language }) {
  const name = /^[\w+#.-]*/.exec(language)?.[0] ?? "";
  return html`<div class="codeblock"><pre tabIndex=${0}><code>${colored(text, name).map(([kind, piece]) => (kind ? html`<span class=${`tok-${kind}`}>${piece}</span>` : piece))}</code></pre>
    <button type="button" class="plain copy" aria-label=${`Copy this ${name || "code"}`} onClick=${() => copy(text)}><${Icon} name="copy" /></button></div>`;
}

/** @param {Token} token @param {Pictures} pictures */
const list = ({ ordered, start, items }, pictures) => h(ordered ? "ol" : "ul", ordered && start > 1 ? { start } : null, items.map((/** @type {Token} */ item) => h("li", { dir: "auto" },
  item.task ? (item.checked ? "☑ " : "☐ ") : null,
  item.tokens.filter((/** @type {Token} */ one) => one.type !== "checkbox").map((/** @type {Token} */ one) => (one.type === "text" ? inline(one.tokens ?? [one], pictures) : block(one, pictures))))));

const ALIGNED = /** @type {Record<string, string>} */ ({ right: "r", center: "c" });

/** @param {Token} token @param {Pictures} pictures */
function table({ header, rows, align = [] }, pictures) {
  const cell = (/** @type {string} */ kind) => (/** @type {Token} */ one, /** @type {number} */ column) => h(kind, { dir: "auto", class: ALIGNED[align[column]] }, inline(one.tokens, pictures));
  return h("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Table" }, h("table", null,
    h("thead", null, h("tr", null, header.map(cell("th")))), h("tbody", null, rows.map((/** @type {Token[]} */ row) => h("tr", null, row.map(cell("td")))))));
}

/** The elements of a text. @param {string} text @param {Pictures} [pictures] @param {Record<string, { href: string, title: string }>} [links] links defined in other parts of the text */
export function elements(text, pictures = null, links = {}) {
  const lexer = new Lexer();
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(text).map((token) => block(token, pictures));
}

/** @param {{ piece: import("./pieces.js").Piece, pictures: Pictures, links: Record<string, any> }} props */
function Piece({ piece: { text, plain: isPlain }, pictures, links }) {
  return useMemo(() => {
    try {
      return isPlain ? asItIs(text) : elements(text, pictures, links);
    } catch { // marked fails on some texts
      return asItIs(text);
    }
  }, [text, links]);
}

/** @param {string} text */
const asItIs = (text) => html`<pre class="raw" dir="auto">${text}</pre>`;

/** A piece of a long text: plain until it is nearly in view, so that the browser can search all of it. @param {Parameters<typeof Piece>[0] & { first: boolean }} props */
function LatePiece({ first, ...props }) {
  const [near, place] = useNear(first);
  return html`<div class="piece" ref=${place}>${near ? html`<${Piece} ...${props} />` : asItIs(props.piece.text)}</div>`;
}

/** Adjacent pieces: one element while far away, because thousands would slow down every frame. @param {{ part: import("./pieces.js").Piece[], first: boolean } & Omit<Parameters<typeof Piece>[0], "piece">} props */
function LatePart({ part, first, ...props }) {
  const [near, place] = useNear(first);
  const last = part[part.length - 1];
  return useMemo(() => html`<div class=${near ? undefined : "part"} ref=${place}>
    ${near ? part.map((piece, at) => html`<${LatePiece} key=${at} piece=${piece} first=${first && !at} ...${props} />`) : asItIs(part.map(({ text }) => text).join("\n"))}</div>`, [near, part.length, last, props.links]);
}

/** The pieces of a text so far. @param {string} text */
function usePieces(text) {
  const [, redraw] = useState(0);
  const known = useRef(/** @type {Cutter | null} */ (null));
  const cutter = continued(known.current, text);
  known.current = cutter;
  useEffect(() => {
    if (cutter.done) return;
    let timer = setTimeout(function more() {
      const first = COLD.shift();
      if (first) new Lexer().lex(first);
      else {
        advance(cutter);
        redraw((count) => count + 1);
      }
      if (!cutter.done) timer = setTimeout(more);
    });
    return () => clearTimeout(timer);
  }, [cutter, text]);
  return cutter.found;
}

/** The cutter of this text: the one that split its beginning, if any. @param {Cutter | null} known @param {string} text */
function continued(known, text) {
  if (known?.text === text) return known;
  const cutter = known && text.startsWith(known.text) ? known : new Cutter(text);
  if (cutter === known) cutter.grow(text);
  if (text.length <= SHORT) while (cutter.step());
  else if (cutter === known) advance(cutter); // keep the end of a streamed text in view
  return cutter;
}

/** Split for some milliseconds, so that the page stays responsive. @param {Cutter} cutter */
function advance(cutter) {
  const until = performance.now() + SLICE;
  const most = cutter.found.length + PIECES;
  while (cutter.step() && performance.now() < until && cutter.found.length < most);
}

/** @param {{ text: string, pictures?: Pictures }} props */
export function Markdown({ text, pictures = null }) {
  const found = usePieces(text);
  const links = useMemo(() => definitions(text), [text]);
  const given = { pictures, links };
  if (found.length < 2) return html`<div class="md">${found.map((piece) => html`<${Piece} piece=${piece} ...${given} />`)}</div>`;
  const parts = Array.from({ length: Math.ceil(found.length / PART) }, (_, at) => found.slice(at * PART, (at + 1) * PART));
  return html`<div class="md">${parts.map((part, at) => html`<${LatePart} key=${at} part=${part} first=${!at} ...${given} />`)}</div>`;
}
