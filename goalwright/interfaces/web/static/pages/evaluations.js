// The list of evaluations, and one evaluation with variants as columns and cases as rows.
import { part } from "../core/api.js";
import { Empty, Problem } from "../core/empty.js";
import { count, money } from "../core/format.js";
import { html } from "../core/html.js";
import { Page } from "../core/page.js";
import { useRead } from "../core/use_read.js";

/** @typedef {{ name: string, pass_rate: number | null, low: number | null, high: number | null, cost_usd: number | null, seconds: number | null, calls: number | null }} Variant */
/** @typedef {{ variant: string, against: string, mean: number | null, low: number | null, high: number | null, verdict: string, better: string[], worse: string[], needed_cases: number | null, pairwise?: { better: number, worse: number, tie: number } }} Difference */
/** @typedef {{ case: string, variant: string, repeat: number, run_id: string, passed: boolean | null, checks: { check: string, passed: boolean, evidence: string }[] }} Row */

const share = (/** @type {number | null} */ value) => (value === null ? "–" : value.toFixed(2));
const signed = (/** @type {number | null} */ value) => (value === null ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);

export function Evaluations() {
  const { value, error } = useRead("/evaluations");
  return html`<${Page} title="Evaluations">${error ? html`<${Problem} error=${error} />` : !value ? html`<p class="loading">Reading…</p>` : value.length === 0
    ? html`<${Empty} title="Nothing has been evaluated here yet" text=${html`Write cases with checks and start them with <code>goalwright eval cases.jsonl</code>.`} />`
    : html`<div class="tablebox"><table class="list"><thead><tr><th>Evaluation</th><th class="r">Cases</th><th>Pass rates</th><th>Verdict</th></tr></thead><tbody>${value.map((/** @type {any} */ row) => html`<tr key=${row.eval_id}>
      <td class="big"><a href="/evaluations/${part(row.eval_id)}">${row.eval_id}</a>${row.stopped !== null && html` <span class="missed">stopped</span>`}</td><td class="r">${count(row.cases)}</td><td>${row.variants.map((/** @type {Variant} */ one) => `${one.name} ${share(one.pass_rate)}`).join(", ")}</td><td>${row.differences.map((/** @type {Difference} */ one) => `${one.variant} ${one.verdict}`).join(", ")}</td></tr>`)}</tbody></table></div>`}</${Page}>`;
}

/** @param {{ id: string }} props */
export function EvaluationPage({ id }) {
  const { value, error } = useRead(`/evaluations/${part(id)}`);
  if (error || !value) return html`<${Page} title="Evaluation">${error ? html`<${Problem} error=${error} />` : html`<p class="loading">Reading…</p>`}</${Page}>`;
  const variants = /** @type {Variant[]} */ (value.variants);
  const cases = [...new Set(value.rows.map((/** @type {Row} */ row) => row.case))];
  return html`<${Page} title="Evaluation ${value.eval_id}">
    ${value.stopped !== null && html`<p class="found missed">Not complete: it was stopped (${value.stopped}).</p>`}
    ${value.warnings.map((/** @type {string} */ text) => html`<p class="found" key=${text}>Warning: ${text}</p>`)}
    <div class="tablebox"><table class="list"><thead><tr><th>Variant</th><th>Pass rate</th><th class="r">Cost</th><th class="r">Seconds</th><th class="r">Calls</th></tr></thead><tbody>${variants.map((one) => html`<tr key=${one.name}><td class="big">${one.name}</td><td>${share(one.pass_rate)} (${share(one.low)}–${share(one.high)})</td><td class="r">${one.cost_usd === null ? "–" : money(one.cost_usd)}</td><td class="r">${one.seconds ?? "–"}</td><td class="r">${one.calls ?? "–"}</td></tr>`)}</tbody></table></div>
    ${value.differences.map((/** @type {Difference} */ one) => html`<${Found} key=${one.variant} one=${one} rows=${value.rows} />`)}
    <div class="tablebox"><table class="list"><thead><tr><th>Case</th>${variants.map((one) => html`<th key=${one.name}>${one.name}</th>`)}${variants.length > 1 && html`<th class="r">Compare</th>`}</tr></thead><tbody>${cases.map((name) => html`<${Case} key=${name} name=${name} variants=${variants} rows=${value.rows.filter((/** @type {Row} */ row) => row.case === name)} />`)}</tbody></table></div></${Page}>`;
}

/** The differences of a variant, and each case that got worse with its first failed check. @param {{ one: Difference, rows: Row[] }} props */
function Found({ one, rows }) {
  const told = one.mean === null ? "no checks to compare by" : `${signed(one.mean)} (${signed(one.low)} to ${signed(one.high)}): ${one.verdict}, ${count(one.better.length)} better, ${count(one.worse.length)} worse`;
  const needed = one.needed_cases ? `; about ${count(one.needed_cases)} more would show a difference this large` : "";
  const liked = one.pairwise ? `; the judge prefers it ${count(one.pairwise.better)} to ${count(one.pairwise.worse)}, ties: ${count(one.pairwise.tie)}` : "";
  return html`<p class="found"><strong>${one.variant} − ${one.against}</strong> ${told}${needed}${liked}</p>${one.worse.length > 0 && html`<ul class="found">${one.worse.map((name) => {
    const row = rows.find((each) => each.case === name && each.variant === one.variant && each.passed === false);
    const failed = row?.checks.find((check) => !check.passed);
    return html`<li key=${name}>worse: ${name}${failed ? `: ${failed.check}: ${failed.evidence}` : ""}</li>`;
  })}</ul>`}`;
}

/** The results of a case with each variant, and a link that compares the first two runs. @param {{ name: string, variants: Variant[], rows: Row[] }} props */
function Case({ name, variants, rows }) {
  const by = variants.map((one) => rows.filter((row) => row.variant === one.name));
  const pair = by.length > 1 && by[0][0] && by[1][0];
  return html`<tr><td class="big">${name}</td>${by.map((runs, at) => html`<td key=${at}>${runs.map((row) => html`<${Run} key=${row.run_id} row=${row} />`)}</td>`)}${by.length > 1 && html`<td class="r">${pair && html`<a href="/compare?a=${part(by[0][0].run_id)}&b=${part(by[1][0].run_id)}">Side by side</a>`}</td>`}</tr>`;
}

/** @param {{ row: Row }} props */
function Run({ row }) {
  const failed = row.checks.find((check) => !check.passed);
  const word = row.passed === null ? "no checks" : row.passed ? "passed" : "failed";
  return html`<div><a class=${row.passed === false ? "missed" : ""} href="/runs/${part(row.run_id)}" title=${row.checks.map((check) => `${check.passed ? "✓" : "✗"} ${check.check}`).join("\n")}>${word}</a>${failed && html`<small class="cut sub">${failed.check}: ${failed.evidence}</small>`}</div>`;
}
