// Files for a goal: uploaded here, or named below the workspace.
import { useRef } from "../vendor/hooks.js";
import { attempt } from "../core/announce.js";
import { part, send } from "../core/api.js";
import { bytes } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { change, draft } from "./draft.js";

/** @param {File} file */
export async function upload(file) {
  const kept = await attempt(() => send(`/files?name=${part(file.name)}`, file));
  if (kept) change({ files: [...draft.peek().files, kept] });
}

export function FileButton() {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const take = (/** @type {any} */ event) => {
    for (const file of event.target.files) upload(file);
    event.target.value = "";
  };
  return html`<input type="file" hidden multiple ref=${field} onChange=${take} /><button type="button" class="chip" onClick=${() => field.current?.click()}><${Icon} name="plus" />Files</button>`;
}

export const FileChips = () => (draft.value.files.length ? html`<div class="chips">${draft.value.files.map((one) => html`<span class="chip" key=${one.file}><${Icon} name="file" />${one.name}${one.bytes ? html`<span class="muted num">${bytes(one.bytes)}</span>` : ""}
  <button type="button" class="plain" style="padding:0" aria-label="Leave out ${one.name}" onClick=${() => change({ files: draft.value.files.filter((other) => other !== one) })}><${Icon} name="close" /></button></span>`)}</div>` : null);
