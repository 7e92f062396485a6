// A run in time: planning, tasks and synthesis as bars, waiting as thin lines, tries again as ticks.
import { useMemo, useRef } from "../vendor/hooks.js";
import { signal, useSignal } from "../vendor/signals.js";
import { seconds, ticks } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { ICONS, WORDS } from "../core/states.js";
import { parentOf } from "../graph/compose.js";
import { criticalPath } from "./spans.js";

const ROW = 25;
const ROOM = 0.9;
const NAMES = /** @type {Record<string, string>} */ ({ "(plan)": "Plan", "(synthesis)": "Answer", "(detector)": "Select skills" });

/** The order of the rows: as planned, or as started. */
const order = signal("plan");

/** @param {import("./spans.js").Span} span */
export const titleOf = (span) => NAMES[span.id] ?? (span.title || span.id);

/** @param {{ source: any, selected: string | null, onSelect: (id: string) => void }} props */
export function Timeline({ source, selected, onSelect }) {
  const top = useSignal(0);
  const height = useSignal(400);
  const range = useSignal(/** @type {[number, number] | null} */ (null));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  source.tick.value;
  const { spans, resumes } = source.state;
  const now = source.now();
  const rows = useMemo(() => sorted(spans, order.value), [source.tick.value, order.value, source]);
  const critical = useMemo(() => new Set(criticalPath(spans)), [source.tick.value, source]);
  const whole = Math.max(now, source.end ?? 0, 0.1);
  const [from, to] = range.value ?? [0, whole / ROOM];
  const percent = (/** @type {number} */ time) => ((time - from) / (to - from)) * 100;
  const marks = ticks(to - from).map((tick) => tick + (from ? Math.ceil(from) : 0)).filter((tick) => tick <= to);
  const step = marks.length > 1 ? marks[1] - marks[0] : to - from;
  const first = Math.max(0, Math.floor(top.value / ROW) - 6);
  const last = Math.min(rows.length, first + Math.ceil(height.value / ROW) + 12);
  const wheel = (/** @type {WheelEvent} */ event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const lane = /** @type {HTMLElement} */ (event.currentTarget).querySelector(".axis, .lane")?.getBoundingClientRect();
    if (!lane) return;
    const at = from + ((event.clientX - lane.left) / lane.width) * (to - from);
    range.value = event.ctrlKey ? zoomed([from, to], Math.exp(event.deltaY * 0.002), at, whole / ROOM) : moved([from, to], (event.deltaY || event.deltaX) * 0.001, whole / ROOM);
  };
  const zoom = (/** @type {number} */ factor) => (range.value = zoomed([from, to], factor, (from + to) / 2, whole / ROOM));
  const measure = (/** @type {HTMLElement | null} */ element) => {
    box.current = element;
    if (element && Math.abs(element.clientHeight - height.value) > 1) height.value = element.clientHeight;
  };
  return html`<section class="time" aria-label="Timeline" onWheel=${wheel}>
    <div class="head"><h2>Timeline<button type="button" class="plain" title="Order of the rows" onClick=${() => (order.value = order.value === "plan" ? "start" : "plan")}>${order.value === "plan" ? "as planned" : "by start"}</button>
      <span><button type="button" class="plain" aria-label="Zoom the timeline in" onClick=${() => zoom(1 / 1.6)}><${Icon} name="plus" /></button>${range.value && html`<button type="button" class="plain" aria-label="Show the whole timeline" onClick=${() => (range.value = null)}><${Icon} name="fit" /></button>`}</span></h2>
      <div class="axis">${marks.map((tick) => html`<span style=${{ left: `${percent(tick)}%` }}>${seconds(tick).replace(".0 s", " s")}</span>`)}</div></div>
    <div class="rows" ref=${measure} tabIndex=${0} role="region" aria-label="Timeline rows" onScroll=${(/** @type {any} */ event) => (top.value = event.target.scrollTop)}>
      <div style=${{ height: `${first * ROW}px` }}></div>
      ${rows.slice(first, last).map((span) => html`<${Row} key=${span.id} span=${span} spans=${spans} now=${now} percent=${percent} step=${(step / (to - from)) * 100} offset=${percent(marks[0] ?? 0)}
        critical=${critical.has(span.id)} selected=${selected === span.id} onSelect=${onSelect} resumes=${resumes} isLive=${source.isLive} />`)}
      <div style=${{ height: `${(rows.length - last) * ROW}px` }}></div></div></section>`;
}

/** @param {ReadonlyMap<string, import("./spans.js").Span>} spans @param {string} by */
function sorted(spans, by) {
  const rows = [...spans.values()];
  const late = (/** @type {string} */ id) => (id === "(synthesis)" ? 1 : 0);
  if (by === "start") return rows.sort((a, b) => (a.start ?? Infinity) - (b.start ?? Infinity) || 0);
  return rows.sort((a, b) => late(a.id) - late(b.id));
}

/** @param {any} props */
function Row({ span, spans, now, percent, step, offset, critical, selected, onSelect, resumes, isLive }) {
  const { start, status } = span;
  const end = span.end ?? (status === "running" && isLive ? now : start);
  const ready = span.depends_on.reduce((/** @type {number} */ most, /** @type {string} */ id) => Math.max(most, spans.get(id)?.end ?? 0), spans.get("(plan)")?.end ?? 0);
  const tries = span.attempts > 1 ? ` · ${span.attempts} tries` : "";
  const said = start === null ? (span.error ?? "") : `${seconds(end - start)}${tries}`;
  const left = start === null ? 0 : percent(end);
  return html`<button type="button" class=${classes("row", `st-${status}`, critical && "crit", parentOf(span.id) !== null && "part")} aria-current=${selected ? "true" : undefined} onClick=${() => onSelect(span.id)}
    aria-label=${`${titleOf(span)}${said ? `, ${said}` : ""}, ${WORDS[status] ?? status}${critical ? ", on the critical path" : ""}`}>
    <span class="name"><${Icon} d=${ICONS[status] ?? ICONS.pending} /><span>${titleOf(span)}${" "}</span></span>
    <span class="lane" style=${{ backgroundSize: `${step}% 100%`, backgroundPositionX: `${offset / (1 - step / 100)}%` }}>
      ${resumes.map((/** @type {number} */ at) => html`<span class="mark" style=${{ left: `${percent(at)}%` }} title="resumed"></span>`)}
      ${start !== null && html`${start - ready > 0.05 && !span.id.startsWith("(") && html`<span class="wait" style=${{ left: `${percent(ready)}%`, width: `${percent(start) - percent(ready)}%` }}></span>`}
        <span class=${classes("span", span.end === null && "open")} style=${{ left: `${percent(start)}%`, width: `${Math.max(0, percent(end) - percent(start))}%` }}></span>
        ${span.retries.map((/** @type {number} */ at) => html`<span class="retry" style=${{ left: `${percent(at)}%` }} title="tried again"></span>`)}`}
      ${said && html`<span class=${classes("dur", left > 84 && "before")} style=${{ left: `${left > 84 ? percent(start) : left}%` }}>${said}</span>`}</span></button>`;
}

/** A range made smaller or larger around a time. @param {[number, number]} range @param {number} factor @param {number} at @param {number} whole @returns {[number, number] | null} */
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
