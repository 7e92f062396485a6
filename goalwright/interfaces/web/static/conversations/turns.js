// Turns of a conversation as the page keeps them. Pure.

/** @typedef {Record<string, any>} Turn by its run, with `number` and `answer` */

/** The turns that are known with the newest ones as they were read: what is missing among those was taken back. @param {Turn[]} known @param {Turn[]} read */
export function joined(known, read) {
  const first = read[0]?.run_id;
  if (first === undefined || !known.some((turn) => turn.run_id >= first)) return read; // too many are new to be joined
  return [...known.filter((turn) => turn.run_id < first), ...read];
}

/** Whether a turn is not at its end, so that it has to be followed. @param {Turn} turn */
export const isOpen = (turn) => turn.held_by !== null || ["running", "waiting"].includes(turn.status);

/** Why the next turn cannot begin yet; empty if it can. @param {Turn | undefined} last */
export function blocked(last) {
  if (!last || !isOpen(last)) return "";
  return last.status === "waiting" && last.held_by === null ? "Answer what it asks above, or take that turn back." : "Wait for this turn to end, or stop it.";
}
