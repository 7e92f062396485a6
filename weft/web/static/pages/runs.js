// The list of runs: live, filtered, a page at a time.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { get, part, send } from "../core/api.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Weave } from "../core/icons.js";
import { useKeys } from "../core/keys.js";
import { useChanges } from "../core/lists.js";
import { go, place, setQuery } from "../core/router.js";
import { RunTable } from "./run_table.js";

const FILTERS = [["", "All"], ["running", "Running"], ["waiting", "Asks you"], ["failed,partial", "Failed"], ["interrupted,stopped", "Stopped"], ["done", "Done"]];
const PAGE = 50;

/** @typedef {Record<string, any>} Line */

/** Put changed lines into a list: new ones on top, gone ones out. @param {Line[]} lines @param {Line[]} changed @param {string[]} gone @param {(line: Line) => boolean} fits */
export function merged(lines, changed, gone, fits) {
  const now = new Map(changed.map((line) => [line.run_id, line]));
  const known = new Set(lines.map((line) => line.run_id));
  const fresh = changed.filter((line) => !known.has(line.run_id) && fits(line)).sort((a, b) => (a.run_id < b.run_id ? 1 : -1));
  return [...fresh, ...lines.filter((line) => !gone.includes(line.run_id)).map((line) => now.get(line.run_id) ?? line).filter(fits)];
}

export function Runs() {
  const { query } = place.value;
  const status = query.get("status") ?? "", text = query.get("q") ?? "", batch = query.get("batch") ?? "";
  const [lines, setLines] = useState(/** @type {Line[] | null} */ (null));
  const [next, setNext] = useState(/** @type {string | null} */ (null));
  const [marked, setMarked] = useState(/** @type {string[]} */ ([]));
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  const readOnly = about.value?.read_only ?? false;
  const fits = (/** @type {Line} */ line) => (!status || status.split(",").includes(line.status)) && (!batch || line.batch === batch)
    && (!text || `${line.goal} ${line.run_id} ${line.skills.join(" ")}`.toLowerCase().includes(text.toLowerCase()));
  const ask = (/** @type {string} */ before) => get(`/runs?${new URLSearchParams({ status, q: text, batch, before, most: String(PAGE) })}`);
  const read = () => attempt(async () => {
    const page = await ask("");
    setLines(page.runs);
    setNext(page.next);
  });
  const more = () => attempt(async () => {
    const page = await ask(next ?? "");
    setLines([...(lines ?? []), ...page.runs]);
    setNext(page.next);
  });
  useEffect(() => {
    const timer = setTimeout(read, lines ? 150 : 0);
    return () => clearTimeout(timer);
  }, [status, text, batch]);
  const current = useRef({ lines, fits });
  current.current = { lines, fits };
  useChanges({ runs: (changed, gone) => setLines(merged(current.current.lines ?? [], changed, gone, current.current.fits)), again: read });
  useKeys({ "/": () => search.current?.focus() });
  const mark = (/** @type {string} */ id) => setMarked(marked.includes(id) ? marked.filter((one) => one !== id) : [...marked, id].slice(-2));
  const filtered = status || text || batch;
  return html`<main id="main"><header class="top"><div class="title"><h1>Runs</h1><div class="actions">
      ${marked.length > 0 && html`<a class="btn" href=${marked.length === 2 ? `/compare?a=${part(marked[1])}&b=${part(marked[0])}` : `/compare?a=${part(marked[0])}`}><${Icon} name="compare" />${marked.length === 2 ? "Compare the two" : "Compare with…"}</a>`}
      ${!readOnly && html`<${ImportButton} onDone=${read} />`}${!readOnly && html`<a class="btn primary" href="/new"><${Icon} name="plus" />New goal</a>`}</div></div></header>
    <div class="page">
      <div class="bar"><div class="searchbox"><${Icon} name="search" /><input class="field" type="search" ref=${search} placeholder="Search goals, skills and run ids" aria-label="Search runs" value=${text} onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value }, { replace: true })} /></div>
        <div class="chips" role="group" aria-label="Status">${FILTERS.map(([value, name]) => html`<button type="button" class="chip" key=${name} aria-pressed=${status === value ? "true" : "false"} onClick=${() => setQuery({ status: value }, { replace: true })}>${name}</button>`)}</div>
        ${batch && html`<button type="button" class="chip" aria-pressed="true" onClick=${() => setQuery({ batch: null })}>Batch ${batch}<${Icon} name="close" title="Show all batches" /></button>`}</div>
      ${lines === null ? html`<p class="loading">Reading…</p>` : lines.length ? html`<${RunTable} lines=${lines} marked=${marked} onMark=${mark} readOnly=${readOnly} onDeleted=${(/** @type {string} */ id) => setLines(lines.filter((line) => line.run_id !== id))} />`
        : html`<div class="empty"><${Weave} />${filtered ? html`<h2>No run fits</h2><p>Nothing recorded here has this status or these words.</p><button type="button" class="btn" onClick=${() => go("/runs")}>Show all runs</button>`
          : html`<h2>Nothing has been run here yet</h2><p>Give it a goal: it selects the skills that fit, plans the tasks and runs them side by side.</p>${!readOnly && html`<a class="btn primary" href="/new"><${Icon} name="plus" />New goal</a>`}`}</div>`}
      ${next && html`<div class="actions" style="justify-content:center;margin-top:14px"><button type="button" class="btn" onClick=${more}>Show more</button></div>`}</div></main>`;
}

/** @param {{ onDone: () => void }} props */
function ImportButton({ onDone }) {
  const file = useRef(/** @type {HTMLInputElement | null} */ (null));
  const take = async (/** @type {any} */ event) => {
    const [given] = event.target.files;
    event.target.value = "";
    const done = given && (await attempt(() => send("/runs/import", given)));
    if (!done) return;
    note(`Imported ${counted(done.runs.length, "run")}`);
    onDone();
  };
  return html`<input type="file" ref=${file} hidden accept=".jsonl,application/jsonl" onChange=${take} /><button type="button" class="btn" onClick=${() => file.current?.click()}><${Icon} name="upload" />Import…</button>`;
}
