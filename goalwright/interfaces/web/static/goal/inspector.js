// The selected task of a plan: its id, its dependencies, a new task after it.
import { useEffect, useState } from "../vendor/hooks.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";

/** @typedef {import("./checked_plan.js").Outlined} Outlined @typedef {import("./checked_plan.js").Change} Change */

/** Why the buttons are disabled. */
export const BY_HAND = "Buttons cannot change this plan as it is written now; change its text.";

/** @param {{ tasks: Outlined[], task: Outlined, editable: boolean, onChange: (change: Change) => void }} props */
export function Inspector({ tasks, task, editable, onChange }) {
  const [id, setId] = useState(task.id);
  useEffect(() => setId(task.id), [task.id]);
  const taken = id !== task.id && tasks.some((one) => one.id === id);
  const wrong = !/^[\w-]{1,64}$/.test(id) || taken;
  const rename = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (editable && !wrong && id !== task.id) onChange({ change: "rename", task: task.id, to: id });
  };
  const others = tasks.filter((one) => one.id !== task.id && !task.depends_on.includes(one.id));
  const unlink = (/** @type {string} */ to) => onChange({ change: "unlink", task: task.id, to });
  const link = (/** @type {any} */ event) => {
    onChange({ change: "link", task: task.id, to: event.target.value });
    event.target.value = "";
  };
  return html`<section class="inspect" aria-label="Task ${task.id}">
    <form class="bar" onSubmit=${rename}><input class="field mono ${wrong ? "wrong" : ""}" style="flex:1" aria-label="Id of the task" disabled=${!editable} value=${id} onInput=${(/** @type {any} */ event) => setId(event.target.value)} /><button type="submit" class="btn small" disabled=${!editable || wrong || id === task.id}>Rename</button>
      <button type="button" class="btn small" disabled=${!editable} onClick=${() => onChange({ change: "add", task: task.id })}><${Icon} name="plus" />Add a task after it</button>
      <button type="button" class="btn small danger" disabled=${!editable} onClick=${() => onChange({ change: "remove", task: task.id })}><${Icon} name="trash" />Remove</button></form>
    ${!editable && html`<p class="muted small">${BY_HAND}</p>`}
    ${taken && html`<div class="note st-failed">Another task has this id.</div>`}
    <div class="chips" role="group" aria-label="Depends on"><span class="muted" style="font-size:13px">Depends on</span>${task.depends_on.map((one) => html`<span class="chip" key=${one}>${one}${editable && html`<button type="button" class="plain" style="padding:0" aria-label="No longer depend on ${one}" onClick=${() => unlink(one)}><${Icon} name="close" /></button>`}</span>`)}
      ${editable && others.length > 0 && html`<select class="chip" aria-label="Depend on another task" value="" onChange=${link}><option value="">+ another…</option>${others.map((one) => html`<option value=${one.id}>${one.id}</option>`)}</select>`}</div></section>`;
}
