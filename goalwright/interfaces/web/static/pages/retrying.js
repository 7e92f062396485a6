// Resumes the failed runs of a batch, a few at a time, as the server allows.
import { signal } from "../vendor/signals.js";
import { note, noteError } from "../core/announce.js";
import { get, part, post } from "../core/api.js";
import { counted } from "../core/format.js";

const FAILED = "failed,partial,stopped,interrupted";
const PAUSE = 2000;

/** The number of runs left to resume; 0 if none. */
export const left = signal(0);

/** The batches whose runs were resumed in this tab. @type {{ value: ReadonlySet<string> }} */
export const resumedHere = signal(new Set());

/** Resume all failed runs of a batch; count those that the server refuses for good. @param {string} batch */
export async function resumeFailed(batch) {
  const runs = await failedRuns(batch);
  left.value = runs.length;
  resumedHere.value = new Set([...resumedHere.value, batch]);
  let refused = 0;
  try {
    for (const run of runs) {
      while (!(await resumed(run, () => refused++))) await new Promise((go) => setTimeout(go, PAUSE));
      left.value--;
    }
  } finally {
    left.value = 0;
  }
  note(`Resumed ${counted(runs.length - refused, "run")}`, refused ? { hint: `${refused} could not be resumed; open them to see why.`, bad: true } : {});
}

/** @param {string} batch @returns {Promise<string[]>} */
async function failedRuns(batch) {
  const found = [];
  for (let before = ""; ;) {
    const { runs, next } = await get(`/runs?${new URLSearchParams({ batch, status: FAILED, most: "500", before })}`);
    found.push(...runs.map((/** @type {any} */ run) => run.run_id));
    if (!next) return found;
    before = next;
  }
}

/** Whether the run needs no further attempt. @param {string} run @param {() => void} onRefused */
async function resumed(run, onRefused) {
  try {
    await post(`/runs/${part(run)}/resume`, {});
    return true;
  } catch (error) {
    if (/** @type {any} */ (error)?.status === 429) return false;
    if (!(/** @type {any} */ (error)?.final)) noteError(error);
    onRefused();
    return true;
  }
}
