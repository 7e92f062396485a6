// Chooses skills that a goal uses in addition to the selected ones.
import { useEffect, useState } from "../vendor/hooks.js";
import { attempt } from "../core/announce.js";
import { get } from "../core/api.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { change, draft } from "./draft.js";

export function SkillPicker() {
  const [known, setKnown] = useState(/** @type {any[]} */ ([]));
  const [text, setText] = useState("");
  useEffect(() => void attempt(async () => setKnown(await get("/skills"))), []);
  const { skills } = draft.value;
  const add = (/** @type {string} */ name) => {
    if (!known.some((one) => one.name === name) || skills.includes(name)) return;
    change({ skills: [...skills, name] });
    setText("");
  };
  useEffect(() => add(text.trim()), [known]); // a name typed before the list was loaded
  return html`<label>Skills to use in any case<input class="field" list="skills" placeholder="Type a name" value=${text} onInput=${(/** @type {any} */ event) => { setText(event.target.value); add(event.target.value); }} onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") { event.preventDefault(); add(text.trim()); } }} /></label>
    <datalist id="skills">${known.filter((one) => one.kind === "context").map((one) => html`<option value=${one.name}>${one.description}</option>`)}</datalist>
    ${skills.length > 0 && html`<div class="chips">${skills.map((name) => html`<span class="chip" key=${name}>${name}<button type="button" class="plain" style="padding:0" aria-label="Leave out ${name}" onClick=${() => change({ skills: skills.filter((one) => one !== name) })}><${Icon} name="close" /></button></span>`)}</div>`}`;
}
