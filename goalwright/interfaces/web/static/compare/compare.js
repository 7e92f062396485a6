// Two runs compared: goal, selection, plan, then tasks aligned, with the differences of their texts.
import { useState } from "../vendor/hooks.js";
import { part } from "../core/api.js";
import { ago, counted, money, moment, pretty, seconds } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Empty, Problem } from "../core/empty.js";
import { Icon, Pill } from "../core/icons.js";
import { Page } from "../core/page.js";
import { go, place, setQuery } from "../core/router.js";
import { runWord } from "../core/states.js";
import { useRead } from "../core/use_read.js";
import { fromDocument, secondsShown } from "../run/fold.js";
import { aligned, countKinds, ofRuns } from "./aligned.js";
import { MarkdownChange, TextChange } from "./text_change.js";

const KINDS = /** @type {Record<string, string>} */ ({ same: "Same", changed: "Changed", added: "Only in B", dropped: "Only in A" });
const NAMES = /** @type {Record<string, string>} */ ({ "(plan)": "Plan", "(synthesis)": "Answer", "(detector)": "Select skills" });
const TAGS = /** @type {Record<string, string>} */ ({ changed: "ask", added: "good", dropped: "bad" });

export function Compare() {
  const a = place.value.query.get("a"), b = place.value.query.get("b");
  if (!a || !b) return html`<${Choose} a=${a ?? b} />`;
  return html`<${Compared} key=${`${a} ${b}`} a=${a} b=${b} />`;
}

/** @param {{ a: string | null }} props */
function Choose({ a }) {
  const { value, error } = useRead("/runs?most=100");
  const of = useRead(a ? `/runs/${part(a)}` : null).value;
  const runs = (value?.runs ?? []).filter((/** @type {any} */ run) => run.run_id !== a);
  const near = (/** @type {any} */ run) => (of && (run.goal === of.goal || run.parent === a || of.parent === run.run_id) ? 0 : 1);
  return html`<${Page} title="Compare" crumbs=${html`<a href="/runs">Runs</a><span>/</span><span>Compare</span>`}>
    <p class="lead">${a ? html`Choose the run to compare with <b>${of?.goal ?? a}</b>. Runs of the same goal come first.` : "Choose a run; then the one to compare it with."}</p>
    ${error && html`<${Problem} error=${error} />`}
    ${value && (runs.length ? html`<div class="tablebox"><ul class="choices">${runs.sort((/** @type {any} */ one, /** @type {any} */ other) => near(one) - near(other)).map((/** @type {any} */ run) => html`<li key=${run.run_id}><button type="button" onClick=${() => setQuery(a ? { b: run.run_id } : { a: run.run_id })}>
      <${Pill} status=${run.status} word=${runWord(run)} /><span class="cut" dir="auto">${run.goal}</span><time class="muted" title=${moment(run.started)}>${ago(run.started, Date.now())}</time></button></li>`)}</ul></div>`
      : html`<${Empty} title="There is nothing to compare with" text="Run a goal twice, or rerun a run from one of its tasks."><a class="btn" href="/runs">All runs</a></${Empty}>`)}</${Page}>`;
}

/** @param {{ a: string, b: string }} props */
function Compared({ a, b }) {
  const one = useRead(`/runs/${part(a)}`), two = useRead(`/runs/${part(b)}`);
  const found = useRead(`/runs/${part(a)}/diff/${part(b)}`);
  const error = one.error ?? two.error ?? found.error;
  const actions = html`<button type="button" class="btn" onClick=${() => go(`/compare?a=${part(b)}&b=${part(a)}`)}><${Icon} name="compare" />Swap</button>`;
  const crumbs = html`<a href="/runs">Runs</a><span>/</span><span>Compare</span>`;
  const ready = one.value && two.value && found.value;
  return html`<${Page} title="Compare two runs" crumbs=${crumbs} actions=${actions}>${error ? html`<${Problem} error=${error} />` : !ready ? html`<p class="loading">Comparing…</p>`
    : html`<div class="pairhead"><${Side} letter="A" run=${one.value} /><${Side} letter="B" run=${two.value} /></div><${Differences} all=${found.value} a=${one.value} b=${two.value} />`}</${Page}>`;
}

/** @param {{ letter: string, run: any }} props */
const Side = ({ letter, run }) => html`<section class="panel" aria-label="Run ${letter}"><div class="pad"><div class="bar" style="margin-bottom:6px"><b class="letter">${letter}</b><${Pill} status=${run.status} word=${runWord(run)} /><a class="mono cut" href="/runs/${part(run.run_id)}">${run.run_id}</a></div>
  <p class="clamp" title=${run.goal}>${run.goal}</p><div class="facts"><span class="fact"><b>${counted(run.spans.filter((/** @type {any} */ span) => !span.id.startsWith("(")).length, "task")}</b></span><span class="fact"><b>${seconds(secondsShown(fromDocument(run)))}</b> at work</span><span class="fact"><b>${money(run.cost_usd)}</b></span>${run.settings?.model && html`<span class="fact mono">${run.settings.model}</span>`}</div></div></section>`;

/** Which tasks are shown; at first the differences, because most tasks of a rerun are equal. */
const DIFFERENT = "", EVERY = "all", OUTPUTS = "outputs";

/** @param {{ all: import("./aligned.js").Difference[], a: any, b: any }} props */
function Differences({ all, a, b }) {
  const kind = place.value.query.get("show") ?? DIFFERENT;
  const setKind = (/** @type {string} */ chosen) => setQuery({ show: chosen }, { replace: true });
  const steps = (/** @type {any} */ run) => fromDocument(run).spans;
  const rows = aligned(all, steps(a), steps(b));
  const counts = countKinds(rows);
  const whole = ofRuns(all);
  const outputs = rows.filter((row) => row.texts.length > 0);
  const different = rows.filter((row) => row.kind !== "same");
  const shown = { [DIFFERENT]: different, [EVERY]: rows, [OUTPUTS]: outputs }[kind] ?? rows.filter((row) => row.kind === kind);
  return html`${whole.length > 0 && html`<h2 class="sec">The runs</h2><div class="panel"><div class="pad">${whole.map((one) => html`<${Value} one=${one} />`)}</div></div>`}
    <h2 class="sec">Steps</h2>
    <div class="bar"><div class="chips" role="group" aria-label="Kind of difference"><button type="button" class="chip" aria-pressed=${kind === DIFFERENT ? "true" : "false"} onClick=${() => setKind(DIFFERENT)}>What differs ${different.length}</button><button type="button" class="chip" aria-pressed=${kind === EVERY ? "true" : "false"} onClick=${() => setKind(EVERY)}>All ${rows.length}</button>${Object.entries(counts).filter(([, number]) => number > 0).map(([name, number]) => html`<button type="button" class="chip" key=${name} aria-pressed=${kind === name ? "true" : "false"} onClick=${() => setKind(name)}>${KINDS[name]} ${number}</button>`)}${outputs.length > 0 && html`<button type="button" class="chip" aria-pressed=${kind === OUTPUTS ? "true" : "false"} onClick=${() => setKind(OUTPUTS)}>Outputs that differ ${outputs.length}</button>`}</div></div>
    ${all.length === 0 && html`<div class="note st-done"><b>Nothing differs</b><div>Selection, plan, every task and the answer are the same.</div></div>`}
    ${kind === DIFFERENT && different.length === 0 && all.length > 0 && html`<p class="muted">Every step has the same plan and the same output; ${counted(rows.length, "step")} are the same or reused.</p>`}
    <div class="aligned">${shown.slice(0, 500).map((row) => html`<${Task} key=${row.id} row=${row} a=${a.run_id} b=${b.run_id} />`)}</div>
    ${shown.length > 500 && html`<p class="muted">${counted(shown.length - 500, "more step")}; choose a kind to see fewer.</p>`}`;
}

/** @param {{ row: import("./aligned.js").Aligned, a: string, b: string }} props */
function Task({ row, a, b }) {
  const many = row.texts.length > 0 || row.plan !== null;
  const [open, setOpen] = useState(row.kind === "changed");
  const link = (/** @type {string} */ run, /** @type {string} */ task, /** @type {string} */ letter) => html`<a href="/runs/${part(run)}?task=${part(task)}" aria-label="${task} in run ${letter}">${letter}</a>`;
  return html`<article class=${classes("panel", "alignedtask", row.kind)}><div class="pad"><div class="bar"><span class="tag ${TAGS[row.kind] ?? ""}">${KINDS[row.kind]}</span><b class="cut">${row.title || NAMES[row.id] || row.id}</b><span class="mono muted cut">${row.id}${row.other !== row.id ? ` → ${row.other}` : ""}</span>
      <span class="sides">${row.kind !== "added" && link(a, row.id, "A")}${row.kind !== "dropped" && link(b, row.other, "B")}</span>
      ${many && html`<button type="button" class="plain" aria-expanded=${open ? "true" : "false"} aria-label="${open ? "Hide" : "Show"} what differs in ${row.id}" onClick=${() => setOpen(!open)}><${Icon} name=${open ? "minus" : "plus"} /></button>`}</div>
    ${row.values.length > 0 && html`<div class="facts">${row.values.map((one) => html`<span class="fact">${one.what.replace("_", " ")} <b>${one.what === "inputs" ? "differ" : `${short(one.what, one.a)} → ${short(one.what, one.b)}`}</b></span>`)}</div>`}
    ${open && row.plan && html`<h3 class="sec">As planned</h3><${TextChange} a=${pretty(row.plan.a ?? "")} b=${pretty(row.plan.b ?? "")} />`}
    ${open && row.texts.map((one) => html`<${MarkdownChange} title="Output" a=${String(one.a ?? "")} b=${String(one.b ?? "")} />`)}</div></article>`;
}

/** @param {string} what @param {any} value */
function short(what, value) {
  if (what === "seconds") return seconds(value);
  if (what === "cost_usd") return money(value);
  return value == null ? "–" : String(value);
}

/** @param {{ one: import("./aligned.js").Difference }} props */
function Value({ one }) {
  if (one.where === "answer") return html`<${MarkdownChange} title="Answer" a=${String(one.a ?? "")} b=${String(one.b ?? "")} />`;
  if (one.where === "selection" || one.what === "goal") return html`<h3 class="sec">${one.where === "selection" ? "Selected skills" : "Goal"}</h3><${TextChange} a=${[one.a].flat().join("\n")} b=${[one.b].flat().join("\n")} />`;
  return html`<span class="fact">${one.what.replace("_usd", "").replace("_", " ")} <b>${short(one.what, one.a)} → ${short(one.what, one.b)}</b></span> `;
}
