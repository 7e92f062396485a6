// Notes that disappear, errors that stay until closed, and a polite live region for screen readers.
import { signal } from "../vendor/signals.js";
import { Refused } from "./api.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";

/** @typedef {{ key: number, text: string, hint: string, bad: boolean, link: { href: string, text: string } | null }} Note */

/** @type {{ value: Note[] }} */
export const notes = signal([]);
const spoken = signal("");
let number = 0;
let said = 0;
/** @type {string[]} */
let left = [];

/** Announce a text to screen readers, at most once a second. @param {string} text */
export function announce(text) {
  left.push(text);
  if (left.length > 1) return;
  setTimeout(() => {
    spoken.value = left.length > 3 ? `${left.length} changes; last: ${left.at(-1)}` : left.join(". ");
    left = [];
    said = performance.now();
  }, Math.max(50, 1000 - (performance.now() - said)));
}

/** Show a note; an error stays until closed, and is shown once even if it repeats. @param {string} text @param {{ hint?: string, bad?: boolean, link?: Note["link"] }} [more] */
export function note(text, { hint = "", bad = false, link = null } = {}) {
  const one = { key: ++number, text, hint, bad, link };
  const others = notes.value.filter((shown) => shown.text !== text || shown.hint !== hint);
  notes.value = [...others.slice(-3), one];
  announce(hint ? `${text}; ${hint}` : text);
  if (!bad) setTimeout(() => close(one.key), link ? 8_000 : 4_000);
}

/** @param {number} key */
const close = (key) => (notes.value = notes.value.filter((one) => one.key !== key));

/** The message and hint of an error; null for an aborted request. @param {unknown} error @returns {{ message: string, hint: string } | null} */
export function told(error) {
  if (error instanceof DOMException && error.name === "AbortError") return null;
  return error instanceof Refused ? error : { message: "The server does not answer.", hint: "Is `goalwright serve` still running?" };
}

/** Show an error. @param {unknown} error */
export function noteError(error) {
  const said = told(error);
  if (said) note(said.message, { hint: said.hint, bad: true });
}

/** Do some work; show its error and return undefined if it fails. @template T @param {() => Promise<T>} work */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    noteError(error);
    return undefined;
  }
}

export const Notes = () => html`<div class="notes">${notes.value.map(
  (one) => html`<div class="toast ${one.bad ? "st-failed" : ""}" key=${one.key}>
    <div><b>${one.text}</b>${one.hint && html`<small>${one.hint}</small>`}${one.link && html` <a href=${one.link.href} onClick=${() => close(one.key)}>${one.link.text}</a>`}</div>
    <button type="button" class="plain" aria-label="Close this note" onClick=${() => close(one.key)}><${Icon} name="close" /></button></div>`,
)}</div><div class="sr" role="status" aria-live="polite">${spoken.value}</div>`;
