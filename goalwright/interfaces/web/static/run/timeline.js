// The timeline of a run: planning, tasks and synthesis as bars, waiting as thin lines, retries as ticks.
import { useMemo, useRef } from "../vendor/hooks.js";
import { signal, useSignal } from "../vendor/signals.js";
import { seconds, ticks, tickText } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { ICONS, WORDS } from "../core/states.js";
import { parentOf } from "../graph/compose.js";
import { criticalPath } from "./critical_path.js";
import { titleOf } from "./names.js";
import { took } from "./spans.js";

const ROW = 25;
/** The position of a time in a row, which has room for labels at its end. @param {number} percent */
const x = (percent) => `calc((100% - var(--room)) * ${percent / 100})`;

/** The order of the rows: as planned, or as started. */
const order = signal("plan");

/** @param {{ source: any, selected: string | null, onSelect: (id: string) => void }} props */
export function Timeline({ source, selected, onSelect }) {
  const top = useSignal(0);
  const height = useSignal(400);
  const range = useSignal(/** @type {[number, number] | null} */ (null));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  source.tick.value;
  const { spans, resumes, changes, dropped } = source.state;
  const now = source.now();
  const rows = useMemo(() => sorted([...spans.values(), ...dropped], order.value), [source.tick.value, order.value, source]);
  const critical = useMemo(() => new Set(criticalPath(source.state)), [source.tick.value, source]);
  const marks = [...resumes.map((/** @type {number} */ at) => ({ at, what: "resumed" })), ...changes.map((/** @type {any} */ { at }) => ({ at, what: "the plan changed" }))];
  const whole = Math.max(now, source.state.seconds, source.end ?? 0, 0.1);
  const [from, to] = range.value ?? [0, whole];
  const percent = (/** @type {number} */ time) => ((time - from) / (to - from)) * 100;
  const lines = ticks(to, from);
  const step = lines.length > 1 ? lines[1] - lines[0] : to - from;
  const first = Math.max(0, Math.floor(top.value / ROW) - 6);
  const last = Math.min(rows.length, first + Math.ceil(height.value / ROW) + 12);
  const wheel = (/** @type {WheelEvent} */ event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const lane = /** @type {HTMLElement} */ (event.currentTarget).querySelector(".axis, .lane")?.getBoundingClientRect();
    if (!lane) return;
    const at = from + ((event.clientX - lane.left) / lane.width) * (to - from);
    range.value = event.ctrlKey ? zoomed([from, to], Math.exp(event.deltaY * 0.002), at, whole) : moved([from, to], (event.deltaY || event.deltaX) * 0.001, whole);
  };
  const zoom = (/** @type {number} */ factor) => (range.value = zoomed([from, to], factor, (from + to) / 2, whole));
  const measure = (/** @type {HTMLElement | null} */ element) => {
    box.current = element;
    if (element && Math.abs(element.clientHeight - height.value) > 1) height.value = element.clientHeight;
  };
  return html`<section class="time" aria-label="Timeline" onWheel=${wheel}>
    <div class="head"><h2>Timeline<button type="button" class="plain" title="Order of the rows" onClick=${() => (order.value = order.value === "plan" ? "start" : "plan")}>${order.value === "plan" ? "as planned" : "by start"}</button>
      <span><button type="button" class="plain" aria-label="Zoom the timeline in" onClick=${() => zoom(1 / 1.6)}><${Icon} name="plus" /></button>${range.value && html`<button type="button" class="plain" aria-label="Show the whole timeline" onClick=${() => (range.value = null)}><${Icon} name="fit" /></button>`}</span></h2>
      <div class="axis">${lines.map((tick) => html`<span style=${{ left: `${percent(tick)}%` }}>${tickText(tick, step)}</span>`)}</div></div>
    <div class="rows" ref=${measure} tabIndex=${0} role="region" aria-label="Timeline rows" onScroll=${(/** @type {any} */ event) => (top.value = event.target.scrollTop)}>
      <div style=${{ height: `${first * ROW}px` }}></div>
      ${rows.slice(first, last).map((span) => html`<${Row} key=${span.id + (spans.get(span.id) === span ? "" : " dropped")} span=${span} spans=${spans} gone=${spans.get(span.id) !== span} now=${now} percent=${percent} step=${(step / (to - from)) * 100} offset=${percent(lines[0] ?? 0)}
        critical=${critical.has(span.id)} selected=${selected === span.id} onSelect=${onSelect} marks=${marks} />`)}
      <div style=${{ height: `${(rows.length - last) * ROW}px` }}></div></div></section>`;
}

/** @param {import("./spans.js").Span[]} rows @param {string} by */
function sorted(rows, by) {
  const late = (/** @type {string} */ id) => (id === "(synthesis)" ? 1 : 0);
  if (by === "start") return rows.sort((a, b) => began(a) - began(b) || 0);
  return rows.sort((a, b) => late(a.id) - late(b.id));
}

/** When a step first ran. @param {import("./spans.js").Span} span */
const began = (span) => span.tries[0]?.start ?? span.start ?? Infinity;

/** @param {any} props */
function Row({ span, spans, gone, now, percent, step, offset, critical, selected, onSelect, marks }) {
  const { start, status } = span;
  const time = took(span, now);
  const first = began(span);
  const ready = span.depends_on.reduce((/** @type {number} */ most, /** @type {string} */ id) => Math.max(most, spans.get(id)?.end ?? 0), Math.max(spans.get("(plan)")?.end ?? 0, spans.get(parentOf(span.id) ?? "")?.start ?? 0));
  const tries = span.attempts > 1 ? ` · ${span.attempts} tries` : "";
  const said = time === null ? span.error ?? "" : `${seconds(time)}${tries}${gone ? " · no longer in the plan" : ""}`;
  const left = time === null ? 0 : percent(start + time);
  const where = left <= 100.01 ? "" : percent(first) > 14 ? "before" : "inside"; // after its bars, if their end is in view
  return html`<button type="button" class=${classes("row", `st-${status}`, critical && "crit", parentOf(span.id) !== null && "part")} aria-current=${selected ? "true" : undefined} onClick=${() => onSelect(span.id)}
    aria-label=${`${titleOf(span)}${said ? `, ${said}` : ""}, ${WORDS[status] ?? status}${critical ? ", on the critical path" : ""}`}>
    <span class="name"><${Icon} d=${ICONS[status] ?? ICONS.pending} /><span dir="auto">${titleOf(span)}${" "}</span></span>
    <span class="lane" style=${{ "--step": `${step}%`, "--offset": `${step < 100 ? offset / (1 - step / 100) : 0}%` }}>
      ${marks.map((/** @type {{ at: number, what: string }} */ { at, what }) => html`<span class=${classes("mark", what !== "resumed" && "changed")} style=${{ left: x(percent(at)) }} title=${what}></span>`)}
      ${start !== null && html`${first - ready > 0.05 && !span.id.startsWith("(") && html`<span class="wait" style=${{ left: x(percent(ready)), width: x(percent(first) - percent(ready)) }}></span>`}
        ${span.tries.map((/** @type {any} */ one, /** @type {number} */ at) => html`<${Bar} one=${one} until=${now} last=${at === span.tries.length - 1} percent=${percent} />`)}
        ${span.retries.map((/** @type {number} */ at) => html`<span class="retry" style=${{ left: x(percent(at)) }} title="tried again"></span>`)}`}
      ${said && html`<span class=${classes("dur", where)} style=${{ left: x(where ? Math.max(0, percent(first)) : left) }}>${said}</span>`}</span></button>`;
}

/** One attempt of a step; earlier ones are lower. @param {{ one: { start: number, end: number | null, status: string }, until: number, last: boolean, percent: (time: number) => number }} props */
const Bar = ({ one: { start, end, status }, until, last, percent }) => html`<span class=${classes("span", `st-${status}`, end === null && "open", !last && "before")} title=${WORDS[status] ?? status}
  style=${{ left: x(percent(start)), width: x(Math.max(0, percent(end ?? until) - percent(start))) }}></span>`;

/** Zoom a range around a time. @param {[number, number]} range @param {number} factor @param {number} at @param {number} whole @returns {[number, number] | null} */
export function zoomed([from, to], factor, at, whole) {
  const size = (to - from) * factor;
  if (size >= whole) return null;
  const start = Math.max(0, at - (at - from) * factor);
  return [Math.min(start, whole - size), Math.min(start, whole - size) + Math.max(size, 0.2)];
}

/** @param {[number, number]} range @param {number} by @param {number} whole @returns {[number, number] | null} */
function moved([from, to], by, whole) {
  const size = to - from;
  if (size >= whole) return null;
  const start = Math.max(0, Math.min(whole - size, from + by * size));
  return [start, start + size];
}
