// The tabs of a step: output, prompt, tools, reasons.
import { useState } from "../vendor/hooks.js";
import { copy } from "../core/clipboard.js";
import { approx, count, counted, money, pretty, score, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, StateIcon } from "../core/icons.js";
import { LongText } from "../core/long_text.js";
import { address } from "../core/router.js";
import { conversation } from "./detail.js";
import { ChangesOf } from "./changes.js";
import { Checked } from "./checked.js";
import { Folded, Message, Reply, Text } from "./message.js";
import { Made } from "./files.js";
import { titleOf } from "./names.js";
import { Output } from "./output.js";
import { took } from "./spans.js";

/** @typedef {{ source: any, span: import("./spans.js").Span, detail: import("./detail.js").Detail | null, parts: import("./spans.js").Span[], text: string, onSelect: (id: string) => void, actions: any }} Props */

/** @param {Props} props */
export function OutputTab({ source, span, detail, parts, text, onSelect, actions }) {
  const [raw, setRaw] = useState(false);
  const time = took(span, source.now());
  const model = detail?.calls.at(-1)?.model;
  const output = detail?.output ?? null;
  const named = (/** @type {string} */ id) => titleOf(source.state.spans.get(id) ?? { id, title: "" });
  const files = source.rowsOf ? [] : source.state.artifacts.filter((/** @type {any} */ file) => file.task === span.id);
  const retries = detail?.calls.flatMap((call) => call.retries) ?? [];
  return html`<dl class="grid">
      <dt>Took</dt><dd class="num">${time === null ? "–" : seconds(time)}${span.attempts > 1 ? `, ${span.attempts} tries` : ""}</dd>
      ${model && html`<dt>Model</dt><dd class="mono">${model}</dd>`}
      ${span.tokens > 0 && html`<dt>Tokens</dt><dd class="num">${approx(span)}${count(span.tokens)} · ${approx(span)}${money(span.cost_usd)}</dd>`}
      ${span.depends_on.length > 0 && html`<dt>Needs</dt><dd>${span.depends_on.map((id, index) => html`${index ? ", " : ""}<button type="button" class="linkish" onClick=${() => onSelect(id)}>${named(id)}</button>${id === span.waited_for && span.depends_on.length > 1 ? html` <span class="muted">(last)</span>` : ""}`)}</dd>`}
      ${detail?.source && html`<dt>Reused from</dt><dd class="mono">${detail.source}</dd>`}</dl>
    ${retries.map((row) => html`<div class="note st-partial">${row.reason}: tried again after ${seconds(row.wait)}</div>`)}
    ${span.error && html`<div class="note st-failed">${span.error}</div>`}
    ${(detail?.notes ?? []).map((row) => html`<${Checked} row=${row} />`)}
    <${ChangesOf} state=${source.state} task=${span.id} onSelect=${onSelect} />
    ${actions?.answering?.(span.id)}
    ${parts.length > 0 && html`<h3 class="sec">Parts</h3>${parts.slice(0, 300).map((part) => html`<div class="cut"><${StateIcon} status=${part.status} /> <button type="button" class="linkish" onClick=${() => onSelect(part.id)}>${titleOf(part)}</button></div>`)}`}
    <h3 class="sec">Output${output && html`<button type="button" class="plain" aria-pressed=${raw ? "true" : "false"} onClick=${() => setRaw(!raw)}>${raw ? "Rendered" : "Raw"}</button><button type="button" class="plain" onClick=${() => copy(output)}><${Icon} name="copy" />Copy</button>`}</h3>
    ${output ? (raw ? html`<${LongText} text=${output} />` : html`<${Output} text=${output} run=${source.rowsOf ? null : source.id} />`)
      : text ? html`<div class="md"><pre class="raw">${text}<span class="caret"></span></pre></div>`
      : html`<p class="muted">${span.status === "running" ? `Being written for ${seconds(time ?? 0)}…` : detail === null ? "Reading…" : "No output."}</p>`}
    ${files.length > 0 && html`<h3 class="sec">Files of this task</h3>${files.map((/** @type {any} */ file) => html`<${Made} key=${file.path} run=${source.id} file=${file} open=${files.length === 1} />`)}`}
    ${actions?.rerun && ["done", "failed", "reused", "skipped"].includes(span.status) && !span.id.startsWith("(") && !source.isLive && html`<div class="actions" style="margin-top:18px;justify-content:flex-start">
      <button type="button" class="btn small" onClick=${() => actions.rerun(span.id)}><${Icon} name="replay" />Rerun from here…</button>
      ${output && html`<button type="button" class="btn small" onClick=${() => actions.rerun(span.id, output)}><${Icon} name="edit" />Rerun with this output edited…</button>`}</div>`}`;
}

/** The messages of each call as they were sent, and the replies. @param {Props} props */
function Sent({ source, span, detail, text }) {
  if (!detail) return html`<p class="muted">Reading…</p>`;
  if (!detail.calls.length) return html`<p class="muted">${span.kind === "tool" ? "A tool task: no model was called." : "No model has been called yet."}</p>`;
  return conversation(detail.calls).map(({ call, messages, repeated }, index) => html`
    <div class="call"><b>Call ${index + 1}</b><span class="mono">${call.model}</span>${call.seconds !== null && html`<span class="num">${seconds(call.seconds)}</span>`}
      ${call.reply && html`<span class="num">${approx(call.reply.usage)}${count(call.reply.usage?.prompt_tokens ?? 0)} + ${count(call.reply.usage?.completion_tokens ?? 0)} tokens · ${money(call.reply.cost)}</span>`}
      ${call.tools.length > 0 && html`<span title=${call.tools.join(", ")}>${counted(call.tools.length, "tool")} offered</span>`}</div>
    ${repeated > 0 && html`<p class="muted" style="margin:0 0 8px;font-size:12.5px">The ${repeated} messages above, then:</p>`}
    ${messages.map((message, at) => html`<${Message} message=${message} source=${source} open=${at > 0 || messages.length === 1} />`)}
    ${call.retries.map((row) => html`<div class="note st-partial">${row.reason}: tried again after ${seconds(row.wait)}</div>`)}
    ${call.error && html`<div class="note st-failed">${call.error}</div>`}
    ${call.reply ? html`<${Reply} reply=${call.reply} />` : !call.error && html`<${Folded} title="assistant" open=${true}><${Text} text=${text || "…"} /></${Folded}>`}`);
}

/** The messages that were sent, then the variables and the skill in them. @param {Props} props */
export function PromptTab(props) {
  const { detail } = props;
  return html`<${Sent} ...${props} />${detail && (detail.prompts.length > 0 || detail.skills.length > 0) && html`<details class="madeof"><summary>Parts of the prompt</summary><${MadeOf} detail=${detail} /></details>`}`;
}

/** The variables of a prompt, and the skill in it. @param {{ detail: import("./detail.js").Detail }} props */
const MadeOf = ({ detail }) => html`${detail.prompts.map((row) => html`<h3 class="sec">Variables of the prompt (${row.role})</h3>
      ${Object.entries(row.variables ?? {}).map(([name, value]) => html`<${Folded} title=${name} hint=${typeof value === "string" ? "" : "value"} open=${pretty(value).length < 600}><${Text} text=${pretty(value) || "(empty)"} /></${Folded}>`)}`)}
    ${detail.shortened.map((row) => html`<div class="note st-partial"><b>${row.name}</b> was shortened for this model by ${count(row.characters)} characters${row.left_out?.length ? `: ${row.left_out.join(", ")}` : ""}</div>`)}
    ${detail.skills.map((row) => html`<h3 class="sec">Skill as loaded</h3><${Folded} title=${row.name} open=${true}><${Text} text=${row.content} /></${Folded}>`)}`;

/** @param {Props} props */
export function ToolsTab({ detail }) {
  if (!detail) return html`<p class="muted">Reading…</p>`;
  if (!detail.tools.length) return html`<p class="muted">No tool was called.</p>`;
  return detail.tools.map((use) => html`<${Folded} title=${use.name} status=${use.envelope.status === "error" ? "failed" : ""} hint=${`${use.envelope.status ?? ""}${use.envelope.stats?.time_ms != null ? ` · ${seconds(use.envelope.stats.time_ms / 1000)}` : ""}`} open=${detail.tools.length < 4}>
    <h3 class="sec">Arguments</h3><pre class="raw">${pretty(use.arguments)}</pre>
    ${use.envelope.error && html`<div class="note st-failed" style="margin-top:10px"><b>${use.envelope.error.code}</b> ${use.envelope.error.message}</div>`}
    <h3 class="sec">Answer</h3><${Text} text=${use.envelope.text || "(none)"} />
    ${use.envelope.data && Object.keys(use.envelope.data).length > 0 && html`<h3 class="sec">Data</h3><pre class="raw">${pretty(use.envelope.data)}</pre>`}
    ${use.log && html`<h3 class="sec">Log (exit status ${use.log.exit_status})</h3><pre class="raw">${[use.log.log, use.log.stderr].filter(Boolean).join("\n") || "(nothing)"}</pre>`}</${Folded}>`);
}

/** What executes a step without a skill, by id or kind. */
const DONE_BY = /** @type {Record<string, string>} */ ({
  "(plan)": "A model makes the plan, from the goal and the skills that were selected for it.",
  "(replan)": "A model changes the plan when something in it failed, or a person asks for it.",
  "(synthesis)": "A model writes the answer from the results of the tasks.",
  "(detector)": "A model helps to select the skills.",
  tool: "The plan calls this tool: a program does the task, and no skill is needed.",
  goal: "This task is a goal of its own, which is planned when it is ready.",
});

/** @param {Props} props */
export function WhyTab({ source, span, onSelect }) {
  const { selected, spans } = source.state;
  const isTask = !span.id.startsWith("(");
  const dependents = [...spans.values()].filter((one) => one.depends_on.includes(span.id));
  const link = (/** @type {string} */ id) => html`<button type="button" class="linkish" onClick=${() => onSelect(id)}>${titleOf(spans.get(id) ?? { id, title: "" })}</button>`;
  return html`${isTask && span.name && html`<h3 class="sec">Why this ${span.kind}</h3>`}<${Chosen} span=${span} selected=${selected} />
    <h3 class="sec">Selected for the goal</h3><${Scores} selected=${selected} marked=${span.name} />
    ${isTask && html`<h3 class="sec">When it started</h3><p>${span.start === null ? "It has not started." : span.waited_for ? html`When ${link(span.waited_for)} was done, the last of what it needs.` : "At once: it depends on nothing."}</p>`}
    ${dependents.length > 0 && html`<h3 class="sec">Tasks that wait for it</h3><p>${dependents.map((one, index) => html`${index ? ", " : ""}${link(one.id)}`)}</p>`}`;
}

/** Why a step has its skill, or what executes it without one. @param {{ span: import("./spans.js").Span, selected: { name: string, score: number, reason: string }[] }} props */
function Chosen({ span, selected }) {
  const chosen = selected.find((one) => one.name === span.name);
  if (chosen) return html`<div class="note"><b>${span.name}</b> was selected with ${score(chosen.score)}: ${chosen.reason}</div>`;
  if (span.kind === "skill") return html`<div class="note"><b>${span.name}</b> was not selected for the goal; the plan names it all the same.</div>`;
  return html`<div class="note">${DONE_BY[span.id] ?? DONE_BY[span.kind] ?? "This task needs no skill: a model does it with the goal, its instruction and the results it depends on."}</div>`;
}

/** Selected skills with scores and reasons, and after the run those that no finished task used. @param {{ selected: { name: string, score: number, reason: string, certain?: boolean }[], marked?: string | null, used?: string[] | null }} props */
export const Scores = ({ selected, marked = null, used = null }) => (selected.length ? html`<div class="scores">${selected.map((one) => html`<div class="scoreline">
  <a href=${address(`/skills/${encodeURIComponent(one.name)}`)} style=${{ fontWeight: one.name === marked ? 650 : 500 }}>${one.name}</a><span class="num muted">${score(one.score)}</span>
  <span class="meter"><i style=${{ width: `${Math.min(100, Math.max(0, one.score * 100))}%` }}></i></span><small>${one.reason}</small>${used && !used.includes(one.name) && html`<small class="unused">No finished task used it${one.certain ? ", though it was certain to fit" : ""}.</small>`}</div>`)}</div>` : html`<p class="muted">No skill was selected.</p>`);

/** @param {Props} props */
export function EventsTab({ detail, source }) {
  if (!detail) return html`<p class="muted">Reading…</p>`;
  const began = Date.parse(source.state.started);
  return detail.rows.map((row) => {
    const { v, run_id, seq, at, type, ...rest } = row;
    return html`<div class="eventrow" key=${seq}><span class="at" title=${at}>${seconds(Math.max(0, Date.parse(at) - began) / 1000)}</span><details><summary>${type} <span class="muted">#${seq}</span></summary><pre class="code">${JSON.stringify(rest, null, 2)}</pre></details></div>`;
  });
}
