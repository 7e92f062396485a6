// The graph of a plan that is being edited.
import { useEffect, useRef } from "../vendor/hooks.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { theme } from "../core/theme.js";
import { Graph } from "../graph/graph.js";

/** @param {{ tasks: import("./checked_plan.js").Outlined[], ready: boolean, faulty: ReadonlySet<string>, selected: string | null, onSelect: (id: string) => void }} props */
export function PlanGraph({ tasks, ready, faulty, selected, onSelect }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const graph = useRef(/** @type {Graph | null} */ (null));
  const choose = useRef(onSelect);
  choose.current = onSelect;
  useEffect(() => {
    if (!stage.current) return;
    const made = (graph.current = new Graph(stage.current, { onSelect: (id) => choose.current(id) }));
    made.fitted = true;
    return () => made.close();
  }, []);
  useEffect(() => graph.current?.retheme(), [theme.value]);
  const shape = JSON.stringify(tasks.map((task) => [task.id, task.title, task.action_type, task.name, task.depends_on, faulty.has(task.id)]));
  useEffect(() => {
    const shown = tasks.map((task) => ({ id: task.id, title: task.title, label: [task.action_type || "llm", task.name].filter(Boolean).join(" · "), note: "", status: faulty.has(task.id) ? "failed" : "pending", depends_on: task.depends_on }));
    graph.current?.load(shown, [], { fit: graph.current.fitted === true });
  }, [shape]);
  useEffect(() => graph.current?.select(selected), [selected, shape]);
  const g = () => /** @type {Graph} */ (graph.current);
  return html`<div class="stage" ref=${stage} role="region" tabIndex=${0} aria-label="Graph of the plan; arrow keys follow dependencies">
    ${ready && !tasks.length && html`<div class="center" data-tools><p>Tasks appear here as you write them.</p></div>`}
    <div class="float" data-tools><button type="button" aria-label="Zoom in" onClick=${() => g().zoom(1.3)}><${Icon} name="plus" /></button><button type="button" aria-label="Zoom out" onClick=${() => g().zoom(1 / 1.3)}><${Icon} name="minus" /></button><button type="button" onClick=${() => g().fit()}><${Icon} name="fit" />Fit</button></div></div>`;
}
