// The list of batches.
import { part } from "../core/api.js";
import { Empty, Problem } from "../core/empty.js";
import { ago, count, money, moment } from "../core/format.js";
import { html } from "../core/html.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { WORDS } from "../core/states.js";
import { useRead } from "../core/use_read.js";

/** @typedef {{ batch: string, goals: number, runs: number, statuses: Record<string, number>, seconds: number, cost_usd: number | null, ended: { runs: number, seconds: number, cost_usd: number | null }, started: string, goal: string, failures?: { kind: string, runs: number, error: string }[] }} Batch */

const ORDER = ["done", "partial", "failed", "waiting", "stopped", "interrupted", "running"];

export function Batches() {
  const { value, error, again } = useRead("/batches");
  useChanges({ runs: again, again });
  return html`<${Page} title="Batches">${error ? html`<${Problem} error=${error} />` : !value ? html`<p class="loading">Reading…</p>` : value.length === 0
    ? html`<${Empty} title="No batch has been run here yet" text=${html`Put one goal on each line of a file and start it with <code>goalwright batch goals.txt -o results.jsonl</code>; it is shown here while it runs.`} />`
    : html`<div class="tablebox"><table class="list batches"><thead><tr><th>Batch</th><th>Progress</th><th class="r">Done</th><th class="r opt">Cost</th><th class="r opt">Started</th></tr></thead><tbody>${value.map((/** @type {Batch} */ batch) => html`<tr key=${batch.batch}>
      <td class="big"><a href="/batches/${part(batch.batch)}">${batch.batch}</a><small class="cut sub">${batch.goal}</small></td><td class="wide"><${Progress} batch=${batch} /></td>
      <td class="r">${count(batch.statuses.done ?? 0)} of ${count(batch.goals)}</td><td class="r opt">${batch.cost_usd === null ? "–" : money(batch.cost_usd)}</td><td class="r opt muted"><time title=${moment(batch.started)}>${ago(batch.started, Date.now())}</time></td></tr>`)}</tbody></table></div>`}</${Page}>`;
}

/** The runs of a batch by status, as one bar. @param {{ batch: Batch }} props */
export function Progress({ batch }) {
  const known = ORDER.filter((status) => batch.statuses[status]);
  const said = known.map((status) => `${count(batch.statuses[status])} ${WORDS[status].toLowerCase()}`).join(", ");
  return html`<span class="progress" role="img" aria-label="${said} of ${count(batch.goals)} goals" title=${said || `none of ${count(batch.goals)} goals has begun`}>${known.map((status) => html`<i class="st-${status}" key=${status} style=${{ width: `${(batch.statuses[status] / batch.goals) * 100}%` }}></i>`)}</span>`;
}
