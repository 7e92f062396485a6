// The changes of a run's plan: reasons, added, dropped and replaced tasks.
import { counted, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { parentOf } from "../graph/compose.js";
import { titleOf } from "./names.js";
import { tasksOf } from "./spans.js";

/** @typedef {import("./fold.js").State} State @typedef {import("./fold.js").Change} Change */

const CAUSES = /** @type {Record<string, string>} */ ({ replan: "A model changed the plan", person: "You changed the plan" });

/** Every change by a model or a person. @param {{ state: State, onSelect: (id: string) => void }} props */
export const Changes = ({ state, onSelect }) => html`${state.changes.map((change) => html`<${One} change=${change} state=${state} onSelect=${onSelect} />`)}`;

/** The changes that added or replaced a task. @param {{ state: State, task: string, onSelect: (id: string) => void }} props */
export const ChangesOf = ({ state, task, onSelect }) => html`${state.changes.filter((change) => change.added.includes(task) || task in change.rewired).map((change) => html`<${One} change=${change} state=${state} onSelect=${onSelect} />`)}`;

/** @param {{ change: Change, state: State, onSelect: (id: string) => void }} props */
function One({ change, state, onSelect }) {
  const name = (/** @type {string} */ id) => {
    const span = state.spans.get(id);
    return span ? html`<button type="button" class="linkish" onClick=${() => onSelect(id)}>${titleOf(span)}</button>` : html`<span>${id}</span>`;
  };
  const listed = (/** @type {string[]} */ ids) => ids.map((id, at) => html`${at ? ", " : ""}${name(id)}`);
  const took = Object.entries(change.rewired);
  const gone = change.dropped.filter((id) => !(id in change.rewired));
  const fresh = change.added.filter((id) => !took.some(([, taken]) => taken === id));
  const isSame = !took.length && !fresh.length && !gone.length;
  return html`<div class="note"><b>${isSame ? "The plan stayed as it was" : (CAUSES[change.cause] ?? "The plan changed")}</b> <span class="muted">after ${seconds(change.at)}</span>${change.note && html`<div>${change.note}</div>`}
    ${took.map(([old, taken]) => html`<div>${name(taken)} takes the place of ${name(old)}</div>`)}
    ${fresh.length > 0 && html`<div>Added: ${listed(fresh)}</div>`}${gone.length > 0 && html`<div>Dropped: ${listed(gone)}</div>`}</div>`;
}

/** One line about how the plan grew by itself. @param {{ state: State }} props */
export function Grew({ state }) {
  const grown = tasksOf(state.spans).filter((span) => parentOf(span.id) !== null).length;
  const said = [grown && `${counted(grown, "task")} grew out of others while it ran`, state.streamed && `${counted(state.streamed, "task")} could begin while the plan was being written`].filter(Boolean);
  return said.length > 0 && html`<p class="muted small">${said.join("; ")}.</p>`;
}
