// An exported page in one file: runs with graph, timeline, playback and drawer, without a server.
import { render } from "../vendor/preact.js";
import { useRef, useState } from "../vendor/hooks.js";
import { DialogPlace } from "../core/dialog.js";
import { approx, count, money, seconds } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Icon, Pill, Sign } from "../core/icons.js";
import { listenKeys, showKeys, useKeys } from "../core/keys.js";
import { setQuery, stayHere } from "../core/router.js";
import { choice, followTheme, nextTheme } from "../core/theme.js";
import { TaskDrawer, wide } from "../run/drawer.js";
import { GraphPane } from "../run/graph_pane.js";
import { RunDrawer } from "../run/overview.js";
import { chosenTask, closePanel, isClosed, VIEWS, ViewSwitch, viewNow } from "../run/panel.js";
import { PlaybackBar } from "../run/playback.js";
import { tasksOf } from "../run/spans.js";
import { Timeline } from "../run/timeline.js";
import { Recorded } from "./recorded.js";

/** @param {{ runs: Recorded[] }} props */
function OneFile({ runs }) {
  const [chosen, setChosen] = useState(0);
  useKeys({ t: () => void nextTheme(), "?": () => void showKeys() });
  const choose = runs.length > 1 && html`<select class="field" aria-label="Run" value=${chosen} onChange=${(/** @type {any} */ event) => { setChosen(Number(event.target.value)); setQuery({ task: null, tab: null }); }}>${runs.map((run, index) => html`<option value=${index}>${run.state.goal.slice(0, 80)}</option>`)}</select>`;
  return html`<${RecordedRun} key=${chosen} run=${runs[chosen]} choose=${choose} /><${DialogPlace} />`;
}

/** @param {{ run: Recorded, choose: any }} props */
function RecordedRun({ run, choose }) {
  const [playback, setPlayback] = useState(/** @type {Recorded | null} */ (null));
  const [finding, setFinding] = useState(false);
  const graph = useRef(/** @type {any} */ (null));
  const source = playback ?? run;
  source.tick.value;
  const task = chosenTask(), closed = isClosed();
  const select = (/** @type {string | null} */ one) => setQuery({ task: one, tab: null });
  const play = () => setPlayback(playback ? null : run.again());
  const step = (/** @type {number} */ by) => {
    const ids = [...source.state.spans.keys()];
    select(ids[(ids.indexOf(task ?? "") + by + ids.length) % ids.length]);
  };
  useKeys({
    "/": () => void setFinding(true), "]": () => step(1), "[": () => step(-1), p: play,
    g: () => setQuery({ view: VIEWS[(VIEWS.findIndex(([one]) => one === viewNow()) + 1) % VIEWS.length][0] }),
    Escape: () => (finding ? void setFinding(false) : task ? select(null) : closePanel()),
  }, [task, finding, playback, source]);
  const view = viewNow();
  return html`<main id="main" class="onefile"><${Top} source=${source} onPlay=${play} playing=${playback !== null} choose=${choose} />
    <div class=${classes("run", closed && "closed", wide.value && !closed && "wide")}>
      <div class=${classes("work", view === "split" && "split", playback && (view === "time" ? "late" : "playing"))}>
        ${view !== "time" && html`<${GraphPane} key="graph" source=${source} selected=${task} onSelect=${select} finding=${finding} onFound=${() => setFinding(false)} held=${(/** @type {any} */ one) => (graph.current = one)} />`}
        ${playback && html`<${PlaybackBar} key="bar" playback=${playback} onClose=${() => setPlayback(null)} />`}
        ${view !== "graph" && html`<${Timeline} key="time" source=${source} selected=${task} onSelect=${select} />`}</div>
      ${task ? html`<${TaskDrawer} key="task" source=${source} task=${task} onSelect=${select} actions=${null} />`
        : !closed && html`<${RunDrawer} key="run" source=${source} feed=${null} onSelect=${select} onClose=${closePanel} actions=${null} />`}</div></main>`;
}

/** @param {{ source: Recorded, onPlay: () => void, playing: boolean, choose: any }} props */
function Top({ source, onPlay, playing, choose }) {
  const { state } = source;
  const tasks = tasksOf(state.spans);
  const done = tasks.filter((span) => span.status === "done" || span.status === "reused").length;
  return html`<header class="top"><div class="crumbs"><${Sign} size=${16} /><span>goalwright</span><span>/</span><span class="mono cut">${state.run_id || source.id}</span></div>
    <div class="title"><h1 class="goal" dir="auto" title=${state.goal}>${state.goal || "…"}</h1><div class="actions">${choose}<button type="button" class="btn" aria-pressed=${playing ? "true" : "false"} onClick=${onPlay}><${Icon} name="replay" /><span class="word">Playback</span></button>
      <button type="button" class="btn icon" aria-label="Theme: ${choice.value}" title="Light, dark or like the system (t)" onClick=${nextTheme}><${Icon} name=${{ light: "sun", dark: "moon" }[choice.value] ?? "auto"} /></button></div></div>
    <div class="facts"><${Pill} status=${state.status} /><span class="fact"><b>${done}</b> of ${count(tasks.length)} tasks</span><span class="fact"><b>${seconds(source.now())}</b> at work</span><span class="fact less"><b>${count(state.usage.calls)}</b> calls</span>
      <span class="fact less"><b>${approx(state.usage)}${count(state.usage.prompt_tokens + state.usage.completion_tokens)}</b> tokens</span><span class="fact"><b>${approx(state.usage)}${money(state.cost)}</b></span>
      <${ViewSwitch} /></div></header>`;
}

const given = JSON.parse(document.getElementById("runs")?.textContent ?? "[]");
stayHere();
listenKeys();
followTheme();
document.getElementById("plain")?.remove();
/** @type {any} */ (document.getElementById("plain-style")).media = "not all";
/** @type {any} */ (document.getElementById("page-style")).media = "all";
render(html`<${OneFile} runs=${given.map((/** @type {any} */ run) => new Recorded(run))} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
