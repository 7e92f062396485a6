// The critical path of a run, as on the server: the chain of steps that its end waited for, across resumes and changes
// of its plan. Pure.
import { parentOf, roundOf } from "../graph/compose.js";

/**
 * @typedef {{ step: string | null, start: number, end: number }} Segment
 * @typedef {Pick<import("./fold.js").State, "spans" | "dropped" | "resumes" | "seconds">} Timed
 */

/** Times are recorded in microseconds and shown in milliseconds. */
const NEAR = 0.002;

/** The time of a run from its start to its end, without gaps. @param {Timed} state @returns {Segment[]} */
export function criticalSegments(state) {
  const tries = new Tries(state);
  /** @type {Segment[]} */
  const found = [];
  let until = state.seconds;
  for (let now = tries.last(null, until); now;) {
    const end = Math.min(now.end, until);
    const start = Math.min(end, now.start);
    found.push({ step: null, start: end, end: until });
    const cause = tries.cause(now);
    until = cause && cause.start >= now.start - NEAR ? Math.max(start, Math.min(end, cause.end)) : start;
    found.push({ step: now.step, start: until, end });
    now = cause;
  }
  found.push({ step: null, start: 0, end: until });
  return found.reverse().filter((one) => one.step !== null || one.end > one.start);
}

/** The steps of the critical path. @param {Timed} state @returns {string[]} */
export const criticalPath = (state) => [...new Set(criticalSegments(state).flatMap((one) => (one.step === null ? [] : [one.step])))];

/** The seconds of each step of the path, and of gaps, in the order of the path. @param {Timed} state @returns {{ step: string | null, seconds: number }[]} */
export function timeSpent(state) {
  /** @type {Map<string | null, number>} */
  const spent = new Map();
  for (const { step, start, end } of criticalSegments(state)) spent.set(step, (spent.get(step) ?? 0) + end - start);
  const waited = spent.get(null) ?? 0;
  spent.delete(null);
  return [...[...spent].map(([step, seconds]) => ({ step, seconds })), ...(waited > 0.05 ? [{ step: null, seconds: waited }] : [])];
}

/**
 * The ended attempts by step; each is used once, from the end backwards. An attempt of zero length ends where it
 * starts, and could otherwise be its own cause or part of a cycle.
 */
class Tries {
  /** @param {Timed} state */
  constructor({ spans, dropped, resumes }) {
    this.resumes = resumes;
    /** @type {Map<string, string[]>} */
    this.needs = new Map();
    /** @type {Map<string, Segment[]>} */
    this.of = new Map();
    /** @type {Map<string, string[]>} */
    this.parts = new Map();
    /** @type {Set<Segment>} */
    this.passed = new Set();
    for (const span of [...spans.values(), ...dropped]) {
      this.needs.set(span.id, [...(this.needs.get(span.id) ?? []), ...span.depends_on]);
      const round = roundOf(span.id);
      if (round) this.needs.get(span.id)?.push(`${parentOf(span.id)}${round > 2 ? `#${round - 1}` : ""}`);
      if (span.replaced_by) this.needs.set(span.replaced_by, [...(this.needs.get(span.replaced_by) ?? []), span.id]);
      this.of.set(span.id, span.tries.flatMap(({ start, end }) => (end === null ? [] : [{ step: span.id, start, end }])));
      const parent = parentOf(span.id);
      if (parent === null) continue;
      const parts = this.parts.get(parent);
      if (parts) parts.push(span.id);
      else this.parts.set(parent, [span.id]);
    }
  }

  /** The attempt that ended last before a time, of some or all steps; the longest of several. @param {Iterable<string> | null} steps @param {number} before @returns {Segment | null} */
  last(steps, before) {
    /** @type {Segment | null} */
    let last = null;
    for (const step of steps ?? this.of.keys()) {
      for (const one of this.of.get(step) ?? []) {
        if (one.end <= before + NEAR && !this.passed.has(one) && (!last || one.end > last.end || (one.end === last.end && one.start < last.start))) last = one;
      }
    }
    return last;
  }

  /** The attempt that another one waited for; marks that one as used. @param {Segment} one @returns {Segment | null} */
  cause(one) {
    this.passed.add(one);
    const step = one.step ?? "";
    const part = this.last(this.parts.get(step) ?? [], one.end);
    if (part && one.start - NEAR <= part.start) return part;
    /** @type {string[]} */
    const needed = [];
    for (let own = /** @type {string | null} */ (step); own !== null; own = parentOf(own)) needed.push(...(this.needs.get(own) ?? []));
    let found = this.last(step.startsWith("(") ? null : [...needed, step, "(plan)", "(replan)"], one.start);
    const resumed = Math.max(...this.resumes.filter((at) => at <= one.start + NEAR));
    if (Number.isFinite(resumed) && (!found || found.end < resumed - NEAR)) found = this.last(null, one.start);
    return found ?? (this.of.get("(plan)") ?? []).find((plan) => plan.start < one.start && one.start < plan.end && !this.passed.has(plan)) ?? null;
  }
}
