// A text field with line numbers and marks on faulty lines.
import { useEffect, useRef } from "../vendor/hooks.js";
import { classes, html } from "../core/html.js";

const LINE = 20;

/** @param {{ text: string, faults: { line: number, message: string }[], here: number, label: string, onChange: (text: string) => void, onLine?: (line: number) => void, onKey?: (event: KeyboardEvent) => void, readOnly?: boolean }} props */
export function CodeField({ text, faults, here, label, onChange, onLine, onKey, readOnly = false }) {
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const lines = text.split("\n");
  const bad = new Set(faults.map((fault) => fault.line));
  const width = Math.max(20, ...lines.map((line) => line.length)) + 4;
  useEffect(() => {
    const element = box.current;
    if (!element || here < 1) return;
    const top = (here - 1) * LINE;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 3 * LINE) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [here]);
  const moved = () => {
    const at = area.current?.selectionStart ?? 0;
    onLine?.(text.slice(0, at).split("\n").length);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    onKey?.(event);
    if (event.key !== "Tab" || event.shiftKey || event.defaultPrevented || readOnly) return;
    const field = /** @type {HTMLTextAreaElement} */ (area.current);
    if (field.selectionStart === 0 && field.selectionEnd === 0) return; // at the start of the text, Tab leaves the field
    event.preventDefault();
    field.setRangeText("  ", field.selectionStart, field.selectionEnd, "end");
    onChange(field.value);
  };
  return html`<div class="codebox" ref=${box}><div class="gutter" aria-hidden="true">${lines.map((_, index) => html`<span class=${classes(bad.has(index + 1) && "bad", here === index + 1 && "here")}>${index + 1}</span>`)}</div>
    <textarea ref=${area} aria-label=${label} spellcheck=${false} autocomplete="off" autocapitalize="off" readOnly=${readOnly} value=${text} rows=${lines.length} wrap="off" style=${{ height: `${lines.length * LINE + 52}px`, minWidth: `${width}ch` }}
      aria-invalid=${faults.length > 0 ? "true" : "false"} onInput=${(/** @type {any} */ event) => onChange(event.target.value)} onKeyDown=${key} onKeyUp=${moved} onClick=${moved}></textarea></div>`;
}

/** Put the caret on a line. @param {number} line counted from 1 */
export function goToLine(line) {
  const area = /** @type {HTMLTextAreaElement | null} */ (document.querySelector(".codebox textarea"));
  if (!area) return;
  const before = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.focus({ preventScroll: true });
  area.setSelectionRange(before, before);
}
