// Imports a skill from an archive or a folder: shows its files and suspicious findings, and keeps it once confirmed.
import { useRef, useState } from "../vendor/hooks.js";
import { note, noteError } from "../core/announce.js";
import { part, post, remove, send } from "../core/api.js";
import { Dialog } from "../core/dialog.js";
import { Problem } from "../core/empty.js";
import { counted } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { ofDrop, ofField } from "./folder.js";

/** @typedef {{ key: string, id: string, name: string, description: string, exists: boolean, files: string[], problems: { line: number, rule: string, message: string }[], distrust: { path: string, line: number, rule: string, what: string }[] }} Staged */

/** @param {{ close: (name?: string) => void, given?: Promise<Blob | Uint8Array | null> | null }} props */
export function ImportDialog({ close, given = null }) {
  const [data, setData] = useState(/** @type {Blob | Uint8Array | null} */ (null));
  const [staged, setStaged] = useState(/** @type {Staged | null} */ (null));
  const [id, setId] = useState("");
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const begun = useRef(false);
  const stage = async (/** @type {Blob | Uint8Array | null} */ archive, name = "") => {
    if (!archive) return;
    setBusy(true);
    setError(null);
    if (staged) await remove(`/skills/imports/${part(staged.key)}`).catch(() => {});
    setStaged(null);
    try {
      const found = await send(`/skills/imports${name ? `?id=${part(name)}` : ""}`, archive);
      setData(archive);
      setStaged(found);
      setId(found.id);
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  if (given && !begun.current) {
    begun.current = true;
    given.then(stage, noteError);
  }
  const leave = () => {
    if (staged) remove(`/skills/imports/${part(staged.key)}`).catch(() => {});
    close();
  };
  const keep = async () => {
    if (!staged) return;
    if (id !== staged.id) return stage(data, id);
    setBusy(true);
    try {
      const kept = await post(`/skills/imports/${part(staged.key)}`, { replace: staged.exists });
      note(`${kept.id} is ${kept.replaced ? "replaced" : "imported"}`, { hint: "The next run sees it." });
      close(kept.id);
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const other = staged !== null && id !== staged.id;
  return html`<${Dialog} title="Import a skill" close=${leave} wide=${staged !== null} onSubmit=${keep} foot=${html`<span class="left">${busy ? "Unpacking…" : ""}</span><button type="button" class="btn" onClick=${leave}>Cancel</button>
    ${staged && html`<button type="submit" form="dialog" class=${classes("btn", staged.exists && !other ? "danger" : "primary")} disabled=${busy || !id.trim()}>${other ? "Look again with this id" : staged.exists ? `Overwrite ${staged.id}` : "Import"}</button>`}`}>
    <div class="form">${error && html`<${Problem} error=${error} />`}${staged ? html`<${Inside} staged=${staged} id=${id} setId=${setId} />` : html`<${Chooser} onGiven=${stage} busy=${busy} />`}</div></${Dialog}>`;
}

/** @param {{ onGiven: (archive: Blob | Uint8Array | null) => void, busy: boolean }} props */
function Chooser({ onGiven, busy }) {
  const file = useRef(/** @type {HTMLInputElement | null} */ (null));
  const folder = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [over, setOver] = useState(false);
  const drop = async (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) onGiven(await ofDrop(event.dataTransfer));
  };
  return html`<div class=${classes("dropper", over && "over")} onDragOver=${(/** @type {Event} */ event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}><${Icon} name="folder" /><p>Drop a folder or an archive here (zip, tar.gz).</p>
    <div class="actions"><button type="button" class="btn" data-first disabled=${busy} onClick=${() => file.current?.click()}><${Icon} name="file" />Choose an archive…</button><button type="button" class="btn" disabled=${busy} onClick=${() => folder.current?.click()}><${Icon} name="folder" />Choose a folder…</button></div>
    <input type="file" hidden ref=${file} aria-label="Archive" accept=".zip,.tar,.gz,.tgz,.skill" onChange=${(/** @type {any} */ event) => onGiven(event.target.files[0] ?? null)} />
    <input type="file" hidden ref=${folder} aria-label="Folder" webkitdirectory onChange=${async (/** @type {any} */ event) => onGiven(await ofField(event.target.files))} />
    <small>You see its content first. Nothing is kept or run before you confirm.</small></div>`;
}

/** @param {{ staged: Staged, id: string, setId: (id: string) => void }} props */
const Inside = ({ staged, id, setId }) => html`<label>Id<input class="field mono" value=${id} onInput=${(/** @type {any} */ event) => setId(event.target.value)} /></label>
  <p>${staged.description}</p>
  ${staged.exists && html`<div class="note st-partial"><b>${staged.id} exists already</b><div>Importing overwrites it. Choose another id to keep both.</div></div>`}
  ${staged.distrust.length > 0 ? html`<div class="note st-failed"><b>${counted(staged.distrust.length, "thing")} to distrust</b>${staged.distrust.slice(0, 20).map((one) => html`<div><span class="mono">${one.path}${one.line ? `:${one.line}` : ""}</span> ${one.what}</div>`)}</div>` : html`<div class="note st-done">Nothing in it looks suspicious. Still, read it before you trust it.</div>`}
  ${staged.problems.map((one) => html`<div class="note st-partial">Line ${one.line}: ${one.message}</div>`)}
  <div><h3 class="sec">${counted(staged.files.length, "file")}</h3><ul class="filelist">${staged.files.slice(0, 200).map((path) => html`<li class="mono" key=${path}>${path}</li>`)}</ul></div>`;
