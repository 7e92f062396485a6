// The address as a value, with support for the browser's back and forward buttons.
import { signal } from "../vendor/signals.js";

/** @typedef {{ path: string, query: URLSearchParams }} Place */

const here = () => ({ path: location.pathname, query: new URLSearchParams(location.search) });

/** @type {{ value: Place, peek: () => Place }} */
export const place = signal(here());

let inMemory = false;

/** Keep the address in memory: an exported file cannot change its own. */
export const stayHere = () => void (inMemory = true);

/** The target of a link to another page; none in an exported file. @param {string} path */
export const address = (path) => (inMemory ? undefined : path);

/** The decoded parts of a path; invalid encodings are kept. @param {string} path */
export const parts = (path) => path.split("/").slice(1).map((one) => {
  try {
    return decodeURIComponent(one);
  } catch {
    return one;
  }
});

/** The question before another page is shown; null if there is none. @type {(() => Promise<boolean>) | null} */
let leave = null;

/** Ask before another page is shown; returns a function that stops asking. @param {() => Promise<boolean>} question */
export function askBefore(question) {
  leave = question;
  return () => {
    if (leave === question) leave = null;
  };
}

/** Stop asking: unsaved text is being sent. */
export const leaveFreely = () => void (leave = null);

/** Go to an address. @param {string} to @param {{ replace?: boolean }} [options] */
export function go(to, { replace = false } = {}) {
  if (inMemory) {
    place.value = { path: "", query: new URLSearchParams(to.split("?")[1] ?? "") };
    return;
  }
  if (to === location.pathname + location.search) return;
  if (leave && to.split("?")[0] !== location.pathname) {
    leave().then((sure) => {
      if (!sure) return;
      leaveFreely();
      go(to, { replace });
    });
    return;
  }
  history[replace ? "replaceState" : "pushState"](null, "", to);
  place.value = here();
}

/** Focus the start of the new page. */
export const focusPage = () => setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus());

/** The current address with changed query values; null removes one. @param {Record<string, string | null>} changes */
export function withQuery(changes) {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return place.value.path + (text ? `?${text}` : "");
}

/** Change query values. @param {Record<string, string | null>} changes @param {{ replace?: boolean }} [options] */
export const setQuery = (changes, options) => go(withQuery(changes), options);

/** Follow internal links without reloading the page. */
export function listen() {
  addEventListener("popstate", () => {
    const to = location.pathname + location.search;
    if (!leave || location.pathname === place.value.path) return void (place.value = here());
    history.pushState(null, "", withQuery({})); // stay here until the user decides whether to leave
    go(to);
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href") ?? "";
    if (!link || !href.startsWith("/") || href.startsWith("//") || link.target || link.hasAttribute("download")) return;
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(href);
  });
}
