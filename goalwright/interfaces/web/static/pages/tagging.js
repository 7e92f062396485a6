// Shows the tags and note of a run, and edits them in a dialog.
import { useState } from "../vendor/hooks.js";
import { ask, part } from "../core/api.js";
import { Dialog, show } from "../core/dialog.js";
import { html } from "../core/html.js";

/** @typedef {{ run_id: string, tags: string[], note: string }} Tagged */

/** Parse tags separated by commas. @param {string} text */
export const parsed = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);

/** Edit the tags and note of a run; undefined if cancelled. @param {Tagged} run @returns {Promise<Tagged | undefined>} */
export const changeTags = (run) => show((close) => html`<${Form} run=${run} close=${close} />`);

/** @param {{ run: Tagged, close: (done?: Tagged) => void }} props */
function Form({ run, close }) {
  const [tags, setTags] = useState(run.tags.join(", ")), [note, setNote] = useState(run.note);
  const put = async (/** @type {string} */ what, /** @type {any} */ json) => (await ask(`/runs/${part(run.run_id)}/${what}`, { method: "PUT", json })).json();
  const save = async () => {
    await put("tags", { tags: parsed(tags) });
    close(await put("note", { note }));
  };
  return html`<${Dialog} title="Tags and note" close=${close} onSubmit=${save} foot=${html`<button type="button" class="btn" onClick=${() => close()}>Cancel</button><button type="submit" form="dialog" class="btn primary">Save</button>`}>
    <label class="stacked"><span>Tags, with a comma between two</span><input class="field" value=${tags} autocomplete="off" onInput=${(/** @type {any} */ event) => setTags(event.target.value)} /></label>
    <label class="stacked"><span>Note</span><textarea class="field" rows="5" maxLength=${10000} value=${note} onInput=${(/** @type {any} */ event) => setNote(event.target.value)}></textarea></label></${Dialog}>`;
}

/** The tags of a run as links to all runs that have them. @param {{ tags: string[] }} props */
export const Tags = ({ tags }) => html`${tags.map((tag) => html`<a class="tag" key=${tag} href="/runs?${new URLSearchParams({ tag })}" dir="auto">${tag}</a>`)}`;
