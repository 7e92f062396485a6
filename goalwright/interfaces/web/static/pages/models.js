// The model in use and the reason, API keys by name, local models and downloads, and the default.
import { useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { ask, stream } from "../core/api.js";
import { Problem } from "../core/empty.js";
import { bytes, count } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Pill, StateIcon } from "../core/icons.js";
import { Page } from "../core/page.js";
import { useRead } from "../core/use_read.js";

const STAGES = /** @type {Record<string, string>} */ ({ waiting: "Waiting", source: "Looking for a source", download: "Downloading", check: "Checking", failed: "Failed", done: "Done" });

export function Models() {
  const [checked, setChecked] = useState(false);
  const { value, error, again } = useRead(`/models${checked ? "?check=1" : ""}`);
  const readOnly = about.value?.read_only ?? false;
  const actions = html`<button type="button" class="btn" disabled=${checked && !value} onClick=${() => (checked ? again() : setChecked(true))}><${Icon} name="doctor" />${checked && !value ? "Checking…" : "Check it"}</button>`;
  return html`<${Page} title="Models" actions=${actions}>${error ? html`<${Problem} error=${error} />` : !value ? html`<p class="loading">Looking…</p>` : html`<div class="narrow stack">
    <section class="panel" aria-label="The model in use"><div class="pad"><div class="bar" style="margin-bottom:8px"><h2>${value.model ? html`<span class="mono">${value.model}</span>` : "No model yet"}</h2>${value.model && html`<${Pill} status=${value.problem ? "failed" : value.missing ? "pending" : "done"} word=${value.problem ? "Does not work" : value.missing ? "Not here yet" : checked ? "Works" : "In use"} />`}</div>
      ${value.missing && html`<div class="note st-partial"><b>It has to be pulled once before it answers.</b><div class="hint">Pull the default below, or set one of the keys below and start <code>goalwright serve</code> again.</div></div>`}
      ${value.problem && html`<div class="note st-failed"><b>${value.problem.what}</b><div class="hint">${value.problem.remedy}</div></div>`}
      ${value.hint && html`<pre class="raw">${value.hint}</pre>`}
      <h3 class="sec">How it was chosen</h3><ol class="chain">${value.chain.map((/** @type {any} */ link) => html`<li class=${link.model ? "found" : ""}><${StateIcon} status=${link.model ? "done" : "unneeded"} /><b>${link.name}</b><span class="muted">${link.found}</span></li>`)}</ol></div></section>
    ${!readOnly && html`<${Default} value=${value} onDone=${again} />`}
    <${Local} value=${value} readOnly=${readOnly} onDone=${again} />
    <section aria-label="Keys"><h2 class="sec">Keys</h2><p class="muted lead">Read from the environment that the server was started with. Their values are never shown.</p><div class="chips">${value.keys.map((/** @type {any} */ key) => html`<span class="tag ${key.set ? "good" : ""}" key=${key.name}>${key.name}${key.set ? " · set" : ""}</span>`)}</div></section></div>`}</${Page}>`;
}

/** @param {{ value: any, onDone: () => void }} props */
function Default({ value, onDone }) {
  const [model, setModel] = useState(value.configured ?? "");
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const done = await attempt(async () => (await ask("/settings/model", { method: "PUT", json: { model } })).json());
    if (!done) return;
    note(`The default is ${done.model}`, { hint: `Kept in ${done.file}` });
    onDone();
  };
  return html`<section aria-label="Default model"><h2 class="sec">Default</h2><form class="bar" onSubmit=${save}><input class="field mono" aria-label="Default model" placeholder="provider/model, for example anthropic/claude-sonnet-4-5" value=${model} style="flex:1" onInput=${(/** @type {any} */ event) => setModel(event.target.value)} />
    <button type="submit" class="btn" disabled=${!model.trim() || model.trim() === value.configured}>Set as default</button></form></section>`;
}

/** @param {{ value: any, readOnly: boolean, onDone: () => void }} props */
function Local({ value, readOnly, onDone }) {
  const [pulling, setPulling] = useState(/** @type {{ name: string, progress: any } | null} */ (null));
  const pull = (/** @type {string} */ name) => attempt(async () => {
    setPulling({ name, progress: null });
    try {
      for await (const event of stream("/models/pull", { name })) {
        if (event.type === "progress") setPulling({ name, progress: event.data });
        else if (event.type === "error") note(event.data.error.message, { hint: event.data.error.hint, bad: true });
        else if (event.type === "done") note(`${event.data.name} is ready`, { hint: bytes(event.data.bytes) });
      }
    } finally {
      setPulling(null);
      onDone();
    }
  });
  if (!value.local_installed) return html`<section aria-label="Local models"><h2 class="sec">On this machine</h2><div class="note">Models can also run on this machine, without a key and without a network: install <code>goalwright[local]</code>.</div></section>`;
  return html`<section aria-label="Local models"><h2 class="sec">On this machine</h2><div class="tablebox"><table class="list"><thead><tr><th>Model</th><th class="r">Size</th><th class="r opt">Context</th><th class="opt">Licence</th><th class="r"><span class="sr">Action</span></th></tr></thead><tbody>${value.local.map((/** @type {any} */ one) => html`<tr key=${one.name}><td><b>${one.title}</b>${one.default && html` <span class="tag">default</span>`}<small class="sub mono">local/${one.name}</small>${one.note && html`<small class="sub">${one.note}</small>`}</td><td class="r">${bytes(one.bytes)}</td><td class="r opt">${count(one.context)}</td><td class="opt muted">${one.licence}</td>
    <td class="r">${pulling?.name === one.name ? html`<${Pulling} progress=${pulling?.progress} />` : one.installed ? html`<${Pill} status="done" word="Installed" />` : readOnly ? "" : html`<button type="button" class="btn small" disabled=${pulling !== null} onClick=${() => pull(one.name)}><${Icon} name="download" />Pull</button>`}</td></tr>`)}</tbody></table></div></section>`;
}

/** @param {{ progress: any }} props */
const Pulling = ({ progress }) => html`<span class="pulling" role="status">${progress?.total ? html`<progress aria-label="Download" max=${progress.total} value=${progress.done}></progress><small class="num">${bytes(progress.done)} of ${bytes(progress.total)}</small>` : html`<small>${progress?.note || STAGES[progress?.stage] || "Starting…"}</small>`}</span>`;
