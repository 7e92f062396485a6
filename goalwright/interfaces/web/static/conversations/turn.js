// One turn of a conversation: its goal, its progress and questions, and its answer.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt } from "../core/announce.js";
import { part, post } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { count, counted, money, moment, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Pill, StateIcon } from "../core/icons.js";
import { useNear } from "../core/near.js";
import { canResume, runWord } from "../core/states.js";
import { Answering } from "../run/answering.js";
import { RunFeed } from "../run/feed.js";
import { fullTitle } from "../run/names.js";
import { Output } from "../run/output.js";
import { tally, tasksOf } from "../run/spans.js";
import { isOpen } from "./turns.js";

/** The number of tasks shown for a turn; its run shows all. */
const NAMED = 12;

/** @param {{ turn: import("./turns.js").Turn, isLast: boolean, first: boolean, onChanged: () => void, onTakeBack: () => void }} props `first`: its answer is rendered at once */
export function Turn({ turn, isLast, first, onChanged, onTakeBack }) {
  const run = `/runs/${part(turn.run_id)}`;
  const readOnly = about.value?.read_only ?? false;
  const resume = async () => {
    if (await attempt(() => post(`${run}/resume`, {}))) onChanged();
  };
  const mayResume = isLast && !readOnly && turn.status !== "waiting" && canResume(turn.status);
  return html`<article class="turn" aria-label="Turn ${turn.number}">
    <h2 class="said" dir="auto">${turn.goal}</h2>
    ${isOpen(turn) ? html`<${OpenTurn} turn=${turn} readOnly=${readOnly} onEnded=${onChanged} />` : html`<${Ended} turn=${turn} first=${first} />`}
    <div class="turnfoot"><${Pill} status=${turn.status} word=${runWord(/** @type {any} */ (turn))} />
      ${turn.status !== "running" && html`<span>${turn.tasks ? counted(turn.tasks, "task") : "no tasks"}</span>`}${turn.seconds !== null && html`<span>${seconds(turn.seconds)}</span>`}
      ${turn.cost_usd !== null && turn.status !== "running" && html`<span>${money(turn.cost_usd)}</span>`}<time class="less" datetime=${turn.started}>${moment(turn.started)}</time>
      <a href=${run}>Open the run<span class="sr"> of turn ${turn.number}</span></a>
      ${turn.answer && html`<button type="button" class="plain" onClick=${() => copy(turn.answer)}><${Icon} name="copy" />Copy</button>`}
      ${mayResume && html`<button type="button" class="btn small primary" onClick=${resume}><${Icon} name="play" />Resume</button>`}
      ${isLast && !readOnly && turn.held_by === null && html`<button type="button" class="plain" onClick=${onTakeBack}><${Icon} name="undo" />Take back…</button>`}</div></article>`;
}

/** @param {{ turn: import("./turns.js").Turn, first: boolean }} props */
function Ended({ turn, first }) {
  const [near, place] = useNear(first);
  return html`<div class="answer" ref=${place}>${turn.error && turn.status !== "done" && html`<div class="note ${turn.status === "interrupted" ? "st-interrupted" : "st-failed"}"><b>${runWord(/** @type {any} */ (turn))}</b><div>${turn.error}</div></div>`}
    ${turn.answer && html`<h3 class="sr">Answer</h3>`}${turn.answer ? (near ? html`<${Output} text=${turn.answer} run=${turn.run_id} />` : html`<pre class="raw" dir="auto">${turn.answer}</pre>`) : !turn.error && html`<p class="muted">There is no answer.</p>`}
    ${turn.cut && html`<p class="muted">This is the beginning of a very long answer. Open the run to see all of it.</p>`}</div>`;
}

/** @param {{ turn: import("./turns.js").Turn, readOnly: boolean, onEnded: () => void }} props */
function OpenTurn({ turn, readOnly, onEnded }) {
  const feed = useMemo(() => new RunFeed(turn.run_id), [turn.run_id]);
  const ended = useRef(onEnded);
  ended.current = onEnded;
  useEffect(() => () => feed.close(), [feed]);
  const [stopping, setStopping] = useState(false);
  feed.tick.value;
  const { state } = feed;
  const isOver = feed.ready.value && !feed.isLive;
  useEffect(() => void (isOver && ended.current()), [isOver, state.status]);
  const streamed = feed.texts.get("(synthesis)") ?? feed.texts.get("(plan)") ?? "";
  const stop = async () => {
    setStopping(true);
    if (!(await attempt(() => post(`/runs/${part(turn.run_id)}/stop`)))) setStopping(false);
  };
  return html`<div class="answer"><${Progress} feed=${feed} />
    <${Answering} feed=${feed} task=${null} readOnly=${readOnly} />
    ${state.answer ? html`<h3 class="sr">Answer</h3><${Output} text=${state.answer} run=${turn.run_id} />` : streamed && html`<div class="md"><pre class="raw" dir="auto">${streamed}<span class="caret"></span></pre></div>`}
    ${feed.isLive && !readOnly && html`<div><button type="button" class="btn small danger" disabled=${stopping} onClick=${stop}><${Icon} name="stop" />${stopping ? "Stopping…" : "Stop"}</button></div>`}</div>`;
}

/** The progress of the turn's tasks. @param {{ feed: RunFeed }} props */
function Progress({ feed }) {
  feed.tick.value;
  const { state } = feed;
  const tasks = tasksOf(state.spans);
  const { all, done } = tally(state.spans);
  if (!all) return feed.isLive && html`<p class="muted">${feed.texts.has("(plan)") ? "Answering…" : "Planning…"}</p>`;
  return html`<ul class="turntasks" aria-label="Tasks of this turn">${tasks.slice(0, NAMED).map((span) => html`<li key=${span.id}><${StateIcon} status=${span.status} /><a href="/runs/${part(feed.id)}?task=${part(span.id)}">${fullTitle(span, state.spans)}</a></li>`)}
    ${tasks.length > NAMED && html`<li class="muted">and ${count(tasks.length - NAMED)} more; ${count(done)} of ${count(all)} are done</li>`}</ul>`;
}
