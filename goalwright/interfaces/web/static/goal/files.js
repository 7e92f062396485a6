// The files of a goal: uploaded, or named below the workspace.
import { useRef } from "../vendor/hooks.js";
import { attempt } from "../core/announce.js";
import { part, send } from "../core/api.js";
import { bytes } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";

/** @typedef {import("./draft.js").GivenFile} GivenFile */

/** Upload a file; show an error and return undefined if that fails. @param {File} file @returns {Promise<GivenFile | undefined>} */
export const uploaded = (file) => attempt(() => send(`/files?name=${part(file.name)}`, file));

/** @param {{ onGiven: (files: File[]) => void }} props */
export function FileButton({ onGiven }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const take = (/** @type {any} */ event) => {
    onGiven([...event.target.files]);
    event.target.value = "";
  };
  return html`<input type="file" hidden multiple ref=${field} onChange=${take} /><button type="button" class="chip" onClick=${() => field.current?.click()}><${Icon} name="plus" />Files</button>`;
}

/** @param {{ files: GivenFile[], onFiles: (files: GivenFile[]) => void }} props */
export const FileChips = ({ files, onFiles }) => (files.length ? html`<div class="chips">${files.map((one) => html`<span class="chip" key=${one.file}><${Icon} name="file" />${one.name}${one.bytes ? html`<span class="muted num">${bytes(one.bytes)}</span>` : ""}
  <button type="button" class="plain" style="padding:0" aria-label="Leave out ${one.name}" onClick=${() => onFiles(files.filter((other) => other !== one))}><${Icon} name="close" /></button></span>`)}</div>` : null);
