// What happens on the server, heard once for all tabs of a browser, which opens few connections to a server: the tab that
// holds a lock has the stream, and passes it on. A worker that tabs share would need a policy for its script's address.
import { ask, trouble } from "./api.js";
import { events } from "./stream.js";
import { addressOf, concerns, covers, isEnd, isForLists, note, OPENED, union } from "./topics.js";

/** @typedef {import("./topics.js").Topic} Topic @typedef {import("./stream.js").StreamEvent} StreamEvent @typedef {{ topic: Topic, take: (event: StreamEvent) => void }} Listener */

const LOCK = "goalwright-stream";
/** How long tabs have to say what they want, and the pause before a stream that ended is opened again, in milliseconds. */
const GATHER = 50;
const PAUSE = 1000;
/** A tab that goes from one view to another wants nothing for a moment. */
const LEAVE = 250;

const self = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
/** Only pages that a browser holds for safe have locks, those of this machine among them; others hear for themselves. */
const shared = typeof navigator.locks !== "undefined" && typeof BroadcastChannel !== "undefined";
const channel = shared ? new BroadcastChannel(LOCK) : null;

/** @type {Set<Listener>} */
const own = new Set();
/** What the other tabs want, by tab. @type {Map<string, Topic[]>} */
const others = new Map();
let open = union([]);
/** When the stream was opened, or last had something for lists. */
let told = 0;
let leads = false;
/** Ends the wait for the lock, or gives it back. @type {AbortController | null} */
let claim = null;
/** @type {AbortController} */
let streaming = new AbortController();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let gathering;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaving;

/** The events of a topic as they happen; those of a run until nobody works on it. @param {Topic} topic @param {AbortSignal} signal @returns {AsyncGenerator<StreamEvent>} */
export async function* listen(topic, signal) {
  /** @type {StreamEvent[]} */
  const queue = [];
  let wake = () => {};
  const listener = { topic: { ...topic, since: Date.now() }, take: (/** @type {StreamEvent} */ event) => { queue.push(event); wake(); } };
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  own.add(listener);
  changed();
  try {
    while (!signal.aborted) {
      for (let event = queue.shift(); event; event = queue.shift()) {
        yield event;
        if (isEnd(event)) return;
      }
      await new Promise((go) => {
        wake = () => go(undefined);
        if (queue.length || signal.aborted) wake();
      });
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    own.delete(listener);
    changed();
  }
}

const ownTopics = () => [...own].map((listener) => listener.topic);
const wanted = () => union([...ownTopics(), ...[...others.values()].flat()]);

/** What this tab wants has changed: tell the tab that leads, become it, or stop being it. */
function changed() {
  clearTimeout(leaving);
  if (!own.size) leaving = setTimeout(resign, LEAVE);
  else if (!claim) lead((claim = new AbortController()));
  if (leads) refresh();
  else channel?.postMessage({ from: self, topics: ownTopics() });
}

function resign() {
  claim?.abort();
  claim = null;
}

/** Hold the stream as soon as no other tab does, until this one wants nothing any more. @param {AbortController} claimed */
async function lead(claimed) {
  const held = async () => {
    leads = true;
    refresh({ ask: true });
    await new Promise((go) => claimed.signal.addEventListener("abort", go));
    leads = false;
    clearTimeout(gathering);
    gathering = undefined;
    streaming.abort();
    open = union([]);
    told = 0;
    others.clear();
  };
  try {
    if (!shared) await held();
    else await navigator.locks.request(LOCK, { signal: claimed.signal }, () => (claimed.signal.aborted ? undefined : held()));
  } catch (error) {
    if (!claimed.signal.aborted) throw error;
  }
}

/** Open the stream anew where it does not have what is wanted; tabs that are gone do not say so, so all are asked. @param {{ ask?: boolean }} [options] */
function refresh({ ask: asks = false } = {}) {
  if (gathering !== undefined || (!asks && covers(open, wanted()))) return;
  others.clear();
  channel?.postMessage({ from: self, who: true });
  gathering = setTimeout(() => {
    gathering = undefined;
    streaming.abort();
    stream((streaming = new AbortController()).signal);
  }, channel ? GATHER : 0);
}

/** @param {AbortSignal} signal */
async function stream(signal) {
  const connect = () => ask(addressOf((open = wanted())) ?? "/events", { signal });
  const onOpen = () => {
    tell("");
    pass(OPENED);
  };
  while (!signal.aborted && addressOf(wanted()) !== null) {
    try {
      for await (const event of events(connect, { signal, onLost: () => tell("lost"), onOpen })) {
        note(open, event);
        pass(event);
      }
    } catch { // the server says no: the token is of another start
      if (!signal.aborted) open = union([]);
      return;
    }
    if (!signal.aborted) open = union([]);
    await new Promise((go) => setTimeout(go, PAUSE));
  }
}

/** @param {"" | "lost"} what */
function tell(what) {
  trouble.value = what;
  channel?.postMessage({ from: self, trouble: what });
}

/** @param {StreamEvent} event */
function pass(event) {
  if (isForLists(event)) told = Date.now();
  hear(event, told);
  if ([...others.values()].some((topics) => topics.some((topic) => concerns(topic, event)))) channel?.postMessage({ from: self, event, told });
  for (const topics of others.values()) for (const topic of topics) if (concerns(topic, event) && event.data.seq) topic.after = event.data.seq;
}

/** Whether a reader of lists last read or heard of them before a time. @param {Topic} topic @param {number} at */
const lacks = (topic, at) => concerns(topic, OPENED) && (topic.since ?? 0) < at;

/** Give an event to those in this tab whom it concerns. @param {StreamEvent} event @param {number} at */
function hear(event, at) {
  for (const { topic, take } of own) {
    if (!concerns(topic, event) || (event.type === OPENED.type && !lacks(topic, at))) continue;
    if (event.data.seq) topic.after = event.data.seq;
    topic.since = at;
    take(event);
  }
}

/** @param {MessageEvent} message */
function onMessage({ data }) {
  if (data.event) hear(data.event, data.told);
  else if (data.trouble !== undefined) trouble.value = data.trouble;
  else if (data.who && own.size) channel?.postMessage({ from: self, topics: ownTopics() });
  else if (data.topics && leads) {
    others.set(data.from, data.topics);
    refresh();
    if (data.topics.some((/** @type {Topic} */ topic) => lacks(topic, told))) channel?.postMessage({ from: self, event: OPENED, told });
  }
}

/** Begin again with the token as it is now: a tab was opened with a new one. */
export function reopen() {
  if (leads) {
    open = union([]);
    refresh({ ask: true });
  }
}

if (channel) {
  channel.addEventListener("message", onMessage);
  addEventListener("pagehide", () => {
    channel.postMessage({ from: self, topics: [] });
    resign();
  });
  addEventListener("pageshow", (event) => event.persisted && changed());
  document.addEventListener("visibilitychange", () => !document.hidden && own.size && !leads && changed());
}
