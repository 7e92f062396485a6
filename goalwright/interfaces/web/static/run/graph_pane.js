// The graph of a run, updated when the plan or a task changes.
import { useEffect, useRef } from "../vendor/hooks.js";
import { signal } from "../vendor/signals.js";
import { seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Weave } from "../core/icons.js";
import { useKeys } from "../core/keys.js";
import { ICONS, LEGEND, WORDS } from "../core/states.js";
import { theme } from "../core/theme.js";
import { Graph } from "../graph/graph.js";
import { Finder } from "./finder.js";
import { criticalPath } from "./critical_path.js";
import { titleOf } from "./names.js";
import { tasksOf, took } from "./spans.js";

/** Milliseconds between updates of the critical path of a running run. */
const PATH = 1000;

/** Whether the critical path is shown, on all pages. */
export const showPath = signal(true);

/** @param {import("./spans.js").Span} span @param {number} now */
function noteOf(span, now) {
  const time = span.kind === "reused" ? null : took(span, now);
  return time === null ? "" : seconds(time);
}

/** @param {import("./spans.js").Span} span @param {number} now @param {import("./fold.js").State} state @param {string[]} instead_of the tasks that it replaced */
const taskOf = (span, now, state, instead_of) => ({
  id: span.id, title: titleOf(span), label: labelOf(span, state, instead_of), note: noteOf(span, now), status: span.status, depends_on: span.depends_on, instead_of,
});

/** @param {import("./spans.js").Span} span @param {import("./fold.js").State} state @param {string[]} instead_of */
function labelOf(span, { spans }, instead_of) {
  const named = (/** @type {string} */ id) => titleOf(spans.get(id) ?? { id, title: "" });
  if (span.replaced_by) return `replaced by ${named(span.replaced_by)}`;
  if (instead_of.length) return `in place of ${instead_of.map(named).join(", ")}`;
  return span.name ? `${span.kind} · ${span.name}` : span.kind;
}

/** The tasks that each new task replaced. @param {import("./fold.js").State} state */
function replacements({ spans, changes }) {
  const added = new Set(changes.flatMap((change) => change.added));
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const { id, replaced_by } of spans.values()) if (replaced_by && added.has(replaced_by)) found.set(replaced_by, [...(found.get(replaced_by) ?? []), id]);
  return found;
}

/** @param {{ source: any, selected: string | null, onSelect: (id: string) => void, finding: boolean, onFound: () => void, held?: (graph: Graph) => void }} props */
export function GraphPane({ source, selected, onSelect, finding, onFound, held }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const graph = useRef(/** @type {Graph | null} */ (null));
  useEffect(() => {
    if (!stage.current) return;
    const made = (graph.current = new Graph(stage.current, { onSelect }));
    held?.(made);
    return () => made.close();
  }, []);
  useEffect(() => graph.current?.retheme(), [theme.value]);
  useEffect(() => connect(source, /** @type {Graph} */ (graph.current)), [source]);
  useEffect(() => graph.current?.select(selected, { reveal: selected !== null && document.activeElement?.closest(".stage") === null }), [selected, source]);
  useEffect(() => graph.current?.setCritical(showPath.value ? criticalPath(source.state) : []), [showPath.value, source]);
  const g = () => /** @type {Graph} */ (graph.current);
  useKeys({
    f: () => g().fit(), "+": () => g().zoom(1.3), "=": () => g().zoom(1.3), "-": () => g().zoom(1 / 1.3),
    c: () => void (showPath.value = !showPath.value), e: () => nextFailure(source, g(), onSelect),
  }, [source]);
  source.tick.value; // render again at every change
  const tasks = tasksOf(source.state.spans);
  const seen = new Set(tasks.map((span) => span.status));
  return html`<div class="stage" ref=${stage} role="region" tabIndex=${0} aria-label="Task graph; arrow keys follow dependencies">
    ${!tasks.length && source.ready.value && html`<${Waiting} state=${source.state} />`}
    ${finding && html`<${Finder} tasks=${tasks} spans=${source.state.spans} onClose=${onFound} onChoose=${(/** @type {string} */ id) => { onFound(); onSelect(id); g().focus(id); }} />`}
    ${tasks.length > 0 && html`<div class="legend" data-tools>${LEGEND.filter((status) => seen.has(status)).map((status) => html`<span class="ic st-${status}"><${Icon} d=${ICONS[status]} />${WORDS[status]}</span>`)}
      ${showPath.value && html`<span class="ic"><span class="path"></span>Critical path</span>`}</div>`}
    <div class="float" data-tools>
      <button type="button" aria-pressed=${showPath.value ? "true" : "false"} aria-label="Critical path" title="Critical path (c)" onClick=${() => (showPath.value = !showPath.value)}><${Icon} name="plan" /></button>
      <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick=${() => g().zoom(1.3)}><${Icon} name="plus" /></button>
      <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick=${() => g().zoom(1 / 1.3)}><${Icon} name="minus" /></button>
      <button type="button" aria-label="Fit" title="Fit (f)" onClick=${() => g().fit()}><${Icon} name="fit" />Fit</button></div></div>`;
}

/** Show a source in the graph; returns a function that stops. @param {any} source @param {Graph} graph */
function connect(source, graph) {
  let shape = -1;
  let count = 0;
  const load = () => {
    const spans = tasksOf(source.state.spans);
    const wasEmpty = count === 0;
    count = spans.length;
    shape = source.state.version;
    const now = source.now();
    const instead = replacements(source.state);
    graph.load(spans.map((span) => taskOf(span, now, source.state, instead.get(span.id) ?? [])), showPath.peek() ? criticalPath(source.state) : [], { fit: wasEmpty || graph.fitted === true });
  };
  const change = (/** @type {Set<string>} */ ids, /** @type {boolean} */ reshaped) => {
    if (reshaped || shape !== source.state.version) return load();
    const now = source.now();
    for (const id of ids) {
      const span = source.state.spans.get(id);
      if (span) graph.update(id, { status: span.status, note: noteOf(span, now), title: titleOf(span) });
    }
    if (ids.size && showPath.peek()) path();
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const path = () => { // every new path redraws all edges
    later ??= setTimeout(() => {
      later = undefined;
      if (showPath.peek()) graph.setCritical(criticalPath(source.state));
    }, source.isLive ? PATH : 0);
  };
  const seconds = setInterval(() => {
    if (!source.isLive) return;
    const now = source.now();
    for (const span of source.state.spans.values()) if (span.status === "running") graph.update(span.id, { note: noteOf(span, now) });
  }, 1000);
  source.listeners.add(change);
  if (source.ready.value) load();
  return () => {
    clearInterval(seconds);
    clearTimeout(later);
    source.listeners.delete(change);
  };
}

/** Select the next task that failed or waits for an answer. @param {any} source @param {Graph} graph @param {(id: string) => void} onSelect */
function nextFailure(source, graph, onSelect) {
  const tasks = tasksOf(source.state.spans);
  const from = tasks.findIndex((span) => span.id === graph.selected);
  const order = [...tasks.slice(from + 1), ...tasks.slice(0, from + 1)];
  const next = order.find((span) => span.status === "failed" || span.status === "waiting");
  if (!next) return;
  onSelect(next.id);
  graph.focus(next.id);
}

/** The text before there is a plan. @param {{ state: import("./fold.js").State }} props */
const Waiting = ({ state }) => html`<div class="center" data-tools><${Weave} />${state.status === "running"
  ? html`<h2>${{ decomposer: "Planning…", loading: "Loading the model…" }[state.phase] ?? "Selecting skills…"}</h2><p>The graph appears as soon as the plan is made.</p>`
  : html`<h2>${state.question ? "It asks you something" : "No plan was made"}</h2><p>${state.question ? "Answer on the right to continue." : state.error ?? ""}</p>`}</div>`;
