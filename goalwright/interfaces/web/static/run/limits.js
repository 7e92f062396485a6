// Fields for the model and limits of a run; empty fields are not sent.
import { useState } from "../vendor/hooks.js";
import { html } from "../core/html.js";

const FIELDS = [
  ["model", "Model", "text", "as before"], ["max_cost", "Cost, at most ($)", "number", "no limit"], ["timeout", "Time, at most (s)", "number", "no limit"],
  ["max_tokens", "Tokens, at most", "number", "no limit"], ["max_concurrency", "Tasks at a time", "number", ""], ["task_timeout", "A task, at most (s)", "number", ""],
];

/** @param {Record<string, any>} [initial] */
export function useLimits(initial = {}) {
  const [values, setValues] = useState(/** @type {Record<string, string>} */ (initial));
  return {
    values,
    set: (/** @type {string} */ name, /** @type {string} */ value) => setValues({ ...values, [name]: value }),
    given: () => Object.fromEntries(FIELDS.filter(([name]) => values[name]?.trim()).map(([name, , type]) => [name, type === "number" ? Number(values[name]) : values[name].trim()])),
  };
}

/** @param {{ limits: ReturnType<typeof useLimits>, now?: Record<string, any>, names?: string[] }} props */
export const LimitFields = ({ limits, now = {}, names = ["model", "max_cost", "timeout", "max_tokens"] }) => html`<div class="pair">${FIELDS.filter(([name]) => names.includes(name)).map(([name, label, type, placeholder]) => html`<label>${label}
  <input class="field" type=${type} min=${type === "number" ? 0 : undefined} step=${name === "max_cost" ? "any" : type === "number" ? 1 : undefined} value=${limits.values[name] ?? ""} placeholder=${now[name] != null ? String(now[name]) : placeholder}
    onInput=${(/** @type {any} */ event) => limits.set(name, event.target.value)} /></label>`)}</div>`;
