// The list of runs: live, searched and filtered, a page at a time.
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
import { BatchRuns, hidesBatches, useBatchRuns } from "./batch_runs.js";
import { Chosen, Filters, fits, isPlain, wanted } from "./filters.js";
import { RunTable } from "./run_table.js";
import { useSnippets } from "./snippets.js";
import { changeTags } from "./tagging.js";

const FILTERS = [["", "All"], ["running", "Running"], ["waiting", "Asks you"], ["failed,partial", "Failed"], ["interrupted,stopped", "Stopped"], ["done", "Done"]];
const PAGE = 50;

/** @typedef {Record<string, any>} Line */

/** Merge changed runs into a list: new ones on top, deleted ones removed. @param {Line[]} lines @param {Line[]} changed @param {string[]} gone @param {(line: Line) => boolean} fits */
export function merged(lines, changed, gone, fits) {
  const now = new Map(changed.map((line) => [line.run_id, line]));
  const known = new Set(lines.map((line) => line.run_id));
  const fresh = changed.filter((line) => !known.has(line.run_id) && fits(line)).sort((a, b) => (a.run_id < b.run_id ? 1 : -1));
  return [...fresh, ...lines.filter((line) => !gone.includes(line.run_id)).map((line) => now.get(line.run_id) ?? line).filter(fits)];
}

/** Why the list is empty, by its filters. @param {Record<string, string>} asked */
function nothing({ q, ...filters }) {
  const narrowed = Object.keys(filters).length > 0;
  return `Nothing recorded here ${[q && "has all these words", narrowed && "matches these filters"].filter(Boolean).join(" and ")}.`;
}

export function Runs() {
  const asked = wanted(place.value.query);
  const { status = "", q: text = "", batch = "" } = asked;
  const address = new URLSearchParams(asked).toString();
  const [lines, setLines] = useState(/** @type {Line[] | null} */ (null));
  const [next, setNext] = useState(/** @type {string | null} */ (null));
  const [indexed, setIndexed] = useState(true);
  const [marked, setMarked] = useState(/** @type {string[]} */ ([]));
  const [open, setOpen] = useState(false);
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  const readOnly = about.value?.read_only ?? false;
  const alone = hidesBatches(asked), inBatches = useBatchRuns(asked, lines !== null);
  const current = useRef({ asked, address, alone });
  current.current = { asked, address, alone };
  const ask = (/** @type {string} */ before, most = PAGE) => get(`/runs?${new URLSearchParams({ ...current.current.asked, ...(current.current.alone ? { in_batch: "0" } : {}), before, most: String(most) })}`);
  const shown = useRef(PAGE); // the number requested
  const isOld = () => current.current.address !== address || current.current.alone !== alone; // the search has changed
  const read = () => attempt(async () => {
    const most = shown.current;
    const page = await ask("", most);
    if (isOld()) return;
    if (most < shown.current) return void latest.current(); // more runs were requested meanwhile
    setLines(page.runs);
    setNext(page.next);
    setIndexed(page.indexed ?? true);
  });
  const more = () => attempt(async () => {
    shown.current = (lines?.length ?? 0) + PAGE;
    const page = await ask(next ?? "");
    if (isOld()) return;
    setLines((now) => [...(now ?? []), ...page.runs.filter((/** @type {Line} */ line) => !now?.some((one) => one.run_id === line.run_id))]);
    setNext(page.next);
  });
  useEffect(() => {
    shown.current = PAGE;
    const timer = setTimeout(read, lines ? 150 : 0);
    return () => clearTimeout(timer);
  }, [address, alone]);
  useEffect(() => {
    const timer = indexed ? null : setTimeout(() => latest.current(), 2000); // until all runs are indexed
    return () => void (timer && clearTimeout(timer));
  }, [indexed, lines]);
  const snippets = useSnippets(text, (lines ?? []).map((line) => line.run_id));
  const again = () => {
    shown.current = Math.max(shown.current, lines?.length ?? 0); // include the requested runs
    return read();
  };
  const latest = useRef(again);
  latest.current = again;
  const heard = (/** @type {Line[]} */ changed, /** @type {string[]} */ gone) => {
    const now = current.current;
    inBatches.heard(changed);
    if (isPlain(now.asked)) setLines((known) => merged(known ?? [], changed, gone, (line) => fits(now.asked, line) && !(now.alone && line.batch)));
    else latest.current();
  };
  useChanges({ runs: heard, again: () => latest.current() });
  useKeys({ "/": () => search.current?.focus() });
  const mark = (/** @type {string} */ id) => setMarked(marked.includes(id) ? marked.filter((one) => one !== id) : [...marked, id].slice(-2));
  const filtered = address !== "";
  const tag = async (/** @type {Line} */ line) => {
    const done = await changeTags(/** @type {any} */ (line));
    if (done) setLines((now) => now && now.map((one) => (one.run_id === line.run_id ? { ...one, ...done } : one)));
  };
  return html`<main id="main"><header class="top"><div class="title"><h1>Runs</h1><div class="actions">
      ${marked.length > 0 && html`<a class="btn" href=${marked.length === 2 ? `/compare?a=${part(marked[1])}&b=${part(marked[0])}` : `/compare?a=${part(marked[0])}`}><${Icon} name="compare" />${marked.length === 2 ? "Compare the two" : "Compare with…"}</a>`}
      ${!readOnly && html`<${ImportButton} onDone=${again} />`}${!readOnly && html`<a class="btn primary" href="/new"><${Icon} name="plus" />New goal</a>`}</div></div></header>
    <div class="page">
      <div class="bar"><div class="searchbox"><${Icon} name="search" /><input class="field" type="search" ref=${search} placeholder="Words of goals, answers, task titles, errors, skills, tags or notes" aria-label="Search runs" value=${text} onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value }, { replace: true })} /></div>
        <div class="chips" role="group" aria-label="Status">${FILTERS.map(([value, name]) => html`<button type="button" class="chip" key=${name} aria-pressed=${status === value ? "true" : "false"} onClick=${() => setQuery({ status: value }, { replace: true })}>${name}</button>`)}</div>
        <button type="button" class="chip" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}><${Icon} name="settings" />Filters</button>
        ${batch && html`<button type="button" class="chip" aria-pressed="true" onClick=${() => setQuery({ batch: null })}>Batch ${batch}<${Icon} name="close" title="Show all batches" /></button>`}<${Chosen} asked=${asked} /></div>
      ${open && html`<${Filters} asked=${asked} />`}
      ${!indexed && html`<div class="note"><b>Some runs are still being read</b><div>Until then they are found by goal, skill, tag and note only; this takes a moment after an update.</div></div>`}
      <${BatchRuns} batches=${inBatches.batches} runs=${inBatches.runs} />
      ${lines === null ? html`<p class="loading">Reading…</p>` : lines.length ? html`<${RunTable} lines=${lines} snippets=${snippets} marked=${marked} onMark=${mark} onTag=${readOnly ? null : tag} readOnly=${readOnly} onDeleted=${(/** @type {string} */ id) => setLines(lines.filter((line) => line.run_id !== id))} />`
        : html`<div class="empty"><${Weave} />${filtered ? html`<h2>No run matches</h2><p>${nothing(asked)}</p><button type="button" class="btn" onClick=${() => go("/runs")}>Show all runs</button>`
          : inBatches.runs ? html`<h2>All runs here belong to batches</h2><p>They are hidden in this list.</p><a class="btn" href="/batches">Batches</a>`
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
