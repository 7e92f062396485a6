// The panel beside a run's graph: whether it is open, and the button that opens it again. On a phone it covers the rest.
import { signal } from "../vendor/signals.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { place, setQuery } from "../core/router.js";

/** The views of a run, in the order that `g` goes through. */
export const VIEWS = [["split", "Both"], ["graph", "Graph"], ["time", "Time"]];
export const viewNow = () => place.value.query.get("view") ?? "split";

/** What the address has instead of a task when the panel is closed. */
const CLOSED = "-";
export const isClosed = () => place.value.query.get("task") === CLOSED;
export const closePanel = () => setQuery({ task: CLOSED, tab: null }, { replace: true });
/** The task that is chosen; null if it is the run itself, or nothing. */
export const chosenTask = () => (isClosed() ? null : place.value.query.get("task"));

const phone = matchMedia("(max-width: 900px)");
const covers = signal(phone.matches);
phone.addEventListener("change", () => (covers.value = phone.matches));

/** Which view is shown, and the panel: on a phone one of them at a time, so that each button changes what is seen. */
export function ViewSwitch() {
  const isOpen = !isClosed(), hidden = covers.value && isOpen;
  const choose = (/** @type {string} */ id) => setQuery({ view: id === "split" ? null : id, ...(hidden ? { task: CLOSED, tab: null } : {}) }, { replace: true });
  return html`<span class="views"><span class="seg" role="group" aria-label="View">${VIEWS.map(([id, name]) => html`<button type="button" key=${id} aria-pressed=${viewNow() === id && !hidden ? "true" : "false"} onClick=${() => choose(id)}>${name}</button>`)}</span>
    <span class="seg"><button type="button" aria-pressed=${isOpen ? "true" : "false"} title=${isOpen ? "Hide the panel (Esc)" : "Show the panel: answer, details, files"} onClick=${() => (isOpen ? closePanel() : setQuery({ task: null }, { replace: true }))}><${Icon} name="wide" />Panel</button></span></span>`;
}
