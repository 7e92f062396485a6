// Why a skill cannot be edited here, and the next step: restart the server, or edit a copy.
import { attempt, note } from "../core/announce.js";
import { part, post } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";

/** @typedef {{ short: string, why: string, next: string, command: string, copy: boolean }} Lock */

/** @param {{ name: string, locked: Lock, onCopied: () => void }} props */
export function Locked({ name, locked, onCopied }) {
  const take = async () => {
    if (!(await attempt(() => post(`/skills/${part(name)}/copy`)))) return;
    note(`${name} is in the workspace now`, { hint: "Edit it here; the next run uses your copy." });
    onCopied();
  };
  return html`<div class="note"><b>You cannot edit it here</b><div>${locked.why}</div>
    ${locked.command && html`<div>To edit it here, start the server with</div><div class="remedy"><code>${locked.command}</code><button type="button" class="btn small" onClick=${() => copy(locked.command)}><${Icon} name="copy" />Copy<span class="sr"> the command</span></button></div>`}
    ${locked.next && html`<div>${locked.next}</div>`}
    ${locked.copy && html`<div>A copy in the workspace replaces it here and can be edited.</div><button type="button" class="btn small" style="margin-top:8px" onClick=${take}><${Icon} name="copy" />Copy into the workspace</button>`}</div>`;
}
