// The chosen task of a plan: another id, other dependencies, a task behind it.
import { useEffect, useState } from "../vendor/hooks.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { addTask, relink, removeTask, renameTask } from "./plan_text.js";

/** @param {{ text: string, tasks: import("./plan_text.js").Outlined[], task: import("./plan_text.js").Outlined, onChange: (text: string) => void, onSelect: (id: string | null) => void }} props */
export function Inspector({ text, tasks, task, onChange, onSelect }) {
  const [id, setId] = useState(task.id);
  useEffect(() => setId(task.id), [task.id]);
  const taken = id !== task.id && tasks.some((one) => one.id === id);
  const wrong = !/^[\w-]{1,64}$/.test(id) || taken;
  const rename = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (wrong || id === task.id) return;
    onChange(renameTask(text, task.id, id));
    onSelect(id);
  };
  const others = tasks.filter((one) => one.id !== task.id && !task.depends_on.includes(one.id));
  const next = () => {
    const added = addTask(text, [task.id]);
    onChange(added.text);
    onSelect(added.id);
  };
  return html`<section class="inspect" aria-label="Task ${task.id}">
    <form class="bar" onSubmit=${rename}><input class="field mono ${wrong ? "wrong" : ""}" style="flex:1" aria-label="Id of the task" value=${id} onInput=${(/** @type {any} */ event) => setId(event.target.value)} /><button type="submit" class="btn small" disabled=${wrong || id === task.id}>Rename</button>
      <button type="button" class="btn small" onClick=${next}><${Icon} name="plus" />Task behind it</button>
      <button type="button" class="btn small danger" onClick=${() => { onChange(removeTask(text, task.id)); onSelect(null); }}><${Icon} name="trash" />Remove</button></form>
    ${taken && html`<div class="note st-failed">Another task has this id.</div>`}
    <div class="chips" role="group" aria-label="Depends on"><span class="muted" style="font-size:13px">Depends on</span>${task.depends_on.map((one) => html`<span class="chip" key=${one}>${one}<button type="button" class="plain" style="padding:0" aria-label="No longer depend on ${one}" onClick=${() => onChange(relink(text, task.id, task.depends_on.filter((other) => other !== one)))}><${Icon} name="close" /></button></span>`)}
      ${others.length > 0 && html`<select class="chip" aria-label="Depend on another task" value="" onChange=${(/** @type {any} */ event) => { onChange(relink(text, task.id, [...task.depends_on, event.target.value])); event.target.value = ""; }}><option value="">+ another…</option>${others.map((one) => html`<option value=${one.id}>${one.id}</option>`)}</select>`}</div></section>`;
}
