// A note above the answer that lists undone changes, because the answer still mentions them.
import { part } from "../core/api.js";
import { html } from "../core/html.js";
import { useRead } from "../core/use_read.js";

/** The tools that change files of the workspace. */
const WRITERS = ["WriteFile", "EditFile", "MoveFile", "DeleteFile"];
const MOST = 5;

/** @param {{ state: import("./fold.js").State }} props */
export function Undone({ state }) {
  const wrote = [...state.spans.values(), ...state.dropped].some((span) => WRITERS.some((name) => span.tools[name]));
  const { value } = useRead(wrote ? `/runs/${part(state.run_id)}/changes` : null);
  const paths = [...new Set((value?.files ?? []).filter((/** @type {any} */ one) => one.state === "undone").map((/** @type {any} */ one) => one.to ?? one.path))];
  if (!paths.length) return null;
  return html`<div class="note st-partial"><b>Its changes were undone</b><div>${paths.slice(0, MOST).join(", ")}${paths.length > MOST ? ` and ${paths.length - MOST} more` : ""}: as before the run, whatever the answer says.</div></div>`;
}
