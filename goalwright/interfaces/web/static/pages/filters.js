// What the list of runs is narrowed by: in the address, so that a view can be kept and sent to others.
import { useEffect, useState } from "../vendor/hooks.js";
import { get } from "../core/api.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { setQuery } from "../core/router.js";

/** Each filter of the address, what it is called, an example of it, and the list of `/statistics` that names some values. */
const FIELDS = [
  ["skill", "Skill", "", "skills", "name"], ["model", "Model", "", "models", "model"], ["tag", "Tag", "", "tags", "tag"],
  ["since", "Started since", "7d or 2026-11-01"], ["until", "Started before", "2026-12-01"],
  ["min_cost", "Cost from, in $", "0.01"], ["max_cost", "Cost up to, in $", "1"],
  ["min_seconds", "Seconds from", "10"], ["max_seconds", "Seconds up to", "600"], ["code", "Error", "BUDGET_SPENT"],
];
/** All that narrows the list, by its name in the address. */
export const NAMES = ["q", "status", "batch", ...FIELDS.map(([name]) => name)];

/** What the address asks for, by name; what it does not ask for is left out. @param {URLSearchParams} query @returns {Record<string, string>} */
export const wanted = (query) => Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""]).filter(([, value]) => value));

/** Whether a line can be told to fit without asking the server. @param {Record<string, string>} asked */
export const isPlain = (asked) => Object.keys(asked).every((name) => name === "status" || name === "batch");

/** Whether a line fits what is plain to see. @param {Record<string, string>} asked @param {Record<string, any>} line */
export const fits = (asked, line) => (!asked.status || asked.status.split(",").includes(line.status)) && (!asked.batch || line.batch === asked.batch);

/** The filters in force, each to be taken away. @param {{ asked: Record<string, string> }} props */
export const Chosen = ({ asked }) => html`${FIELDS.filter(([name]) => asked[name]).map(([name, title]) => html`<button type="button" class="chip" key=${name} aria-pressed="true" onClick=${() => setQuery({ [name]: null })}><span class="cut">${title}: ${asked[name]}</span><${Icon} name="close" title="Take this filter away" /></button>`)}`;

/** A field whose text stays while it is typed, whatever the page reads meanwhile. @param {{ name: string, example: string, list?: string, value: string }} props */
function Field({ name, example, list, value }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return html`<input class="field" value=${text} placeholder=${example} list=${list} autocomplete="off" onInput=${(/** @type {any} */ event) => setText(event.target.value)} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value.trim() })} />`;
}

/** The fields of all filters. @param {{ asked: Record<string, string> }} props */
export function Filters({ asked }) {
  const [known, setKnown] = useState(/** @type {any} */ (null));
  useEffect(() => {
    get("/statistics?days=90").then(setKnown, () => {}); // it only offers values
  }, []);
  return html`<div class="filters" role="group" aria-label="Filters">${FIELDS.map(([name, title, example, list, field]) => html`<label key=${name}><span>${title}</span>
    <${Field} name=${name} example=${example} list=${list ? `known-${name}` : undefined} value=${asked[name] ?? ""} />
    ${list && html`<datalist id="known-${name}">${(known?.[list] ?? []).map((/** @type {any} */ one) => html`<option value=${one[field]} />`)}</datalist>`}</label>`)}</div>`;
}
