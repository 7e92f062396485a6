// Deletes a run, and says which folder of it could not be deleted.
import { attempt, note } from "../core/announce.js";
import { part, remove } from "../core/api.js";

/** Gives whether the run is deleted; what went wrong is shown. @param {string} id */
export async function deleteRun(id) {
  const deleted = await attempt(() => remove(`/runs/${part(id)}`));
  for (const folder of deleted?.left ?? []) note(`${folder} could not be deleted`, { hint: "Look at its permissions and delete it yourself.", bad: true });
  return Boolean(deleted);
}
