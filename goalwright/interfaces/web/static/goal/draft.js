// The draft of a goal, kept in this tab until it runs.
import { signal, effect } from "../vendor/signals.js";
import { get, part } from "../core/api.js";

const KEY = "goalwright-draft";

/**
 * @typedef {{ file: string, name: string, bytes: number }} GivenFile a file of the workspace, or an upload
 * @typedef {{ goal: string, skills: string[], files: GivenFile[], answers: string[], settings: Record<string, any>, plan: string, saved: string, of: string | null, parent: string | null }} Draft `saved`: the plan as last planned, saved, or taken from the run `of`
 */

/** @type {Draft} */
export const EMPTY = { goal: "", skills: [], files: [], answers: [], settings: {}, plan: "", saved: "", of: null, parent: null };

/** @returns {Draft} */
function kept() {
  try {
    return { ...EMPTY, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch { // written by another version
    return EMPTY;
  }
}

/** @type {{ value: Draft, peek: () => Draft }} */
export const draft = signal(kept());
effect(() => sessionStorage.setItem(KEY, JSON.stringify(draft.value)));

/** @param {Partial<Draft>} changes */
export const change = (changes) => void (draft.value = { ...draft.value, ...changes });

/** An empty plan. @param {string} goal */
export const blank = (goal) => `goal: ${JSON.stringify(goal || "What should be reached")}\ntasks:\n- id: first\n  title: The first task\n  action_type: llm\n  instruction: Say what to do.\n`;

/** A draft with the goal, skills and files of a run. @param {string} id @returns {Promise<Draft>} */
export async function draftOf(id) {
  const run = await get(`/runs/${part(id)}`);
  const { asked_skills: skills, files } = run.given ?? {};
  return { ...EMPTY, goal: run.goal, parent: id, skills: skills ?? [], files: (files ?? []).map((/** @type {string} */ file) => ({ file, name: file, bytes: 0 })) };
}

/** The draft as a request body. @param {{ withPlan?: boolean }} [options] */
export function body({ withPlan = false } = {}) {
  const { goal, skills, files, answers, settings, plan, parent } = draft.value;
  return { goal, skills, answers, settings, files: files.map((one) => one.file), ...(withPlan ? { plan } : {}), ...(parent ? { parent } : {}) };
}
