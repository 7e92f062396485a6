// Playback of a run: the same fold over its events, up to a time chosen with a slider.
import { signal } from "../vendor/signals.js";
import { useEffect } from "../vendor/hooks.js";
import { ask, part } from "../core/api.js";
import { counted, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { read } from "../core/stream.js";
import { useKeys } from "../core/keys.js";
import { apply, empty } from "./fold.js";

const FRAME = 50;
const WHOLE = 10;
/** The steps of the slider, as integers, so that the last one is the end. */
const PLACES = 1000;

export class Playback {
  /** @param {string} id @param {Record<string, any>[]} rows */
  constructor(id, rows) {
    this.id = id;
    this.rows = rows;
    this.times = timesOf(rows);
    this.end = this.times.at(-1) ?? 0;
    this.state = empty();
    this.index = 0;
    /** @type {Set<import("./feed.js").Listener>} */
    this.listeners = new Set();
    this.stamps = new Map();
    this.texts = new Map();
    this.tick = signal(0);
    this.ready = signal(true);
    this.at = signal(0);
    this.playing = signal(false);
    this.speed = signal("whole");
    this.isLive = false;
  }

  /** Show the run as it was at a time. @param {number} time */
  seek(time) {
    const wanted = Math.max(0, Math.min(this.end, time));
    const before = this.state.version;
    let reshaped = false;
    if (this.index && this.times[this.index - 1] > wanted) {
      this.state = empty();
      this.index = 0;
      reshaped = true;
    }
    const changed = new Set([...this.state.spans.values()].filter((span) => span.status === "running").map((span) => span.id)); // they keep running
    while (this.index < this.rows.length && this.times[this.index] <= wanted + 1e-9) {
      for (const id of apply(this.state, this.rows[this.index++])) changed.add(id);
    }
    this.at.value = wanted;
    for (const listener of this.listeners) listener(changed, reshaped || before !== this.state.version);
    this.tick.value++;
  }

  /** Advance by one frame. */
  step() {
    const rate = this.speed.value === "whole" ? Math.max(1, this.end / WHOLE) : Number(this.speed.value);
    this.seek(this.at.value + (FRAME / 1000) * rate);
    if (this.at.value >= this.end) this.playing.value = false;
  }

  now() { return this.at.value; }
  /** The sequence number of the last event shown. */
  get seq() { return this.state.last_seq; }
}

/** The seconds worked at each event. @param {Record<string, any>[]} rows */
function timesOf(rows) {
  const state = empty();
  let last = 0;
  return rows.map((row) => {
    apply(state, row);
    last = Math.max(last, state.seconds);
    return last;
  });
}

/** All events of a run so far. @param {string} id @param {number} last the sequence number to wait for */
export async function load(id, last) {
  const rows = [];
  const ending = new AbortController();
  const reply = await ask(`/runs/${part(id)}/events?after=0`, { signal: ending.signal });
  for await (const event of read(reply)) {
    if (event.id) rows.push(event.data);
    if (Number(event.id) >= last) break;
  }
  ending.abort();
  return new Playback(id, rows);
}

/** @param {{ playback: Playback, onClose: () => void }} props */
export function PlaybackBar({ playback, onClose }) {
  const { playing, at, end, speed } = playback;
  useEffect(() => {
    if (!playing.value) return;
    const timer = setInterval(() => playback.step(), FRAME);
    return () => clearInterval(timer);
  }, [playing.value]);
  const toggle = () => {
    if (!playing.value && at.value >= end) playback.seek(0);
    playing.value = !playing.value;
  };
  useKeys({ " ": toggle, Escape: onClose }, [playback]);
  return html`<div class="playback" role="group" aria-label="Playback">
    <button type="button" class="btn small icon" aria-label=${playing.value ? "Pause" : "Play"} onClick=${toggle}><${Icon} name=${playing.value ? "pause" : "play"} /></button>
    <input type="range" min="0" max=${PLACES} step="1" value=${end ? Math.round((at.value / end) * PLACES) : PLACES} aria-label="Time of the run" aria-valuetext=${`${seconds(at.value)} of ${seconds(end)}`}
      onInput=${(/** @type {any} */ event) => { playing.value = false; playback.seek(end * (Number(event.target.value) / PLACES)); }} />
    <span class="at">${seconds(at.value)} / ${seconds(end)}</span>
    <select aria-label="Speed" value=${speed.value} onChange=${(/** @type {any} */ event) => (speed.value = event.target.value)}>
      <option value="1">1×</option><option value="10">10×</option><option value="whole">in ten seconds</option></select>
    <span class="muted nowrap num">${counted(playback.index, "event")}</span>
    <button type="button" class="plain" aria-label="End playback" onClick=${onClose}><${Icon} name="close" /></button></div>`;
}
