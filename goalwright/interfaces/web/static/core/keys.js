// Keyboard shortcuts. The innermost listener comes first; typing in fields is not affected.
import { useLayoutEffect } from "../vendor/hooks.js";
import { html } from "./html.js";
import { Dialog, show } from "./dialog.js";

/** @type {Record<string, () => (boolean | void)>[]} */
const listeners = [];

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select"));

/** Listen for the shortcuts of all pages. */
export function listenKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    for (const keys of [...listeners].reverse()) {
      const work = keys[event.key];
      if (!work || work() === false) continue;
      event.preventDefault();
      return;
    }
  });
}

/** Listen for keys while a component is mounted. @param {Record<string, () => (boolean | void)>} keys @param {any[]} [inputs] */
export function useKeys(keys, inputs = []) {
  useLayoutEffect(() => {
    listeners.push(keys);
    return () => void listeners.splice(listeners.indexOf(keys), 1);
  }, inputs);
}

/** The shortcuts that `?` shows and the docs list. */
export const KEYS = [
  ["/", "search"], ["n", "new goal"], ["← → ↑ ↓", "along dependencies, and within a layer"], ["Enter", "open the task"], ["Esc", "close"],
  ["v", "to the graph"], ["[ ]", "previous and next task"], ["f", "fit the graph"], ["c", "show the critical path"], ["e", "next failure"], ["o", "open or fold a task's parts"],
  ["+ −", "zoom"], ["g", "graph, both, timeline"], ["p", "playback"], ["t", "light or dark"], ["?", "all keys"],
];

export const showKeys = () => show((close) => html`<${Dialog} title="Keys" close=${close}>
  <table class="list keys"><tbody>${KEYS.map(([key, what]) => html`<tr><td>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</td><td>${what}</td></tr>`)}</tbody></table></${Dialog}>`);
