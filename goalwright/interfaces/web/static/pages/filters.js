// The filters of the list of runs, kept in the address, so that a view can be shared.
import { useEffect, useState } from "../vendor/hooks.js";
import { get } from "../core/api.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { setQuery } from "../core/router.js";

/** The filters: name in the address, label, example, and the list of `/statistics` with suggestions. */
const FIELDS = [
  ["skill", "Skill", "", "skills", "name"], ["model", "Model", "", "models", "model"], ["tag", "Tag", "", "tags", "tag"],
  ["since", "Started since", "7d or 2026-11-01"], ["until", "Started before", "2026-12-01"],
  ["min_cost", "Cost from, in $", "0.01"], ["max_cost", "Cost up to, in $", "1"],
  ["min_seconds", "Seconds from", "10"], ["max_seconds", "Seconds up to", "600"], ["code", "Error", "BUDGET_SPENT"],
];
/** The names of all filters in the address. */
export const NAMES = ["q", "status", "batch", ...FIELDS.map(([name]) => name)];

/** The filters set in the address. @param {URLSearchParams} query @returns {Record<string, string>} */
export const wanted = (query) => Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""]).filter(([, value]) => value));

/** Whether the page can match runs without the server. @param {Record<string, string>} asked */
export const isPlain = (asked) => Object.keys(asked).every((name) => name === "status" || name === "batch");

/** Whether a run matches the filters that the page can check. @param {Record<string, string>} asked @param {Record<string, any>} line */
export const fits = (asked, line) => (!asked.status || asked.status.split(",").includes(line.status)) && (!asked.batch || line.batch === asked.batch);

/** The active filters, each with a button to remove it. @param {{ asked: Record<string, string> }} props */
export const Chosen = ({ asked }) => html`${FIELDS.filter(([name]) => asked[name]).map(([name, title]) => html`<button type="button" class="chip" key=${name} aria-pressed="true" onClick=${() => setQuery({ [name]: null })}><span class="cut">${title}: ${asked[name]}</span><${Icon} name="close" title="Remove this filter" /></button>`)}`;

/** A field that keeps its text while the page updates. @param {{ name: string, example: string, list?: string, value: string }} props */
function Field({ name, example, list, value }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return html`<input class="field" value=${text} placeholder=${example} list=${list} autocomplete="off" onInput=${(/** @type {any} */ event) => setText(event.target.value)} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value.trim() })} />`;
}

/** The fields of all filters. @param {{ asked: Record<string, string> }} props */
export function Filters({ asked }) {
  const [known, setKnown] = useState(/** @type {any} */ (null));
  useEffect(() => {
    get("/statistics?days=90").then(setKnown, () => {}); // suggestions only
  }, []);
  return html`<div class="filters" role="group" aria-label="Filters">${FIELDS.map(([name, title, example, list, field]) => html`<label key=${name}><span>${title}</span>
    <${Field} name=${name} example=${example} list=${list ? `known-${name}` : undefined} value=${asked[name] ?? ""} />
    ${list && html`<datalist id="known-${name}">${(known?.[list] ?? []).map((/** @type {any} */ one) => html`<option value=${one[field]} />`)}</datalist>`}</label>`)}</div>`;
}
