// Deletes a run, and shows which of its folders could not be deleted.
import { attempt, note } from "../core/announce.js";
import { part, remove } from "../core/api.js";

/** Delete a run after confirmation; returns whether it was deleted. @param {string} id */
export async function deleteRun(id) {
  const deleted = await attempt(() => remove(`/runs/${part(id)}`));
  for (const folder of deleted?.left ?? []) note(`${folder} could not be deleted`, { hint: "Look at its permissions and delete it yourself.", bad: true });
  return Boolean(deleted);
}
