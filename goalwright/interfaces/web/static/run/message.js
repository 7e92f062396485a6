// Messages as they were sent, folded or open; long ones are cut at first.
import { useState } from "../vendor/hooks.js";
import { count, firstLine } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { LongText } from "../core/long_text.js";
import { ShownImage } from "./shown_image.js";

const LONG = 20_000;

/** @param {{ text: string }} props */
export function Text({ text }) {
  const [whole, setWhole] = useState(false);
  const cut = text.length > LONG && !whole;
  return html`<${LongText} text=${cut ? text.slice(0, LONG) : text} />${cut && html`<button type="button" class="btn small" style="margin-top:8px" onClick=${() => setWhole(true)}>Show all ${count(text.length)} characters</button>`}`;
}

/** @param {{ title: any, hint?: string, open?: boolean, status?: string, children?: any }} props */
export function Folded({ title, hint = "", open = false, status = "", children }) {
  const [isOpen, setOpen] = useState(open);
  return html`<details class=${classes("msg", status && `st-${status}`)} open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}><summary><span class="nowrap">${title}</span><span class="cut">${hint}</span></summary>
    ${isOpen && html`<div class="in" tabIndex=${0} role="region" aria-label=${typeof title === "string" ? title : "Text"}>${children}</div>`}</details>`;
}

/** @param {{ message: Record<string, any>, source: any, open?: boolean }} props */
export const Message = ({ message, source, open = true }) => html`<${Folded} title=${message.role + (message.name ? ` · ${message.name}` : "")} hint=${firstLine(message.content, 80)} open=${open}>
  ${message.content && html`<${Text} text=${String(message.content)} />`}<${Calls} calls=${message.tool_calls ?? []} />
  ${(message.images ?? []).map((/** @type {any} */ image) => html`<${ShownImage} key=${image.sha256} source=${source} image=${image} />`)}</${Folded}>`;

/** @param {{ reply: Record<string, any> }} props */
export const Reply = ({ reply }) => html`<${Folded} title=${`assistant${reply.finish && reply.finish !== "stop" ? ` · ${reply.finish}` : ""}`} hint=${firstLine(reply.text, 80)} open=${true}>
  ${reply.text && html`<${Text} text=${reply.text} />`}<${Calls} calls=${reply.tool_calls ?? []} />${!reply.text && !(reply.tool_calls ?? []).length && html`<span class="muted">(empty)</span>`}</${Folded}>`;

/** @param {{ calls: Record<string, any>[] }} props */
const Calls = ({ calls }) => calls.map((call) => html`<pre class="raw muted">→ ${call.name}(${call.arguments})</pre>`);
