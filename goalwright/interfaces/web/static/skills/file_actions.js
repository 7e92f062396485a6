// Adds, renames and deletes the files of a skill.
import { useState } from "../vendor/hooks.js";
import { attempt, note } from "../core/announce.js";
import { ask, part } from "../core/api.js";
import { confirm, Dialog, show } from "../core/dialog.js";
import { html } from "../core/html.js";
import { go } from "../core/router.js";

/** @param {string} skill @param {string} path */
const address = (skill, path) => `/skills/${part(skill)}/files/${path.split("/").map(part).join("/")}`;
/** @param {string} skill @param {string} [path] */
const page = (skill, path) => `/skills/${part(skill)}${path ? `?file=${part(path)}` : ""}`;

/** Asks for a path, and closes with it after `onPath`. @param {{ title: string, yes: string, path: string, close: (value?: any) => void, onPath: (path: string) => Promise<unknown> }} props */
function PathDialog({ title, yes, path: given, close, onPath }) {
  const [path, setPath] = useState(given);
  const chosen = path.trim();
  const take = async () => {
    if (!chosen || chosen === given) return;
    await onPath(chosen);
    close(chosen);
  };
  return html`<${Dialog} title=${title} close=${close} onSubmit=${take}
    foot=${html`<button type="button" class="btn" onClick=${() => close()}>Cancel</button><button type="submit" form="dialog" class="btn primary" disabled=${!chosen || chosen === given}>${yes}</button>`}>
    <div class="form"><label>Path in the folder of the skill<input class="field mono" placeholder="references/example.md" value=${path} onInput=${(/** @type {any} */ event) => setPath(event.target.value)} /></label></div></${Dialog}>`;
}

/** @param {string} skill @param {() => void} onDone */
export async function addFile(skill, onDone) {
  const add = (/** @type {string} */ to) => ask(address(skill, to), { method: "PUT", json: { text: "" }, headers: { "if-match": '""' } });
  const path = await show((close) => html`<${PathDialog} title="Add a file" yes="Add" path="" close=${close} onPath=${add} />`);
  if (!path) return;
  onDone();
  go(page(skill, path));
}

/** @param {string} skill @param {string} path @param {string} tag @param {() => void} onDone */
export async function renameFile(skill, path, tag, onDone) {
  const rename = (/** @type {string} */ to) => ask(address(skill, path), { method: "POST", json: { to }, headers: { "if-match": tag } });
  const to = await show((close) => html`<${PathDialog} title="Rename ${path}" yes="Rename" path=${path} close=${close} onPath=${rename} />`);
  if (!to) return;
  onDone();
  go(page(skill, to));
}

/** @param {string} skill @param {string} path @param {string} tag @param {() => void} onDone */
export async function deleteFile(skill, path, tag, onDone) {
  const sure = await confirm({ title: `Delete ${path}?`, text: "This cannot be undone.", yes: "Delete", danger: true });
  if (!sure || !(await attempt(() => ask(address(skill, path), { method: "DELETE", headers: { "if-match": tag } })))) return;
  note(`${path} is deleted`);
  onDone();
  go(page(skill));
}
