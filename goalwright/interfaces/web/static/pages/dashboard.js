// Statistics of all runs by day: number, cost, failures, duration, skills.
import { Empty, Problem } from "../core/empty.js";
import { count, counted, money, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Pill } from "../core/icons.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { place, setQuery } from "../core/router.js";
import { WORDS, runWord } from "../core/states.js";
import { useRead } from "../core/use_read.js";

const PERIODS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["366", "A year"]];
const ORDER = ["done", "waiting", "running", "partial", "failed", "stopped", "interrupted"];

/** @typedef {Record<string, any>} Figures */

/** The next day, in the format of the records. @param {string} day */
export const dayAfter = (day) => new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

/** The cost of runs, with a note if some prices are unknown. @param {Figures} one */
const cost = (one) => (one.unpriced ? html`<span title="without ${counted(one.unpriced, "run")} of unknown price">${one.unpriced === one.runs ? money(null) : `${money(one.cost_usd)}?`}</span>` : money(one.cost_usd));

/** The runs of a view, as a link. @param {Record<string, string>} query */
const runs = (query) => `/runs?${new URLSearchParams(query)}`;

export function Dashboard() {
  const days = PERIODS.some(([id]) => id === place.value.query.get("days")) ? place.value.query.get("days") ?? "30" : "30";
  const { value, error, again } = useRead(`/statistics?days=${days}`);
  useChanges({ runs: again, again });
  const actions = html`<div class="chips" role="group" aria-label="Period">${PERIODS.map(([id, name]) => html`<button type="button" class="chip" key=${id} aria-pressed=${days === id ? "true" : "false"} onClick=${() => setQuery({ days: id === "30" ? null : id }, { replace: true })}>${name}</button>`)}</div>`;
  return html`<${Page} title="Dashboard" actions=${actions}>${error ? html`<${Problem} error=${error} />` : !value ? html`<p class="loading">Reading…</p>` : value.total.runs === 0
    ? html`<${Empty} title="Nothing was run in this time" text="Runs of every process are counted here as they end."><a class="btn" href="/runs">All runs</a></${Empty}>`
    : html`<${Shown} figures=${value} />`}</${Page}>`;
}

/** @param {{ figures: Figures }} props */
function Shown({ figures }) {
  const { total, days } = figures;
  const share = total.runs ? Math.round((total.failures / total.runs) * 100) : 0;
  return html`${!figures.indexed && html`<div class="note"><b>Some runs are still being read</b><div>Skills are counted for the other runs; this takes a moment after an update.</div></div>`}
    <div class="measures">
      <${Measure} name="Runs" figure=${count(total.runs)} more=${`${count(total.statuses.done ?? 0)} done`}><${Bars} days=${days} of=${(/** @type {Figures} */ one) => one.runs} said=${(/** @type {Figures} */ one) => counted(one.runs, "run")} /></${Measure}>
      <${Measure} name="Not all done" figure=${count(total.failures)} more=${`${share} % of all`}><${Bars} days=${days} state="failed" of=${(/** @type {Figures} */ one) => one.failures} said=${(/** @type {Figures} */ one) => `${count(one.failures)} not all done`} /></${Measure}>
      <${Measure} name="Cost" figure=${money(total.cost_usd)} more=${total.unpriced ? `without ${counted(total.unpriced, "run")} of unknown price` : "all prices known"}><${Bars} days=${days} of=${(/** @type {Figures} */ one) => one.cost_usd} said=${(/** @type {Figures} */ one) => money(one.cost_usd)} /></${Measure}>
      <${Measure} name="Tokens" figure=${count(total.tokens)} more=${`${count(Math.round(total.tokens / total.runs))} a run`}><${Bars} days=${days} of=${(/** @type {Figures} */ one) => one.tokens} said=${(/** @type {Figures} */ one) => counted(one.tokens, "token")} /></${Measure}>
      <${Measure} name="Time to answer" figure=${seconds(total.median_seconds)} more=${`half of those done; 95 % within ${seconds(total.p95_seconds)}`}><${Bars} days=${days} state="done" of=${(/** @type {Figures} */ one) => one.median_seconds ?? 0} said=${(/** @type {Figures} */ one) => `half within ${seconds(one.median_seconds)}`} /></${Measure}></div>
    <div class="halves"><section aria-label="Why runs were not all done"><h2 class="sec">Why runs were not all done</h2>${figures.failures.length ? html`<${Table} head=${["Status", "Cause", "Runs"]} rows=${figures.failures.map((/** @type {Figures} */ one) => [
      html`<${Pill} status=${one.status} word=${runWord(/** @type {any} */ (one))} />`,
      one.code ? html`<a class="mono" href=${runs({ status: one.status, code: one.code, since: figures.since })}>${one.code}</a>` : html`<a href=${runs({ status: one.status, since: figures.since })}>no error was named</a>`, count(one.runs)])} />` : html`<p class="muted">All were done.</p>`}
      <h2 class="sec">Models</h2><${Table} head=${["Model", "Runs", "Tokens", "Cost"]} rows=${figures.models.map((/** @type {Figures} */ one) => [html`<a class="mono" href=${runs({ model: one.model, since: figures.since })}>${one.model}</a>`, count(one.runs), count(one.tokens), cost(one)])} />
      ${figures.tags.length > 0 && html`<h2 class="sec">Tags</h2><${Table} head=${["Tag", "Runs", "Tokens", "Cost"]} rows=${figures.tags.map((/** @type {Figures} */ one) => [html`<a href=${runs({ tag: one.tag, since: figures.since })} dir="auto">${one.tag}</a>`, count(one.runs), count(one.tokens), cost(one)])} />`}</section>
    <section aria-label="Skills"><h2 class="sec">Skills</h2>${figures.skills.length ? html`<${Table} head=${["Skill", "Selected", "Used", "Ignored"]} rows=${figures.skills.map((/** @type {Figures} */ one) => [html`<a href=${runs({ skill: one.name, since: figures.since })}>${one.name}</a>`, count(one.selected), count(one.used), count(one.ignored)])} />` : html`<p class="muted">No run selected a skill.</p>`}
      <p class="muted">A skill is ignored if it was selected and no finished task used it.</p></section></div>
    <h2 class="sec">Day by day, in UTC</h2><${Table} head=${["Day", "Runs", ...ORDER.map((status) => WORDS[status]), "Tokens", "Cost", "Half within"]} rows=${days.filter((/** @type {Figures} */ one) => one.runs).reverse().map((/** @type {Figures} */ one) => [
      html`<a href=${runs({ since: one.day, until: dayAfter(one.day) })}>${one.day}</a>`, count(one.runs), ...ORDER.map((status) => (one.statuses[status] ? count(one.statuses[status]) : "–")), count(one.tokens), cost(one), seconds(one.median_seconds)])} />`;
}

/** @param {{ name: string, figure: string, more: string, children?: any }} props */
const Measure = ({ name, figure, more, children }) => html`<section class="panel measure" aria-label=${name}><div class="pad"><h2 class="sec">${name}</h2><b class="figure">${figure}</b><p class="muted">${more}</p>${children}</div></section>`;

/** A bar per day; the table below has the values. @param {{ days: Figures[], of: (day: Figures) => number, said: (day: Figures) => string, state?: string }} props */
function Bars({ days, of, said, state = "running" }) {
  const most = Math.max(...days.map(of), 0) || 1;
  const top = days.reduce((best, one) => (of(one) > of(best) ? one : best), days[0]);
  return html`<div class="bars st-${state}${days.length > 60 ? " many" : ""}" role="img" aria-label="Day by day; most on ${top.day}: ${said(top)}">${days.map((one) => html`<i key=${one.day} title="${one.day}: ${said(one)}" style=${{ height: of(one) ? `${Math.max(3, (of(one) / most) * 100)}%` : "1px" }}></i>`)}</div>`;
}

/** @param {{ head: string[], rows: any[][] }} props the first column is text, the figures stand right */
const Table = ({ head, rows }) => html`<div class="tablebox scroll" tabIndex=${0} role="group" aria-label="Table of ${head[0]}"><table class="list figures"><thead><tr>${head.map((one, index) => html`<th class=${index && one !== "Cause" ? "r" : ""}>${one}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((one, index) => html`<td class=${index && head[index] !== "Cause" ? "r num" : ""}>${one}</td>`)}</tr>`)}</tbody></table></div>`;
