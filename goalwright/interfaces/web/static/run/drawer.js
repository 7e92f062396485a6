// The drawer: the selected step of a run, or the run as a whole.
import { signal } from "../vendor/signals.js";
import { html } from "../core/html.js";
import { Icon, Pill } from "../core/icons.js";
import { Tabs } from "../core/dialog.js";
import { counted } from "../core/format.js";
import { address, place, setQuery } from "../core/router.js";
import { parentOf } from "../graph/compose.js";
import { EventsTab, OutputTab, PromptTab, ToolsTab, WhyTab } from "./tabs.js";
import { titleOf } from "./names.js";
import { useTask } from "./use_task.js";

/** Whether the drawer takes half of the page. */
export const wide = signal(false);

const TABS = [["output", "Output"], ["prompt", "Prompt"], ["tools", "Tools"], ["why", "Why"], ["events", "Events"]];
const PANELS = { output: OutputTab, prompt: PromptTab, tools: ToolsTab, why: WhyTab, events: EventsTab };

/** @param {{ source: any, task: string, onSelect: (id: string | null) => void, actions: any }} props */
export function TaskDrawer({ source, task, onSelect, actions }) {
  source.tick.value;
  const span = source.state.spans.get(task) ?? source.state.dropped.find((/** @type {import("./spans.js").Span} */ one) => one.id === task);
  const { detail, problem } = useTask(source, task);
  const asked = place.value.query.get("tab") ?? "output";
  const tab = asked === "messages" ? "prompt" : asked in PANELS ? asked : "output"; // in older addresses
  const Panel = PANELS[/** @type {keyof typeof PANELS} */ (tab)] ?? OutputTab;
  if (!span) return html`<aside class="drawer" aria-label="Task ${task}"><div class="dh"><div class="pills"></div><${Tools} onClose=${() => onSelect(null)} /><h2>${task}</h2><p class="sub">This run has no such task${source.isLive ? " yet" : ""}.</p></div></aside>`;
  const parts = [...source.state.spans.values()].filter((one) => parentOf(one.id) === task);
  const counts = /** @type {Record<string, number>} */ ({ prompt: detail?.calls.length ?? 0, tools: detail?.tools.length ?? 0 });
  return html`<aside class="drawer" aria-label="Task ${task}">
    <div class="dh"><div class="pills"><${Pill} status=${span.status} />${span.attempts > 1 && html`<span class="tag ask">${counted(span.attempts, "try", "tries")}</span>`}
      ${Object.keys(span.tools).length > 0 && html`<span class="tag">${counted(Object.values(span.tools).reduce((sum, one) => sum + Number(one), 0), "tool call")}</span>`}</div>
      <${Tools} onClose=${() => onSelect(null)} />
      <h2>${titleOf(span)}</h2>
      <div class="sub mono"><button type="button" class="linkish" onClick=${() => onSelect(null)}>The run</button> · ${parentOf(span.id) && source.state.spans.has(parentOf(span.id)) && html`<button type="button" class="linkish" onClick=${() => onSelect(parentOf(span.id))}>${titleOf(source.state.spans.get(parentOf(span.id)))}</button> · `}${span.id} · ${span.kind}${span.name ? html` · ${span.kind === "skill" ? html`<a href=${address(`/skills/${encodeURIComponent(span.name)}`)}>${span.name}</a>` : span.name}` : ""}</div></div>
    <${Tabs} label="About this task" tabs=${TABS.map(([id, name]) => ({ id, name, count: counts[id] }))} chosen=${tab} onChoose=${(/** @type {string} */ id) => setQuery({ tab: id === "output" ? null : id }, { replace: true })} />
    <div class="db" id="panel" role="tabpanel" aria-labelledby="tab-${tab}" tabIndex=${0}>
      ${problem && detail?.rows.length === 0 && span.status !== "pending" && html`<div class="note st-failed">${problem.message}</div>`}
      <${Panel} source=${source} span=${span} detail=${detail} parts=${parts} text=${source.texts.get(task) ?? ""} onSelect=${onSelect} actions=${actions} /></div></aside>`;
}

/** @param {{ onClose: () => void }} props */
export const Tools = ({ onClose }) => html`<div class="tools"><button type="button" class="plain" aria-pressed=${wide.value ? "true" : "false"} aria-label="Wide" title="Wide" onClick=${() => (wide.value = !wide.value)}><${Icon} name="wide" /></button>
  <button type="button" class="plain" aria-label="Close the drawer" title="Close (Esc)" onClick=${onClose}><${Icon} name="close" /></button></div>`;

