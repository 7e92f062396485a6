// The topics of tabs, and the one stream with all of them. Pure.

/**
 * @typedef {{ run?: string, rest?: string, after?: number, skills?: boolean, since?: number }} Topic `run` after an event, a `rest` event for a run that is not running, or else the lists, last updated at `since`
 * @typedef {{ runs: Map<string, number>, rest: Map<string, number>, lists: boolean, skills: boolean }} Union
 * @typedef {import("./stream.js").StreamEvent} StreamEvent
 */

/** The event for lists after the stream was reopened, when events may have been missed. */
export const OPENED = { type: "opened", id: "", data: {} };

/** The union of topics; a run starts after the earliest event that a topic lacks. @param {Iterable<Topic>} topics @returns {Union} */
export function union(topics) {
  /** @type {Union} */
  const all = { runs: new Map(), rest: new Map(), lists: false, skills: false };
  const earliest = (/** @type {Map<string, number>} */ known, /** @type {string} */ run, /** @type {number} */ after) => known.set(run, Math.min(after, known.get(run) ?? after));
  for (const { run, rest, after = 0, skills = false } of topics) {
    if (run !== undefined) earliest(all.runs, run, after);
    else if (rest !== undefined) earliest(all.rest, rest, after);
    else {
      all.lists = true;
      all.skills ||= skills;
    }
  }
  return all;
}

/** The address of a stream; null if there are no topics. @param {Union} wanted */
export function addressOf({ runs, rest, lists, skills }) {
  if (!runs.size && !rest.size && !lists) return null;
  const query = new URLSearchParams([["run", runs], ["rest", rest]].flatMap(([name, known]) => [...known].map(([run, after]) => [String(name), `${run}:${after}`])));
  if (!lists) query.set("lists", "0");
  if (!skills) query.set("skills", "0");
  return `/events?${query}`;
}

/** Whether an open stream covers the topics: no event that a topic lacks has passed. @param {Union} open @param {Union} wanted */
export const covers = (open, wanted) => (open.lists || !wanted.lists) && (open.skills || !wanted.skills)
  && [...wanted.runs].every(([run, after]) => (open.runs.get(run) ?? Infinity) <= after) && [...wanted.rest].every(([run, after]) => open.rest.get(run) === after);

/** Whether an event says that a run is not running any more. @param {StreamEvent} event */
export const isEnd = ({ type, data }) => type === "run_status" && data.held_by === null;

/** Record the position of an open stream. @param {Union} open @param {StreamEvent} event */
export function note(open, event) {
  if (event.type === "rest") open.rest.delete(event.data.run_id);
  else if (isEnd(event)) open.runs.delete(event.data.run_id);
  else if (event.data.seq) open.runs.set(event.data.run_id, event.data.seq);
}

/** Whether an event is for lists. @param {StreamEvent} event */
export const isForLists = ({ type }) => type === "runs" || type === "skills" || type === OPENED.type;

/** Whether an event belongs to a topic. @param {Topic} topic @param {StreamEvent} event */
export function concerns({ run, rest, skills = false }, { type, data }) {
  if (type === "runs" || type === OPENED.type) return run === undefined && rest === undefined;
  if (type === "skills") return skills;
  if (type === "rest") return rest !== undefined && data.run_id === rest;
  return run !== undefined && data.run_id === run;
}
