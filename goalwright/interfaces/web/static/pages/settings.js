// The settings with values and origins, and the findings of `goalwright doctor` with remedies to copy.
import { useState } from "../vendor/hooks.js";
import { copy } from "../core/clipboard.js";
import { Problem } from "../core/empty.js";
import { counted, pretty } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Pill } from "../core/icons.js";
import { Page } from "../core/page.js";
import { useRead } from "../core/use_read.js";

const TABS = [["/settings", "Settings"], ["/doctor", "Doctor"]];

/** @param {{ now: string }} props */
const Switch = ({ now }) => html`<span class="seg" role="group" aria-label="View">${TABS.map(([href, name]) => html`<a key=${href} href=${href} aria-current=${href === now ? "page" : undefined}>${name}</a>`)}</span>`;

export function Settings() {
  const { value, error } = useRead("/settings");
  const [text, setText] = useState("");
  const [changed, setChanged] = useState(false);
  const rows = (value?.settings ?? []).filter((/** @type {any} */ one) => (!changed || one.origin !== "default") && `${one.name} ${one.help}`.toLowerCase().includes(text.toLowerCase()));
  return html`<${Page} title="Settings" actions=${html`<${Switch} now="/settings" />`}>${error ? html`<${Problem} error=${error} />` : !value ? html`<p class="loading">Reading…</p>` : html`
    ${value.warnings.map((/** @type {string} */ warning) => html`<div class="note st-partial">${warning}</div>`)}
    <div class="bar"><div class="searchbox"><${Icon} name="search" /><input class="field" type="search" aria-label="Search settings" placeholder="Search settings" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /></div>
      <div class="chips"><button type="button" class="chip" aria-pressed=${changed ? "true" : "false"} onClick=${() => setChanged(!changed)}>Only changed settings</button></div></div>
    <p class="muted lead">They are set in ${value.files.length ? value.files.map((/** @type {string} */ file, /** @type {number} */ at) => html`${at ? ", " : ""}<code>${file}</code>`) : html`<code>${value.user_config}</code> (not there yet)`}, by environment variables, or for one run by flags; this page only shows them.${value.trusted ? "" : " Guarded settings of this workspace are not read until you trust it."}</p>
    ${rows.length ? html`<div class="tablebox"><table class="list settings"><thead><tr><th>Setting</th><th>Value</th><th>From</th></tr></thead><tbody>${rows.map((/** @type {any} */ one) => html`<tr key=${one.name}><td><span class="mono">${one.name}</span>${one.guarded && html` <span class="tag" title="Not read from a workspace that you do not trust">guarded</span>`}<small class="sub">${one.help}</small></td><td class="mono value">${one.name === "model" && !one.value && value.model ? html`${value.model} <small class="sub">not set: <a href="/models">why this one</a></small>` : one.value === null || one.value === "" || one.value?.length === 0 ? html`<span class="muted">–</span>` : pretty(one.value)}</td><td class="muted origin">${one.origin === "default" ? "default" : html`<b>${one.origin}</b>`}</td></tr>`)}</tbody></table></div>` : html`<p class="loading">No setting fits.</p>`}`}</${Page}>`;
}

export function Doctor() {
  const { value, error, again } = useRead("/doctor");
  const failed = (value ?? []).filter((/** @type {any} */ one) => one.ok === false);
  return html`<${Page} title="Doctor" actions=${html`<${Switch} now="/doctor" /><button type="button" class="btn" disabled=${!value} onClick=${again}>Check again</button>`}>${error ? html`<${Problem} error=${error} />` : !value ? html`<p class="loading">Checking models, tools, sandboxes and stores…</p>` : html`<div class="narrow stack">
    <div class="note ${failed.length ? "st-failed" : "st-done"}"><b>${failed.length ? `${counted(failed.length, "thing")} to fix` : "All checks passed"}</b></div>
    ${failed.length > 0 && html`<${Findings} rows=${failed} />`}<${Findings} rows=${value.filter((/** @type {any} */ one) => one.ok !== false)} /></div>`}</${Page}>`;
}

/** @param {{ rows: any[] }} props */
const Findings = ({ rows }) => html`<div class="panel findings">${rows.map((one) => html`<div class="finding"><${Pill} status=${one.ok === false ? "failed" : one.ok ? "done" : "unneeded"} word=${one.ok === false ? "Fix" : one.ok ? "OK" : "Note"} /><div><b>${one.topic}</b><div class="said">${one.found}</div>
  ${one.remedy && html`<div class="remedy"><code>${one.remedy}</code><button type="button" class="btn small" onClick=${() => copy(one.remedy)}><${Icon} name="copy" />Copy</button></div>`}</div></div>`)}</div>`;
