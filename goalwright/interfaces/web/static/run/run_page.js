// One run: graph, timeline, drawer and head, all from one feed.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { attempt } from "../core/announce.js";
import { about } from "../core/about.js";
import { classes, html } from "../core/html.js";
import { Weave } from "../core/icons.js";
import { useKeys } from "../core/keys.js";
import { setQuery } from "../core/router.js";
import { actionsOf } from "./actions.js";
import { Answering } from "./answering.js";
import { TaskDrawer, wide } from "./drawer.js";
import { RunFeed } from "./feed.js";
import { GraphPane } from "./graph_pane.js";
import { Head } from "./head.js";
import { RunDrawer } from "./overview.js";
import { chosenTask, closePanel, isClosed, VIEWS, viewNow } from "./panel.js";
import { load, PlaybackBar } from "./playback.js";
import { Timeline } from "./timeline.js";

/** @param {{ id: string }} props */
export function RunPage({ id }) {
  const feed = useMemo(() => new RunFeed(id), [id]);
  useEffect(() => () => feed.close(), [feed]);
  const [playback, setPlayback] = useState(/** @type {import("./playback.js").Playback | null} */ (null));
  const [finding, setFinding] = useState(false);
  const [stopping, setStopping] = useState(false);
  const graph = useRef(/** @type {any} */ (null));
  const source = playback ?? feed;
  useSeconds(feed);
  const task = chosenTask(), closed = isClosed();
  const select = (/** @type {string | null} */ one) => setQuery({ task: one, tab: null }, { replace: task !== null && one !== null });
  const readOnly = about.value?.read_only ?? false;
  const play = async () => {
    if (playback) return setPlayback(null);
    const made = await attempt(() => load(id, feed.state.last_seq));
    if (!made) return;
    setPlayback(made);
    made.seek(0);
    made.playing.value = true;
  };
  const actions = { ...useMemo(() => actionsOf(feed, setStopping), [feed]), play, stopping, ...(readOnly ? { rerun: null } : {}), answering: (/** @type {string | null} */ one) => !playback && html`<${Answering} feed=${feed} task=${one} readOnly=${readOnly} />` };
  const step = (/** @type {number} */ by) => {
    const ids = [...source.state.spans.keys()];
    const next = ids[(ids.indexOf(task ?? "") + by + ids.length) % ids.length];
    if (next) select(next);
  };
  useKeys({
    "/": () => void setFinding(true), "]": () => step(1), "[": () => step(-1), p: () => void play(), v: () => graph.current?.stage.focus(),
    Escape: () => {
      if (finding) return void setFinding(false);
      if (closed) return false;
      if (!task) return closePanel();
      select(null);
      graph.current?.stage.querySelector(`[data-id="${CSS.escape(task)}"]`)?.focus();
    },
    g: () => setQuery({ view: { split: "graph", graph: "time" }[viewNow()] ?? null }, { replace: true }),
  }, [source, task, closed, finding, playback]);
  if (feed.problem.value) return html`<main id="main"><header class="top"><div class="title"><h1>Run ${id}</h1></div></header><div class="empty"><${Weave} /><h2>${feed.problem.value.message}</h2><p>${feed.problem.value.hint}</p><a class="btn" href="/runs">All runs</a></div></main>`;
  const view = VIEWS.some(([one]) => one === viewNow()) ? viewNow() : "split";
  return html`<main id="main"><${Head} source=${source} feed=${feed} actions=${actions} playing=${playback !== null} readOnly=${readOnly} />
    <div class=${classes("run", closed && "closed", wide.value && !closed && "wide")}>
      <div class=${classes("work", view === "split" && "split", playback && (view === "time" ? "late" : "playing"))}>
        ${view !== "time" && html`<${GraphPane} key="graph" source=${source} selected=${task} onSelect=${select} finding=${finding} onFound=${() => setFinding(false)} held=${(/** @type {any} */ one) => (graph.current = one)} />`}
        ${playback && html`<${PlaybackBar} key="bar" playback=${playback} onClose=${() => setPlayback(null)} />`}
        ${view !== "graph" && html`<${Timeline} key="time" source=${source} selected=${task} onSelect=${select} />`}</div>
      ${task ? html`<${TaskDrawer} key="task" source=${source} task=${task} onSelect=${select} actions=${actions} />`
        : !closed && html`<${RunDrawer} key="run" source=${source} feed=${feed} onSelect=${select} onClose=${closePanel} actions=${actions} />`}</div></main>`;
}

/** Render again every second while a run is active. @param {RunFeed} feed */
function useSeconds(feed) {
  const [, setSecond] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => feed.isLive && setSecond((one) => one + 1), 1000);
    return () => clearInterval(timer);
  }, [feed]);
}
