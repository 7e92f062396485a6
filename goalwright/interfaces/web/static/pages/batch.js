// One batch: progress, cost, time left, failures, and its runs.
import { useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { get, part, post } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { confirm } from "../core/dialog.js";
import { Problem } from "../core/empty.js";
import { ago, count, counted, money, moment, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { place, setQuery } from "../core/router.js";
import { WORDS } from "../core/states.js";
import { useRead } from "../core/use_read.js";
import { Progress } from "./batches.js";
import { left, resumedHere, resumeFailed } from "./retrying.js";
import { RunTable } from "./run_table.js";

const AGAIN = "goalwright batch GOALS -o RESULTS --resume --retry-errors";

/** Seconds until all goals have ended, by what ended since it started; null if that cannot be told. @param {import("./batches.js").Batch} batch @param {number} now in milliseconds */
export function timeLeft(batch, now) {
  const running = batch.statuses.running ?? 0;
  const ended = batch.ended.runs;
  if (!running || !ended) return null;
  return ((now - Date.parse(batch.started)) / 1000 / ended) * (batch.goals - ended);
}

const rate = (/** @type {number} */ value) => (value < 10 ? value.toFixed(1) : count(Math.round(value)));

/** @param {{ id: string }} props */
export function BatchPage({ id }) {
  const { value: batch, error, again } = useRead(`/batches/${part(id)}`);
  const status = place.value.query.get("status") ?? "";
  const runs = useRead(`/runs?${new URLSearchParams({ batch: id, status, most: "100" })}`);
  const [more, setMore] = useState(/** @type {{ of: any, lines: any[], next: string | null } | null} */ (null));
  const refresh = () => {
    again();
    runs.again();
  };
  useChanges({ runs: (changed, gone) => void ((gone.length || changed.some((one) => one.batch === id)) && refresh()), again: refresh });
  const readOnly = about.value?.read_only ?? false;
  const stop = async () => {
    const sure = await confirm({ title: "Stop this batch?", text: "No further goal starts, and running ones are interrupted. Finished goals are kept; the batch can be resumed.", yes: "Stop", danger: true });
    if (sure && (await attempt(() => post(`/batches/${part(id)}/stop`)))) note("Asked to stop", { hint: "Its process notices within two seconds or so." });
  };
  const failed = ["failed", "partial", "stopped", "interrupted"].reduce((sum, name) => sum + (batch?.statuses[name] ?? 0), 0);
  const resume = async () => {
    const sure = await confirm({ title: `Resume ${counted(failed, "run")}?`, text: html`Each continues here, in this server, from where it ended; no finished call is paid for again. Keep this page open until all have started. Their answers are in the runs: the results file belongs to <code>goalwright batch</code>, and the command on this page writes them there, without paying again.`, yes: "Resume" });
    if (sure) await attempt(() => resumeFailed(id));
  };
  const extra = more && more.of === runs.value ? more : null;
  const next = extra ? extra.next : runs.value?.next;
  const load = () => attempt(async () => {
    const found = await get(`/runs?${new URLSearchParams({ batch: id, status, most: "100", before: next ?? "" })}`);
    setMore({ of: runs.value, lines: [...(extra?.lines ?? []), ...found.runs], next: found.next });
  });
  const crumbs = html`<a href="/batches">Batches</a><span>/</span><span class="cut">${id}</span>`;
  if (error) return html`<${Page} title=${id} crumbs=${crumbs}><${Problem} error=${error} /></${Page}>`;
  const live = (batch?.statuses.running ?? 0) > 0;
  return html`<${Page} title=${id} crumbs=${crumbs} actions=${!readOnly && html`${failed > 0 && !live && html`<button type="button" class="btn" disabled=${left.value > 0} onClick=${resume}><${Icon} name="replay" />${left.value ? `${left.value} left…` : "Resume what is not done…"}</button>`}
    ${live && html`<button type="button" class="btn danger" onClick=${stop}><${Icon} name="stop" />Stop</button>`}`} facts=${batch && html`<${Facts} batch=${batch} live=${live} />`}>
    ${batch && html`<div class="stack"><${Progress} batch=${batch} /><${Failures} batch=${batch} />${!live && html`<${Again} batch=${batch} />`}
      <div class="bar" style="margin:0"><div class="chips" role="group" aria-label="Status"><button type="button" class="chip" aria-pressed=${status === "" ? "true" : "false"} onClick=${() => setQuery({ status: null }, { replace: true })}>All ${count(batch.runs)}</button>${Object.entries(batch.statuses).map(([name, number]) => html`<button type="button" class="chip" key=${name} aria-pressed=${status === name ? "true" : "false"} onClick=${() => setQuery({ status: name }, { replace: true })}>${WORDS[name] ?? name} ${count(Number(number))}</button>`)}</div></div>
      ${runs.value && html`<${RunTable} lines=${[...runs.value.runs, ...(extra?.lines ?? [])]} readOnly=${readOnly} onDeleted=${refresh} />`}
      ${next && html`<div class="actions" style="justify-content:center"><button type="button" class="btn" onClick=${load}>Show more</button></div>`}</div>`}</${Page}>`;
}

/** @param {{ batch: import("./batches.js").Batch, live: boolean }} props */
function Facts({ batch, live }) {
  const left = timeLeft(batch, Date.now());
  const { runs: ended, seconds: worked, cost_usd: cost } = batch.ended;
  return html`<span class="fact"><b>${count(ended)}</b> of ${counted(batch.goals, "goal")} ended</span><span class="fact"><b>${count(batch.statuses.done ?? 0)}</b> done</span><span class="fact"><b>${batch.cost_usd === null ? "–" : money(batch.cost_usd)}</b>${ended > 0 && cost ? ` (${money(cost / ended)} a goal)` : ""}</span>
    ${ended > 0 && html`<span class="fact"><b>${seconds(worked / ended)}</b> of work a goal</span>`}${live && ended > 0 && html`<span class="fact"><b>${rate(ended / ((Date.now() - Date.parse(batch.started)) / 60_000))}</b> goals a minute</span>`}${live && left !== null && html`<span class="fact">about <b>${seconds(left)}</b> left</span>`}<span class="fact">started <b title=${moment(batch.started)}>${ago(batch.started, Date.now())}</b></span>`;
}

/** @param {{ batch: import("./batches.js").Batch }} props */
const Failures = ({ batch }) => (batch.failures?.length ? html`<section aria-label="Failures"><h2 class="sec">Failures by kind</h2><div class="panel"><div class="pad">${batch.failures.map((one) => html`<div class="failure" key=${one.kind}><b class="num">${count(one.runs)}</b><span class="mono">${one.kind}</span><span class="muted">${one.error ?? ""}</span></div>`)}</div></div></section>` : null);

/** The command that continues a batch; nothing where all goals are done, and none of them was resumed here. @param {{ batch: import("./batches.js").Batch }} props */
function Again({ batch }) {
  const waits = batch.goals - batch.runs;
  if (waits <= 0 && (batch.statuses.done ?? 0) === batch.runs && !resumedHere.value.has(batch.batch)) return null;
  return html`<section aria-label="In a terminal"><p class="muted again">${waits > 0 && html`<b>${counted(waits, "goal has", "goals have")} not begun.</b> `}To run what is not done in a terminal, or to write into the results file what was resumed here: <code>${AGAIN}</code> <button type="button" class="btn small" onClick=${() => copy(AGAIN, "Copied; put in the files of your batch")}><${Icon} name="copy" />Copy</button></p></section>`;
}
