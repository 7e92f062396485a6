// A goal as it is being written: kept in this tab until it runs.
import { signal, effect } from "../vendor/signals.js";
import { get, part } from "../core/api.js";

const KEY = "goalwright-draft";

/**
 * @typedef {{ file: string, name: string, bytes: number }} GivenFile a file of the workspace, or an upload
 * @typedef {{ goal: string, skills: string[], files: GivenFile[], answers: string[], settings: Record<string, any>, plan: string, saved: string, of: string | null, parent: string | null }} Draft `saved`: the plan as it was planned, taken from the run `of`, or saved
 */

/** @type {Draft} */
export const EMPTY = { goal: "", skills: [], files: [], answers: [], settings: {}, plan: "", saved: "", of: null, parent: null };

/** @returns {Draft} */
function kept() {
  try {
    return { ...EMPTY, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch { // of another version
    return EMPTY;
  }
}

/** @type {{ value: Draft, peek: () => Draft }} */
export const draft = signal(kept());
effect(() => sessionStorage.setItem(KEY, JSON.stringify(draft.value)));

/** @param {Partial<Draft>} changes */
export const change = (changes) => void (draft.value = { ...draft.value, ...changes });

/** A plan to start from. @param {string} goal */
export const blank = (goal) => `goal: ${JSON.stringify(goal || "What should be reached")}\ntasks:\n- id: first\n  title: The first task\n  action_type: llm\n  instruction: Say what to do.\n`;

/** A draft of the goal of a run, with the skills and files that were given with it. @param {string} id @returns {Promise<Draft>} */
export async function draftOf(id) {
  const run = await get(`/runs/${part(id)}`);
  const { asked_skills: skills, files } = run.given ?? {};
  return { ...EMPTY, goal: run.goal, parent: id, skills: skills ?? [], files: (files ?? []).map((/** @type {string} */ file) => ({ file, name: file, bytes: 0 })) };
}

/** The draft as the server takes it. @param {{ withPlan?: boolean }} [options] */
export function body({ withPlan = false } = {}) {
  const { goal, skills, files, answers, settings, plan, parent } = draft.value;
  return { goal, skills, answers, settings, files: files.map((one) => one.file), ...(withPlan ? { plan } : {}), ...(parent ? { parent } : {}) };
}
