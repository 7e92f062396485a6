// Adds a skill with id, name and description; its text is edited later.
import { useState } from "../vendor/hooks.js";
import { post } from "../core/api.js";
import { Dialog } from "../core/dialog.js";
import { html } from "../core/html.js";

/** @param {{ close: (name?: string) => void }} props */
export function AddDialog({ close }) {
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const add = async () => close((await post("/skills", { id, name, description })).name);
  const input = (/** @type {(value: string) => void} */ set) => (/** @type {any} */ event) => set(event.target.value);
  return html`<${Dialog} title="Add a skill" close=${() => close()} onSubmit=${add} foot=${html`<button type="button" class="btn" onClick=${() => close()}>Cancel</button><button type="submit" form="dialog" class="btn primary" disabled=${!id.trim() || !description.trim()}>Add</button>`}>
    <div class="form"><label>Id<input class="field mono" data-first placeholder="release-notes" value=${id} onInput=${input(setId)} /><small>Lower-case letters, digits and hyphens. It is the name of its folder.</small></label>
      <label>Name<input class="field" placeholder="Release notes" value=${name} onInput=${input(setName)} /></label>
      <label>Description<textarea class="field" rows="3" placeholder="Write release notes from merged changes. Use when a version is published." value=${description} onInput=${input(setDescription)}></textarea><small>What it does and when to use it: goals find it by these words.</small></label></div></${Dialog}>`;
}
