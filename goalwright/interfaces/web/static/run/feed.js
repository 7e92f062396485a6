// A run on the page: read once, then updated by the events of any process.
import { signal } from "../vendor/signals.js";
import { get, part } from "../core/api.js";
import { announce } from "../core/announce.js";
import { readAsking } from "../core/asking.js";
import { listen } from "../core/live.js";
import { WORDS } from "../core/states.js";
import { apply, empty, fromDocument, secondsShown } from "./fold.js";

/** The least time between two renderings; a single event is rendered at once. */
const GATHER = 60;
const HIDDEN = 30_000;
const PAUSE = 1000;
/** The number of characters kept of a program's output. */
const MOST_OUTPUT = 20_000;

/** @typedef {(ids: Set<string>, reshaped: boolean) => void} Listener */

export class RunFeed {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.state = empty();
    /** Counts renderings; components that read it are rendered again. */
    this.tick = signal(0);
    this.ready = signal(false);
    /** @type {{ value: string | null }} */
    this.heldBy = signal(null);
    /** @type {{ value: any }} */
    this.problem = signal(null);
    /** Streamed text by step. @type {Map<string, string>} */
    this.texts = new Map();
    /** How often each step changed. @type {Map<string, number>} */
    this.stamps = new Map();
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    /** @type {Set<string>} */
    this.changed = new Set();
    this.reshaped = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.flushing = undefined;
    this.flushed = 0;
    this.skew = 0;
    this.ending = new AbortController();
    this.onVisible = () => this.visibility();
    document.addEventListener("visibilitychange", this.onVisible);
    this.run();
    if (document.hidden) this.visibility(); // opened in the background
  }

  /** Read the run and follow it until it has ended. */
  async run() {
    this.ending.abort();
    const ending = (this.ending = new AbortController());
    while (!ending.signal.aborted) {
      try {
        const live = await this.read(ending.signal);
        if (!live) return this.sleep(ending.signal);
        for await (const event of listen({ run: this.id, after: this.state.last_seq }, ending.signal)) this.take(event);
      } catch (error) {
        if (ending.signal.aborted) return;
        if (/** @type {any} */ (error)?.final) {
          this.problem.value = error;
          return;
        }
      }
      await new Promise((go) => setTimeout(go, this.state.status === "running" ? PAUSE : 50));
    }
  }

  /** @param {AbortSignal} signal @returns {Promise<boolean>} whether a process runs it now */
  async read(signal) {
    const document = await get(`/runs/${part(this.id)}`, { signal });
    this.state = fromDocument(document);
    this.texts.clear(); // the server repeats the output of commands
    this.skew = Date.parse(document.now) - Date.now();
    this.heldBy.value = document.held_by;
    this.ready.value = true;
    this.problem.value = null;
    this.reshaped = true;
    this.flush();
    readAsking(); // earlier requests are not sent again
    return document.held_by !== null;
  }

  /** Wait until a run that is not running is resumed or deleted. @param {AbortSignal} signal */
  async sleep(signal) {
    for await (const _ of listen({ rest: this.id, after: this.state.last_seq }, signal)) {
      readAsking();
      return void this.run();
    }
  }

  /** @param {import("../core/stream.js").StreamEvent} event */
  take({ type, data }) {
    if (type === "text_streamed") {
      const step = data.task ?? (data.role === "decomposer" ? "(plan)" : `(${data.role})`);
      this.texts.set(step, (this.texts.get(step) ?? "") + data.text);
      return this.note([step]);
    }
    if (type === "tool_output") {
      this.texts.set(data.task, ((this.texts.get(data.task) ?? "") + data.text).slice(-MOST_OUTPUT));
      return this.note([data.task]);
    }
    if (type === "run_status") {
      this.heldBy.value = data.held_by;
      return;
    }
    const { version, status } = this.state;
    const ids = apply(this.state, data);
    if (["call_started", "call_retried", "tool_called", "task_finished"].includes(type)) this.texts.delete(data.task ?? (data.role === "decomposer" ? "(plan)" : `(${data.role})`));
    if (type === "task_finished") announce(`${this.state.spans.get(data.task)?.title || data.task}: ${WORDS[data.status] ?? data.status}`);
    if (this.state.status !== status) announce(`The run: ${WORDS[this.state.status] ?? this.state.status}`);
    if (type.startsWith("approval_")) readAsking();
    if (this.state.version !== version) this.reshaped = true;
    this.note(ids);
  }

  /** @param {string[]} ids */
  note(ids) {
    for (const id of ids) {
      this.changed.add(id);
      this.stamps.set(id, (this.stamps.get(id) ?? 0) + 1);
    }
    this.flushing ??= setTimeout(() => this.flush(), Math.max(0, this.flushed + GATHER - performance.now()));
  }

  flush() {
    clearTimeout(this.flushing);
    this.flushing = undefined;
    this.flushed = performance.now();
    const { changed, reshaped } = this;
    this.changed = new Set();
    this.reshaped = false;
    for (const listener of this.listeners) listener(changed, reshaped);
    this.tick.value++;
  }

  /** The seconds that the run has worked by now. */
  now() {
    const { state } = this;
    const live = this.heldBy.value !== null && state.status === "running" && !Number.isNaN(state.clock);
    return live ? Math.max(state.seconds, state.seconds + (Date.now() + this.skew - state.clock) / 1000) : secondsShown(state);
  }

  get isLive() { return this.heldBy.value !== null; }

  /** A hidden page closes its connection. */
  visibility() {
    clearTimeout(this.hiding);
    if (document.hidden) this.hiding = setTimeout(() => this.ending.abort(), HIDDEN);
    else if (this.ending.signal.aborted) this.run();
  }

  close() {
    this.ending.abort();
    clearTimeout(this.hiding);
    clearTimeout(this.flushing);
    document.removeEventListener("visibilitychange", this.onVisible);
  }
}
