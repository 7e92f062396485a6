// The panel beside a run's graph, and the button that opens it. On a phone it covers the page.
import { signal } from "../vendor/signals.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { place, setQuery } from "../core/router.js";

/** The views of a run, in the order of the `g` key. */
export const VIEWS = [["split", "Both"], ["graph", "Graph"], ["time", "Time"]];
export const viewNow = () => place.value.query.get("view") ?? "split";

/** The value in the address when the panel is closed. */
const CLOSED = "-";
export const isClosed = () => place.value.query.get("task") === CLOSED;
export const closePanel = () => setQuery({ task: CLOSED, tab: null }, { replace: true });
/** The selected task; null if none is selected. */
export const chosenTask = () => (isClosed() ? null : place.value.query.get("task"));

const phone = matchMedia("(max-width: 900px)");
const covers = signal(phone.matches);
phone.addEventListener("change", () => (covers.value = phone.matches));

/** Buttons for the views and the panel; a phone shows one of them at a time. */
export function ViewSwitch() {
  const isOpen = !isClosed(), hidden = covers.value && isOpen;
  const choose = (/** @type {string} */ id) => setQuery({ view: id === "split" ? null : id, ...(hidden ? { task: CLOSED, tab: null } : {}) }, { replace: true });
  return html`<span class="views"><span class="seg" role="group" aria-label="View">${VIEWS.map(([id, name]) => html`<button type="button" key=${id} aria-pressed=${viewNow() === id && !hidden ? "true" : "false"} onClick=${() => choose(id)}>${name}</button>`)}</span>
    <span class="seg"><button type="button" aria-pressed=${isOpen ? "true" : "false"} title=${isOpen ? "Hide the panel (Esc)" : "Show the panel: answer, details, files"} onClick=${() => (isOpen ? closePanel() : setQuery({ task: null }, { replace: true }))}><${Icon} name="wide" />Panel</button></span></span>`;
}
