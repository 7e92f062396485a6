// Finds a task of a run by its title, the value of its item, its id, kind or skill.
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { html } from "../core/html.js";
import { StateIcon } from "../core/icons.js";
import { fullTitle } from "./names.js";

const MOST = 50;

/** @param {import("./spans.js").Span[]} tasks @param {string} text */
export function find(tasks, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const span of tasks) {
    const all = `${span.title} ${span.item ?? ""} ${span.id} ${span.kind} ${span.name ?? ""} ${span.status} ${span.error ?? ""}`.toLowerCase();
    if (words.every((word) => all.includes(word))) found.push(span);
    if (found.length === MOST) break;
  }
  return found;
}

/** @param {{ tasks: import("./spans.js").Span[], spans: ReadonlyMap<string, import("./spans.js").Span>, onChoose: (id: string) => void, onClose: () => void }} props */
export function Finder({ tasks, spans, onChoose, onClose }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []); // before the next key press
  const found = text.trim() ? find(tasks, text) : [];
  const key = (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation();
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter" && found[at]) onChoose(found[at].id);
    else if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else return;
    event.preventDefault();
  };
  return html`<div class="finder" data-tools role="search" onKeyDown=${key}>
    <input class="field" type="text" ref=${field} placeholder="Find a task by name, kind, skill or state" aria-label="Find a task" value=${text}
      onInput=${(/** @type {any} */ event) => { setText(event.target.value); setAt(0); }} />
    ${text.trim() && html`<ul>${found.map((span, index) => html`<li key=${span.id}><button type="button" aria-selected=${index === at ? "true" : "false"} onClick=${() => onChoose(span.id)}>
      <${StateIcon} status=${span.status} /><span class="cut" dir="auto">${fullTitle(span, spans)}</span></button></li>`)}
      ${!found.length && html`<li class="muted" style="padding:6px 10px">No task matches.</li>`}</ul>`}</div>`;
}
