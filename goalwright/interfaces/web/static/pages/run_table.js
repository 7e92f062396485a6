// A table of runs with their actions.
import { attempt } from "../core/announce.js";
import { part, save } from "../core/api.js";
import { confirm, Menu } from "../core/dialog.js";
import { ago, firstLine, money, moment, seconds } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Pill } from "../core/icons.js";
import { runWord } from "../core/states.js";
import { deleteRun } from "../run/deletion.js";
import { SnippetLine } from "./snippets.js";
import { Tags } from "./tagging.js";

/** @typedef {Record<string, any>} Line */

/** @param {{ lines: Line[], snippets?: Record<string, import("./snippets.js").Snippet>, marked?: string[], onMark?: ((id: string) => void) | null, onTag?: ((line: Line) => void) | null, readOnly: boolean, onDeleted: (id: string) => void }} props without `onMark`, none can be marked; without `onTag`, none tagged */
export const RunTable = ({ lines, snippets = {}, marked = [], onMark = null, onTag = null, readOnly, onDeleted }) => html`<div class="tablebox runs"><table class="list"><thead><tr>
  ${onMark && html`<th class="opt"><span class="sr">Compare</span></th>`}<th>Status</th><th>Goal</th><th class="r opt">Tasks</th><th class="r opt">Worked</th><th class="r opt">Cost</th><th class="r">Started</th><th><span class="sr">More</span></th></tr></thead>
  <tbody>${lines.map((line) => html`<${Row} key=${line.run_id} line=${line} snippet=${snippets[line.run_id]} marked=${marked.includes(line.run_id)} onMark=${onMark} onTag=${onTag} readOnly=${readOnly} onDeleted=${onDeleted} />`)}</tbody></table></div>`;

/** @param {{ line: Line, snippet?: import("./snippets.js").Snippet, marked: boolean, onMark: ((id: string) => void) | null, onTag: ((line: Line) => void) | null, readOnly: boolean, onDeleted: (id: string) => void }} props */
function Row({ line, snippet, marked, onMark, onTag, readOnly, onDeleted }) {
  const id = part(line.run_id);
  const erase = async () => {
    const sure = await confirm({ title: "Delete this run?", text: `“${line.goal.slice(0, 200)}”: its record and the files it made are deleted. This cannot be undone.`, yes: "Delete", danger: true });
    if (sure && (await deleteRun(line.run_id))) onDeleted(line.run_id);
  };
  return html`<tr class=${classes(marked && "marked")}>${onMark && html`<td class="opt"><input type="checkbox" checked=${marked} aria-label="Compare ${line.goal.slice(0, 80)}" onChange=${() => onMark(line.run_id)} /></td>`}
    <td><${Pill} status=${line.status} word=${runWord(/** @type {any} */ (line))} /></td>
    <td class="big"><a href="/runs/${id}" title=${line.goal} dir="auto">${line.goal}</a>${(line.parent || line.batch || line.conversation || line.skills.length > 0 || line.tags.length > 0 || line.note) && html`<small class="cut sub"><${Tags} tags=${line.tags} />${line.note && html`<span class="cut" title=${line.note} dir="auto">${firstLine(line.note)}</span>`}${line.parent && html`<a href="/runs/${part(line.parent)}">made from another run</a>`}${line.batch && html`<a href="/batches/${part(line.batch)}">batch ${line.batch_goal ?? ""}</a>`}${line.conversation && html`<a href="/conversations/${part(line.conversation)}">conversation</a>`}${line.skills.length > 0 && html`<span>${line.skills.slice(0, 4).join(", ")}</span>`}</small>`}<${SnippetLine} snippet=${snippet} /></td>
    <td class="r opt">${line.tasks ? `${line.done ?? "–"}/${line.tasks}` : "–"}</td><td class="r opt">${seconds(line.status === "running" ? line.seconds ?? (Date.now() - Date.parse(line.started)) / 1000 : line.seconds)}</td><td class="r opt">${line.cost_usd === null ? "–" : money(line.cost_usd)}</td>
    <td class="r muted"><time title=${moment(line.started)}>${ago(line.started, Date.now())}</time></td>
    <td class="r tight"><${Menu} label=${html`<span class="sr">More about ${line.goal.slice(0, 60)}</span>`} icon="more" small=${true} items=${[
      { name: "Export as JSON lines", icon: "download", do: () => attempt(() => save(`/runs/${id}/export?form=jsonl`, `${line.run_id}.jsonl`)) },
      { name: "Export as one page", icon: "download", do: () => attempt(() => save(`/runs/${id}/export?form=html`, `${line.run_id}.html`)) },
      { name: "Compare with…", icon: "compare", href: `/compare?a=${id}` },
      onTag && line.status !== "running" && { name: "Tags and note…", icon: "edit", do: () => onTag(line) },
      !readOnly && { name: "Run this goal again", icon: "plus", href: `/new?of=${id}` },
      !readOnly && line.status !== "running" && { name: "Delete…", icon: "trash", danger: true, do: erase },
    ]} /></td></tr>`;
}
