// Server events, received once for all tabs, because browsers open few connections to a server: the tab that
// holds a lock opens the stream and forwards its events. A shared worker would need a content policy of its own.
import { ask, trouble } from "./api.js";
import { events } from "./stream.js";
import { addressOf, concerns, covers, isEnd, isForLists, note, OPENED, union } from "./topics.js";

/** @typedef {import("./topics.js").Topic} Topic @typedef {import("./stream.js").StreamEvent} StreamEvent @typedef {{ topic: Topic, take: (event: StreamEvent) => void }} Listener */

const LOCK = "goalwright-stream";
/** Milliseconds for tabs to send their topics, and before a closed stream is opened again. */
const GATHER = 50;
const PAUSE = 1000;
/** Between two views a tab has no topics for a moment. */
const LEAVE = 250;

const self = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
/** Locks exist only in secure contexts, such as loopback; other pages open their own streams. */
const shared = typeof navigator.locks !== "undefined" && typeof BroadcastChannel !== "undefined";
const channel = shared ? new BroadcastChannel(LOCK) : null;

/** @type {Set<Listener>} */
const own = new Set();
/** The topics of the other tabs. @type {Map<string, Topic[]>} */
const others = new Map();
let open = union([]);
/** When the stream was opened or last had an event for lists. */
let told = 0;
let leads = false;
/** Stops waiting for the lock, or releases it. @type {AbortController | null} */
let claim = null;
/** @type {AbortController} */
let streaming = new AbortController();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let gathering;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaving;

/** The events of a topic; those of a run end when it is not running any more. @param {Topic} topic @param {AbortSignal} signal @returns {AsyncGenerator<StreamEvent>} */
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

/** The topics of this tab changed: tell the leading tab, become it, or stop leading. */
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

/** Lead once no other tab does, until this tab has no topics. @param {AbortController} claimed */
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

/** Reopen the stream if it lacks a topic; all tabs are asked, because closed tabs do not unsubscribe. @param {{ ask?: boolean }} [options] */
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
    } catch { // refused: the token belongs to an earlier start
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

/** Whether a list was last updated before a time. @param {Topic} topic @param {number} at */
const lacks = (topic, at) => concerns(topic, OPENED) && (topic.since ?? 0) < at;

/** Deliver an event to the listeners of this tab. @param {StreamEvent} event @param {number} at */
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

/** Restart with a new token. */
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
