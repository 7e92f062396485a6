// The run as a whole, in the drawer: answer, open requests, errors, inputs.
import { about } from "../core/about.js";
import { Tabs } from "../core/dialog.js";
import { copy } from "../core/clipboard.js";
import { approx, count, counted, moment, money, seconds } from "../core/format.js";
import { part } from "../core/api.js";
import { html } from "../core/html.js";
import { Icon, Pill } from "../core/icons.js";
import { address, place, setQuery } from "../core/router.js";
import { runWord } from "../core/states.js";
import { useRead } from "../core/use_read.js";
import { changeTags, Tags } from "../pages/tagging.js";
import { Changes, Grew } from "./changes.js";
import { Tools } from "./drawer.js";
import { FilesPart } from "./files.js";
import { secondsShown, skillsUsed } from "./fold.js";
import { TimeSpent } from "./time_spent.js";
import { Origin } from "./origin.js";
import { Output } from "./output.js";
import { Questions } from "./questions.js";
import { Scores } from "./tabs.js";
import { Undone } from "./undone.js";

/** @param {{ source: any, feed: any | null, onClose: () => void, onSelect: (id: string) => void, actions: any }} props */
export function RunDrawer({ source, feed, onClose, onSelect, actions }) {
  source.tick.value;
  const { state } = source;
  const isWorking = state.status === "running"; // now, or at the time of the playback
  const tab = place.value.query.get("tab") ?? "answer";
  const tabs = [{ id: "answer", name: "Answer" }, { id: "skills", name: "Skills", count: state.selected.length }, { id: "details", name: "Details" }, ...(feed ? [{ id: "files", name: "Files" }] : [])];
  const shown = tabs.some((one) => one.id === tab) ? tab : "answer";
  return html`<aside class="drawer" aria-label="The run">
    <div class="dh"><div class="pills"><${Pill} status=${state.status} word=${runWord(state)} /></div><${Tools} onClose=${onClose} /><h2>The run</h2><div class="sub">${isWorking ? `Working for ${seconds(source.now())}` : `Worked ${seconds(secondsShown(state))}`}, started ${moment(state.started)}</div>${(state.parent || state.after) && html`<div class="sub"><${Origin} state=${state} compare=${feed !== null} /></div>`}</div>
    <${Tabs} label="About this run" tabs=${tabs} chosen=${shown} onChoose=${(/** @type {string} */ id) => setQuery({ tab: id === "answer" ? null : id }, { replace: true })} />
    <div class="db" id="panel" role="tabpanel" aria-labelledby="tab-${shown}" tabIndex=${0}>
      ${shown === "answer" && html`<${AnswerPart} source=${source} feed=${feed} onSelect=${onSelect} actions=${actions} />`}
      ${shown === "skills" && html`<h3 class="sec">Selected for the goal</h3><${Scores} selected=${state.selected} used=${isWorking ? null : skillsUsed(state)} /><${Unselected} state=${state} />`}
      ${shown === "details" && html`<${DetailsPart} state=${state} feed=${feed} /><${TimeSpent} source=${source} onSelect=${onSelect} /><${Grew} state=${state} />`}
      ${shown === "files" && html`<${FilesPart} run=${source.id} status=${state.status} live=${source.isLive} />`}</div></aside>`;
}

/** Skills that finished tasks used without being selected: named by the plan or loaded by a model. @param {{ state: import("./fold.js").State }} props */
function Unselected({ state }) {
  const others = skillsUsed(state).filter((name) => !state.selected.some((one) => one.name === name));
  return others.length > 0 && html`<h3 class="sec">Used without being selected</h3><div class="scores">${others.map((name) => html`<div class="scoreline"><a href=${address(`/skills/${part(name)}`)}>${name}</a></div>`)}</div>`;
}

/** The number of warnings shown at first. */
const FEW = 2;

/** The title of a run's error. @param {import("./fold.js").State} state */
const errorTitle = (state) => ({ partial: "A part is missing", done: "The plan was not changed", interrupted: runWord(state), stopped: "It was stopped" })[state.status] ?? "It failed";

/** @param {{ source: any, feed: any | null, onSelect: (id: string) => void, actions: any }} props */
function AnswerPart({ source, feed, onSelect, actions }) {
  source.tick.value;
  const { state } = source;
  const streamed = source.texts.get("(synthesis)") ?? "";
  return html`${actions?.answering?.(null)}
    ${(state.error || state.status === "interrupted") && html`<div class="note ${state.status === "interrupted" ? "st-interrupted" : "st-failed"}"><b>${errorTitle(state)}</b>${state.status === "interrupted" ? html`<div>Finished tasks are kept. Resume the run to continue where it stopped.</div>` : html`<div>${state.error ?? ""}</div>`}</div>`}
    ${feed && !source.isLive && html`<${Undone} state=${state} />`}
    ${state.answer ? html`<h3 class="sec">Answer<button type="button" class="plain" onClick=${() => copy(state.answer)}><${Icon} name="copy" />Copy</button></h3><${Output} text=${state.answer} run=${feed ? source.id : null} />`
      : streamed ? html`<h3 class="sec">Answer, being written</h3><div class="md"><pre class="raw">${streamed}<span class="caret"></span></pre></div>`
      : !state.error && state.status !== "interrupted" && !state.question && !state.waiting.length && html`<p class="muted">${state.status === "running" ? "The answer comes when the tasks are done. Choose a task to see what it does." : "There is no answer."}</p>`}
    <${Questions} state=${state} onSelect=${onSelect} />
    <${Changes} state=${state} onSelect=${onSelect} />
    ${state.faults.length > 0 && state.status !== "done" && html`<div class="note st-partial"><b>${counted(state.faults.length, "plan was", "plans were")} refused</b>${[...new Set(state.faults)].slice(0, 10).map((/** @type {any} */ fault) => html`<div>${fault}</div>`)}</div>`}
    <${Warnings} texts=${state.warnings} />`;
}

/** Warnings, of which only a few are shown at first. @param {{ texts: string[] }} props */
function Warnings({ texts }) {
  const all = texts.map((text) => html`<div class="note st-partial">${text}</div>`);
  if (texts.length <= FEW) return texts.length > 0 && html`<h3 class="sec">Warnings</h3>${all}`;
  return html`<details class="warnings"><summary>${counted(texts.length, "warning")}</summary>${all}</details>`;
}

/** The tags and note of a run, which are stored apart from it. @param {{ id: string, live: boolean }} props */
function TagLines({ id, live }) {
  const { value, again } = useRead(id ? `/runs?${new URLSearchParams({ q: id, most: "1" })}` : null);
  const run = (value?.runs ?? []).find((/** @type {any} */ one) => one.run_id === id);
  if (!run) return null;
  const change = async () => (await changeTags(run)) && again();
  return html`<dt>Tags</dt><dd><${Tags} tags=${run.tags} /> ${!live && !about.value?.read_only && html`<button type="button" class="plain" onClick=${change}><${Icon} name="edit" />${run.tags.length || run.note ? "Change…" : "Add tags or a note…"}</button>`}</dd>
    ${run.note && html`<dt>Note</dt><dd class="runnote" dir="auto">${run.note}</dd>`}`;
}

/** @param {{ state: import("./fold.js").State, feed: any | null }} props `feed` is null in an exported file */
const DetailsPart = ({ state, feed }) => html`<dl class="grid">
    <dt>Run</dt><dd class="mono">${state.run_id}</dd>
    ${feed && html`<${TagLines} id=${state.run_id} live=${feed.isLive} />`}
    ${(state.parent || state.after) && html`<dt>Origin</dt><dd><${Origin} state=${state} compare=${feed !== null} /></dd>`}
    ${state.given.batch && html`<dt>Batch</dt><dd><a href=${address(`/batches/${part(state.given.batch)}`)}>${state.given.batch}</a> · ${state.given.batch_goal}</dd>`}
    ${feed && html`<dt>Held by</dt><dd>${{ here: "this server", elsewhere: "another process" }[/** @type {string} */ (feed.heldBy.value)] ?? "nobody"}</dd>`}
    ${state.given.recipe && html`<dt>Recipe</dt><dd><span class="mono">${state.given.recipe.name}</span>${state.given.recipe.used === false && ", not used"}${Object.entries(state.given.recipe.values ?? {}).map(([name, value]) => html`<div>${name}: ${String(value)}</div>`)}</dd>`}
    <dt>Model</dt><dd class="mono">${state.settings.model ?? "–"}</dd>
    <dt>Tokens</dt><dd class="num">${approx(state.usage)}${count(state.usage.prompt_tokens)} in, ${count(state.usage.completion_tokens)} out${state.usage.cached_tokens ? `, ${count(state.usage.cached_tokens)} cached` : ""}${state.usage.estimated_calls ? `; ${counted(state.usage.estimated_calls, "call")} estimated` : ""}</dd>
    <dt>Cost</dt><dd class="num">${approx(state.usage)}${money(state.cost)}${state.settings.max_cost ? ` of at most ${money(state.settings.max_cost)}` : ""}</dd>
    ${["max_tokens", "timeout", "max_concurrency", "detector"].filter((name) => state.settings[name] != null).map((name) => html`<dt>${name}</dt><dd class="mono">${String(state.settings[name])}</dd>`)}
    ${state.given.asked_skills?.length > 0 && html`<dt>Asked for</dt><dd>${state.given.asked_skills.join(", ")}</dd>`}
    ${state.given.files?.length > 0 && html`<dt>Files</dt><dd class="mono">${state.given.files.join(", ")}</dd>`}
    ${state.given.answers?.length > 0 && html`<dt>Answers</dt><dd>${state.given.answers.join("; ")}</dd>`}
    ${state.resumes.length > 0 && html`<dt>Resumed</dt><dd>${counted(state.resumes.length, "time")}</dd>`}</dl>
  <h3 class="sec">Goal</h3><pre class="raw">${state.goal}</pre>
  ${state.faults.length > 0 && html`<h3 class="sec">Refused plans</h3>${state.faults.map((fault) => html`<div class="note st-partial">${fault}</div>`)}`}`;
