// The checks and approvals of a task: conditions, results, requests.
import { pretty } from "../core/format.js";
import { html } from "../core/html.js";

const DECISIONS = /** @type {Record<string, string>} */ ({ allow: "Allowed", deny: "Denied", edit: "Allowed with other arguments", allow_rest: "Allowed for the rest of the run", answer: "Answered" });

/** @param {{ row: Record<string, any> }} props */
export function Checked({ row }) {
  switch (row.type) {
    case "condition_checked":
      if (row.round) return html`<div class="note ${row.holds ? "st-done" : "st-partial"}"><b>${row.holds ? `Round ${row.round} was the last` : `Round ${row.round} was not enough`}</b><div class="mono">${pretty(row.condition)}</div>${row.why && html`<div class="hint">${row.why}</div>`}</div>`;
      return html`<div class="note ${row.holds ? "st-done" : "st-unneeded"}"><b>${row.holds ? "Its condition holds" : "Not needed: its condition does not hold"}</b><div class="mono">${pretty(row.condition)}</div>${row.why && html`<div class="hint">${row.why}</div>`}</div>`;
    case "result_checked":
      return html`<div class="note ${row.holds ? "st-done" : "st-partial"}"><b>${row.holds ? "The result passed its check" : "The result did not pass its check"}</b>${row.attempt ? ` (try ${row.attempt})` : ""}${row.why && html`<div class="hint">${row.why}</div>`}</div>`;
    case "approval_asked":
      return html`<div class="note st-waiting"><b>${row.kind === "question" ? "It asked a question" : "It asked for approval"}</b>${row.tool ? html` of <span class="mono">${row.tool}</span>` : ""}${row.preview && html`<pre class="raw">${row.preview}</pre>`}</div>`;
    default:
      return html`<div class="note ${row.decision === "deny" ? "st-failed" : "st-done"}"><b>${DECISIONS[row.decision] ?? row.decision}</b>${row.by ? ` (${row.by})` : ""}${row.note && html`<div class="hint">${row.note}</div>`}</div>`;
  }
}
