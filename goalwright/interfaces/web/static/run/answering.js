// The open requests of a run: approvals of tools and tasks, and questions. An answer resumes the run.
import { useEffect, useRef } from "../vendor/hooks.js";
import { attempt, note } from "../core/announce.js";
import { part, post } from "../core/api.js";
import { readAsking } from "../core/asking.js";
import { counted, pretty } from "../core/format.js";
import { ChangeLines } from "../core/change_lines.js";
import { html } from "../core/html.js";
import { Markdown } from "../core/markdown.js";
import { McpLogin } from "../core/mcp_login.js";
import { place } from "../core/router.js";
import { useTyped } from "../core/unsaved.js";
import { fullTitle } from "./names.js";
import { filePatches } from "./patch.js";
import { PatchHead } from "./patch_head.js";
import { tally } from "./spans.js";

/** The requests of one task, or of the whole run. @param {{ feed: import("./feed.js").RunFeed, task: string | null, readOnly: boolean }} props */
export function Answering({ feed, task, readOnly }) {
  const { state } = feed;
  const asked = state.waiting.filter((one) => task === null || one.task === task);
  const { failed } = tally(state.spans);
  const named = (/** @type {string | null} */ id) => (id && state.spans.has(id) ? fullTitle(/** @type {any} */ (state.spans.get(id)), state.spans) : "");
  return html`${asked.map((request) => html`<${Request} key=${request.id} run=${feed.id} request=${{ ...request, title: named(request.task), failed }} readOnly=${readOnly} onDone=${() => feed.run()} />`)}`;
}

/** A note that resuming the run retries its failed tasks. @param {{ failed: number }} props */
const Again = ({ failed }) => failed > 0 && html`<small class="muted">The run continues then, and ${failed === 1 ? "the task that failed is" : `the ${counted(failed, "task")} that failed are`} tried again.</small>`;

/** @typedef {Record<string, string>} Typed */

/** @param {{ text: string, typed: Typed, onType: (typed: Typed) => void, failed: number, readOnly: boolean, onAnswer: (text: string) => void }} props */
function Question({ text, typed, onType, failed, readOnly, onAnswer }) {
  const answer = typed.answer ?? "";
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.matches("h1")) field.current?.focus(); // the user is not busy elsewhere
  }, []);
  return html`<form class="note st-waiting" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); if (answer.trim()) onAnswer(answer.trim()); }}>
    <b>It asks you</b><div style="margin-top:4px"><${Markdown} text=${text} /></div>
    ${!readOnly && html`<div class="answerbox"><textarea class="field" rows="3" ref=${field} aria-label="Your answer" value=${answer} onInput=${(/** @type {any} */ event) => onType({ answer: event.target.value })}></textarea>
      <div><button type="submit" class="btn primary small" disabled=${!answer.trim()}>Answer and continue</button></div><${Again} failed=${failed} /></div>`}</form>`;
}

/** A form that an MCP server requests, or a page that it asks the user to open. @param {{ request: any, typed: Typed, onType: (typed: Typed) => void, readOnly: boolean, onAnswer: (given: Record<string, any>) => void }} props */
function Form({ request, typed: values, onType, readOnly, onAnswer }) {
  const fields = Object.entries(request.schema?.properties ?? {});
  const url = /^https?:\/\//.test(request.arguments?.url ?? "") ? request.arguments.url : "";
  const send = () => onAnswer({ decision: "answer", text: url ? "yes" : JSON.stringify(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))) });
  return html`<form class="note st-waiting" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); send(); }}>
    <b><span class="mono">${request.tool}</span> asks you</b><pre class="raw" style="margin:6px 0">${request.preview}</pre>
    ${url && html`<div><a href=${url} target="_blank" rel="noopener noreferrer">${url}</a></div>`}
    ${!readOnly && html`<div class="answerbox">${fields.map(([name, row]) => html`<label>${row?.title ?? name}<small class="muted"> ${row?.description ?? ""}</small>
      <input class="field" aria-label=${name} placeholder=${row?.default ?? ""} value=${values[name] ?? ""} onInput=${(/** @type {any} */ event) => onType({ ...values, [name]: event.target.value })} /></label>`)}
      <div class="actions" style="justify-content:flex-start"><button type="submit" class="btn primary small">${url ? "I have done that" : "Answer and continue"}</button>
        <button type="button" class="btn small danger" onClick=${() => onAnswer({ decision: "deny" })}>Decline</button></div><${Again} failed=${request.failed ?? 0} /></div>`}</form>`;
}

/** A login that a run waits for; the run resumes by itself after it. @param {{ request: any, readOnly: boolean, onAnswer: (given: Record<string, any>) => void }} props */
function Login({ request, readOnly, onAnswer }) {
  const server = request.arguments?.server ?? "";
  const allow = () => onAnswer({ decision: "allow" });
  return html`<div class="note st-waiting"><b>It needs a login at <span class="mono">${server}</span></b><pre class="raw" style="margin:6px 0">${request.preview}</pre>
    ${!readOnly && html`<div class="actions" style="justify-content:flex-start"><${McpLogin} server=${server} onDone=${allow} />
      <button type="button" class="btn small" onClick=${allow}>I logged in elsewhere: continue</button>
      <button type="button" class="btn small danger" onClick=${() => onAnswer({ decision: "deny" })}>Go on without it</button></div>`}</div>`;
}

/** One request with its buttons. @param {{ run: string, request: any, readOnly: boolean, onDone: () => void }} props */
export function Request({ run, request, readOnly, onDone }) {
  const [typed, onType] = useTyped(`answer ${run} ${request.id}`); // kept while another task or page is open
  const { reason = "", edited = null } = typed;
  const sending = useRef(false);
  const setEdited = (/** @type {string | null} */ text) => onType({ ...(reason && { reason }), ...(text !== null && { edited: text }) });
  const answer = async (/** @type {Record<string, any>} */ given) => {
    if (sending.current) return; // ignore a double click
    sending.current = true;
    const done = await attempt(() => post(`/runs/${part(run)}/answers`, [{ id: request.id, ...given }]));
    sending.current = false;
    if (!done) return;
    onType({});
    note("Answered", { hint: done.queued ? "The run continues when its other tasks have ended." : "The run continues.", link: place.value.path === `/runs/${part(run)}` ? null : { href: `/runs/${part(run)}`, text: "Open it" } });
    readAsking();
    onDone();
  };
  if (request.kind === "login") return html`<${Login} request=${request} readOnly=${readOnly} onAnswer=${answer} />`;
  if (request.kind === "question" && request.schema) return html`<${Form} request=${request} typed=${typed} onType=${onType} readOnly=${readOnly} onAnswer=${answer} />`;
  if (request.kind === "question") return html`<${Question} text=${request.preview ?? ""} typed=${typed} onType=${onType} failed=${request.failed ?? 0} readOnly=${readOnly} onAnswer=${(/** @type {string} */ text) => answer({ decision: "answer", text })} />`;
  const patches = request.kind === "tool" ? filePatches(request.preview ?? "") : [];
  const send = () => {
    try {
      answer({ decision: "edit", arguments: JSON.parse(edited ?? "{}") });
    } catch {
      note("The arguments are not valid JSON.", { bad: true });
    }
  };
  return html`<div class="note st-waiting"><b>${request.kind === "tool" ? html`May it call <span class="mono">${request.tool}</span>?` : `May “${request.title || request.task}” run?`}</b>${request.kind === "tool" && request.title && html`<span class="muted"> for ${request.title}</span>`}
    ${patches.length > 0 ? patches.map((one) => html`<div style="margin:6px 0"><${PatchHead} patch=${one} /><${ChangeLines} lines=${one.lines} label=${`Change of ${one.path}`} /></div>`) : request.preview && html`<pre class="raw" style="margin:6px 0">${request.preview}</pre>`}
    ${request.arguments && edited === null && (patches.length > 0 ? html`<details class="filechange"><summary>Arguments</summary><pre class="code">${pretty(request.arguments)}</pre></details>` : html`<pre class="code">${pretty(request.arguments)}</pre>`)}
    ${edited !== null && html`<textarea class="field mono" rows="8" aria-label="Arguments" value=${edited} onInput=${(/** @type {any} */ event) => setEdited(event.target.value)}></textarea>`}
    ${!readOnly && html`<div class="answerbox"><input class="field" placeholder="Why not, or a note (may be empty)" aria-label="Note" value=${reason} onInput=${(/** @type {any} */ event) => onType({ ...typed, reason: event.target.value })} />
      <div class="actions" style="justify-content:flex-start">
        <button type="button" class="btn small primary" onClick=${() => (edited === null ? answer({ decision: "allow", note: reason }) : send())}>${edited === null ? "Allow" : "Allow these arguments"}</button>
        <button type="button" class="btn small danger" onClick=${() => answer({ decision: "deny", note: reason })}>Deny</button>
        ${request.kind === "tool" && html`<button type="button" class="btn small" onClick=${() => setEdited(edited === null ? pretty(request.arguments ?? {}) : null)}>${edited === null ? "Edit…" : "Do not edit"}</button>
          ${edited === null && html`<button type="button" class="btn small" onClick=${() => answer({ decision: "allow_rest", note: reason })}>Allow for the rest of the run</button>`}`}</div><${Again} failed=${request.failed ?? 0} /></div>`}</div>`;
}
