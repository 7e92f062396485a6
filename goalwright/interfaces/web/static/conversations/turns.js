// The turns of a conversation. Pure.

/** @typedef {Record<string, any>} Turn by its run, with `number` and `answer` */

/** Merge the newest turns, as read, into the known ones; a missing turn was undone. @param {Turn[]} known @param {Turn[]} read */
export function joined(known, read) {
  const first = read[0]?.run_id;
  if (first === undefined || !known.some((turn) => turn.run_id >= first)) return read; // too many new turns to merge
  return [...known.filter((turn) => turn.run_id < first), ...read];
}

/** Whether a turn has not ended. @param {Turn} turn */
export const isOpen = (turn) => turn.held_by !== null || ["running", "waiting"].includes(turn.status);

/** Why the next turn cannot start yet; empty if it can. @param {Turn | undefined} last */
export function blocked(last) {
  if (!last || !isOpen(last)) return "";
  return last.status === "waiting" && last.held_by === null ? "Answer its question above, or take the turn back." : "Wait for this turn to end, or stop it.";
}
