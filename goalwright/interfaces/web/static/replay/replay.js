// Replay: a run repeated with today's skills, tools and prompts, and the selections of all runs then and now.
import { useState } from "../vendor/hooks.js";
import { part, post } from "../core/api.js";
import { counted, score } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Empty, Problem } from "../core/empty.js";
import { Icon, Pill } from "../core/icons.js";
import { Page } from "../core/page.js";
import { place, setQuery } from "../core/router.js";
import { useRead } from "../core/use_read.js";

export function Replay() {
  const run = place.value.query.get("run");
  return run ? html`<${OneRun} key=${run} id=${run} />` : html`<${AllRuns} />`;
}

/** A request started by a button: its state, result or error. @param {() => Promise<any>} work */
function useAsked(work) {
  const [state, setState] = useState(/** @type {{ busy: boolean, value: any, error: any }} */ ({ busy: false, value: null, error: null }));
  const ask = async () => {
    setState({ busy: true, value: null, error: null });
    await work().then((value) => setState({ busy: false, value, error: null }), (error) => setState({ busy: false, value: null, error }));
  };
  return { ...state, ask };
}

/** @param {{ id: string }} props */
function OneRun({ id }) {
  const run = useRead(`/runs/${part(id)}`);
  const strict = useAsked(() => post(`/runs/${part(id)}/replay`, {}));
  const selection = useAsked(() => post(`/runs/${part(id)}/replay`, { select: true }));
  const crumbs = html`<a href="/runs">Runs</a><span>/</span><a class="mono cut" href="/runs/${part(id)}">${id}</a><span>/</span><span>Replay</span>`;
  if (run.error) return html`<${Page} title="Replay" crumbs=${crumbs}><${Problem} error=${run.error} /></${Page}>`;
  return html`<${Page} title=${run.value?.goal ?? "Replay"} crumbs=${crumbs}><div class="narrow stack">
    <section class="panel" aria-label="What would differ today"><div class="pad"><div class="bar"><h2>What would differ today</h2><button type="button" class="btn primary" disabled=${strict.busy || !run.value} onClick=${strict.ask}><${Icon} name="replay" />${strict.busy ? "Checking…" : "Check"}</button></div>
      <p class="muted">The run is replayed with today's skills, tools and prompts. Recorded replies replace the model, so it costs nothing. Every difference from the record is drift. <code>goalwright replay --strict</code> does the same.</p>
      ${strict.error && html`<${Problem} error=${strict.error} />`}${strict.value && html`<${Drift} drift=${strict.value.drift} status=${strict.value.status} run=${id} />`}</div></section>
    <section class="panel" aria-label="Selection"><div class="pad"><div class="bar"><h2>Selection, then and today</h2><button type="button" class="btn" disabled=${selection.busy || !run.value} onClick=${selection.ask}>${selection.busy ? "Selecting…" : "Select again"}</button></div>
      <p class="muted">Which skills the goal selects with today's skills and detector.</p>
      ${selection.error && html`<${Problem} error=${selection.error} />`}${selection.value && (selection.value.length ? selection.value.map((/** @type {any} */ one) => html`<${Selected} one=${one} />`) : html`<div class="note">This run selected no skills: there is nothing to compare.</div>`)}</div></section>
    <p><a href="/replay">Selection of all runs, then and today</a></p></div></${Page}>`;
}

/** @param {{ drift: { where: string, what: string }[], status: string, run: string }} props */
const Drift = ({ drift, status, run }) => html`<div aria-live="polite">${drift.length === 0 ? html`<div class="note st-done"><b>No drift</b><div>It would run exactly as before, and end ${status}.</div></div>`
  : html`<div class="note st-partial"><b>${counted(drift.length, "drift")}</b></div><ul class="drifts">${drift.map((one) => html`<li><a class="mono" href="/runs/${part(run)}?task=${part(one.where.replace(/^task /, "").split(/[:, ]/)[0])}">${one.where}</a><span>${one.what}</span></li>`)}</ul>`}</div>`;

/** @param {{ one: any }} props */
function Selected({ one }) {
  const names = [...one.then, ...one.added];
  const scores = new Map(one.scores.map((/** @type {any} */ line) => [line.name, line]));
  const moved = !one.added.length && !one.dropped.length && one.then.join() !== one.now.join();
  return html`<div aria-live="polite"><div class="note ${one.added.length || one.dropped.length || moved ? "st-partial" : "st-done"}"><b>${summary(one)}</b></div>
    ${names.length > 0 && html`<table class="list small"><thead><tr><th>Skill</th><th class="r">Then</th><th class="r">Today</th><th></th></tr></thead><tbody>${names.map((name) => {
      const line = /** @type {any} */ (scores.get(name));
      return html`<tr key=${name}><td><a href="/skills/${part(name)}">${name}</a></td><td class="r">${one.then.includes(name) ? score(line?.then) || "yes" : "–"}</td><td class="r">${one.now.includes(name) ? score(line?.now) || "yes" : "–"}</td><td><span class="tag ${one.dropped.includes(name) ? "bad" : one.added.includes(name) ? "good" : ""}">${one.dropped.includes(name) ? "dropped" : one.added.includes(name) ? "added" : "kept"}</span></td></tr>`;
    })}</tbody></table>`}</div>`;
}

/** @param {any} one */
export function summary(one) {
  const parts = [one.added.length && `${counted(one.added.length, "skill")} added`, one.dropped.length && `${counted(one.dropped.length, "skill")} dropped`].filter(Boolean);
  if (parts.length) return parts.join(", ");
  return one.then.join() === one.now.join() ? "The same skills in the same order" : "The same skills in another order";
}

function AllRuns() {
  const all = useAsked(() => post("/replay", {}));
  const only = place.value.query.get("only") === "drift";
  const drifted = (/** @type {any} */ one) => one.then.join() !== one.now.join();
  const rows = (all.value ?? []).filter((/** @type {any} */ one) => !only || drifted(one));
  const count = (all.value ?? []).filter(drifted).length;
  return html`<${Page} title="Selection, then and today" crumbs=${html`<a href="/runs">Runs</a><span>/</span><span>Replay</span>`} actions=${html`<button type="button" class="btn primary" disabled=${all.busy} onClick=${all.ask}>${all.busy ? "Selecting…" : "Select again for all runs"}</button>`}>
    ${all.error && html`<${Problem} error=${all.error} />`}
    ${!all.value && !all.error && html`<${Empty} title="Would the same skills be selected today?" text="Skills are selected again for the goals of all recorded runs, with today's skills and detector. No model is called." />`}
    ${all.value && html`<div class="bar"><div class="chips" role="group" aria-label="Which runs"><button type="button" class="chip" aria-pressed=${only ? "false" : "true"} onClick=${() => setQuery({ only: null }, { replace: true })}>All ${all.value.length}</button><button type="button" class="chip" aria-pressed=${only ? "true" : "false"} onClick=${() => setQuery({ only: "drift" }, { replace: true })}>Drifted ${count}</button></div></div>
      ${rows.length ? html`<div class="tablebox"><table class="list"><thead><tr><th>Selection</th><th>Goal</th><th>Today</th></tr></thead><tbody>${rows.slice(0, 500).map((/** @type {any} */ one) => html`<tr key=${one.run_id}><td><${Pill} status=${drifted(one) ? "partial" : "done"} word=${drifted(one) ? "Drifted" : "Same"} /></td><td class="big"><a href="/replay?run=${part(one.run_id)}">${one.goal}</a></td><td class="muted">${one.now.map((/** @type {string} */ name) => html`<span class=${classes("tag", one.added.includes(name) && "good")}>${name}</span> `)}${one.dropped.map((/** @type {string} */ name) => html`<span class="tag bad"><s>${name}</s></span> `)}</td></tr>`)}</tbody></table></div>`
        : html`<${Empty} title=${only ? "Nothing drifted" : "No run has selected skills yet"} text=${only ? "Every recorded goal selects the same skills in the same order today." : ""} />`}`}</${Page}>`;
}
