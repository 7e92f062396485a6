// The field for the next goal of a conversation, with files. Drafts are kept while the tab is open.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { attempt } from "../core/announce.js";
import { part, post } from "../core/api.js";
import { classes, html } from "../core/html.js";
import { FileButton, FileChips, uploaded } from "../goal/files.js";

/** @typedef {import("../goal/draft.js").GivenFile} GivenFile */

/** @param {string | null} id */
const keyOf = (id) => `goalwright-turn-${id ?? "new"}`;

/** @param {{ id: string | null, blocked: string, onBegun: (begun: { conversation: string, run_id: string }) => void }} props `blocked`: why the next turn cannot begin yet */
export function NextGoal({ id, blocked, onBegun }) {
  const [text, setText] = useState(() => sessionStorage.getItem(keyOf(id)) ?? "");
  const [files, setFiles] = useState(/** @type {GivenFile[]} */ ([]));
  const [sending, setSending] = useState(false);
  const [over, setOver] = useState(false);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  useEffect(() => sessionStorage.setItem(keyOf(id), text), [text]);
  const ready = text.trim() !== "" && !sending && !blocked;
  const take = async (/** @type {Iterable<File>} */ given) => {
    for (const file of given) {
      const kept = await uploaded(file);
      if (kept) setFiles((all) => [...all, kept]);
    }
  };
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!ready) return;
    setSending(true);
    const begun = await attempt(() => post(id === null ? "/conversations" : `/conversations/${part(id)}/turns`, { goal: text.trim(), files: files.map((one) => one.file) }));
    setSending(false);
    if (!begun) return;
    sessionStorage.removeItem(keyOf(id));
    setText("");
    setFiles([]);
    onBegun(begun);
  };
  const key = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event);
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer?.files ?? []);
  };
  return html`<form class=${classes("goalbox", over && "over")} onSubmit=${send} onDragOver=${(/** @type {Event} */ event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <textarea ref=${field} aria-label="Next goal" aria-describedby="next-goal" rows="1" placeholder=${id === null ? "Ask something, or give a goal" : "Ask about the answer, or give the next goal"} value=${text} onKeyDown=${key} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea>
    <${FileChips} files=${files} onFiles=${setFiles} />
    <div class="foot"><${FileButton} onGiven=${take} /><small id="next-goal" class="muted">${blocked || html`<kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a line`}</small>
      <span class="go"><button type="submit" class="btn primary" disabled=${!ready}>${sending ? "Sending…" : "Send"}</button></span></div></form>`;
}
