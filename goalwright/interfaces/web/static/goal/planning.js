// The progress of planning: selected skills, calls of the model, rejected plans with their faults.
import { counted, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { StateIcon } from "../core/icons.js";

/** Add an event to the steps. @param {any[]} steps @param {{ type: string, data: any }} event */
export function said(steps, { type, data }) {
  if (type === "call_finished" || type === "call_failed") return [...steps.filter((one) => one.type !== "call_started"), { ...data, type }];
  return [...steps, { ...data, type }];
}

/** @param {{ steps: any[], busy: boolean }} props */
export const Planning = ({ steps, busy }) => html`<section class="panel" aria-label="Planning" aria-live="polite"><div class="pad steps">${steps.map((step) => html`<${Step} step=${step} />`)}
  ${busy && !steps.some((one) => one.type === "call_started") && html`<div><${StateIcon} status="running" />Working…</div>`}</div></section>`;

/** @param {{ step: any }} props */
function Step({ step }) {
  switch (step.type) {
    case "skills_selected": return html`<div><${StateIcon} status="done" /><span>${counted((step.selections ?? []).length, "skill")} selected${step.selections?.length ? `: ${step.selections.slice(0, 5).map((/** @type {any} */ one) => one.name).join(", ")}` : ""}</span></div>`;
    case "call_started": return html`<div><${StateIcon} status="running" /><span>Asking <span class="mono">${step.model}</span> for a plan…</span></div>`;
    case "call_finished": return html`<div><${StateIcon} status="done" /><span>It answered after ${seconds(step.seconds)}</span></div>`;
    case "call_failed": return html`<div><${StateIcon} status="failed" /><span>${step.error}</span></div>`;
    case "call_retried": return html`<div><${StateIcon} status="partial" /><span>${step.reason}: asking again after ${seconds(step.wait)}</span></div>`;
    case "plan_refused": return html`<div><${StateIcon} status="partial" /><span>The plan had faults, and is asked for again: ${step.faults.join("; ")}</span></div>`;
    case "warned": return html`<div><${StateIcon} status="partial" /><span>${step.message}</span></div>`;
    case "error": return html`<div><${StateIcon} status="failed" /><span><b>${step.message}</b> <span class="muted">${step.hint}</span></span></div>`;
    default: return null;
  }
}
