// The names of steps: an item of a list by its value, a task by its title. Pure.
import { parentOf } from "../graph/compose.js";

const LONGEST = 60;
const KEYS = ["name", "title", "label", "id", "path", "url"];
const STEPS = /** @type {Record<string, string>} */ ({ "(plan)": "Plan", "(replan)": "Change the plan", "(synthesis)": "Answer", "(detector)": "Select skills" });

/** The name of an item of a list, as on the server. @param {unknown} value */
export function itemName(value) {
  const object = /** @type {Record<string, unknown>} */ (value && typeof value === "object" && !Array.isArray(value) ? value : {});
  const named = KEYS.map((key) => object[key]).find((one) => typeof one === "string" && one.trim());
  const text = String(typeof value === "string" ? value : named ?? JSON.stringify(value)).split(/\s+/).filter(Boolean).join(" ");
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** The name of a step. @param {{ id: string, title: string, item?: string | null }} span */
export const titleOf = (span) => STEPS[span.id] ?? (span.item || span.title || span.id);

/** The name of a step with that of its parent, for flat lists. @param {{ id: string, title: string, item?: string | null }} span @param {ReadonlyMap<string, { id: string, title: string, item?: string | null }>} spans @returns {string} */
export function fullTitle(span, spans) {
  const parent = spans.get(parentOf(span.id) ?? "");
  return parent ? `${fullTitle(parent, spans)} › ${titleOf(span)}` : titleOf(span);
}
