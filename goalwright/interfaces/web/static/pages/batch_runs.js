// Runs of batches are hidden in the list of runs, with their number and a button that shows them.
import { useEffect, useRef } from "../vendor/hooks.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { place, setQuery } from "../core/router.js";
import { useRead } from "../core/use_read.js";

/** Milliseconds before runs of batches are counted again: a batch starts many runs a second. */
const PAUSE = 3000;
const isShown = () => place.value.query.get("batches") === "all";
/** Whether a filter other than the status is set: a search includes runs of batches. @param {Record<string, string>} asked */
const isNarrowed = (asked) => Object.keys(asked).some((name) => name !== "status");
/** Whether a list hides the runs of batches. @param {Record<string, string>} asked */
export const hidesBatches = (asked) => !isShown() && !isNarrowed(asked);

/** The number of runs in batches, if the list may hide them; `heard` triggers a recount. @param {Record<string, string>} asked @param {boolean} ready whether the list, which comes first, is there */
export function useBatchRuns(asked, ready) {
  const skipped = !ready || isNarrowed(asked);
  const { value, again } = useRead(skipped ? null : "/batches");
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  useEffect(() => () => clearTimeout(timer.current), []);
  const heard = (/** @type {Record<string, any>[]} */ changed) => {
    if (!changed.some((one) => one.batch)) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      again();
    }, PAUSE);
  };
  const batches = skipped ? [] : value ?? [];
  return { heard, batches: batches.length, runs: batches.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.runs, 0) };
}

/** @param {{ batches: number, runs: number }} props */
export function BatchRuns({ batches, runs }) {
  if (!runs) return null;
  return html`<p class="batchruns">${counted(runs, "run")} of <a href="/batches">${counted(batches, "batch", "batches")}</a> ${runs === 1 ? "is" : "are"} ${isShown() ? "listed too" : "left out"}. <button type="button" class="linkish" onClick=${() => setQuery({ batches: isShown() ? null : "all" }, { replace: true })}>${isShown() ? "Leave them out" : "Show them too"}</button></p>`;
}
