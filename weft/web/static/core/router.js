// The address as a value: every view has one, and the browser's buttons work.
import { signal } from "../vendor/signals.js";

/** @typedef {{ path: string, query: URLSearchParams }} Place */

const here = () => ({ path: location.pathname, query: new URLSearchParams(location.search) });

/** @type {{ value: Place, peek: () => Place }} */
export const place = signal(here());

let inMemory = false;

/** Keep the address to ourselves: a page in a file has none that could be changed, and no other pages. */
export const stayHere = () => void (inMemory = true);

/** Where a link to another page leads: nowhere in a file. @param {string} path */
export const address = (path) => (inMemory ? undefined : path);

/** The parts of a path, each as it was before it was put there; one that nobody encoded stands as it is. @param {string} path */
export const parts = (path) => path.split("/").slice(1).map((one) => {
  try {
    return decodeURIComponent(one);
  } catch {
    return one;
  }
});

/** Go to an address. @param {string} to @param {{ replace?: boolean }} [options] */
export function go(to, { replace = false } = {}) {
  if (inMemory) {
    place.value = { path: "", query: new URLSearchParams(to.split("?")[1] ?? "") };
    return;
  }
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  place.value = here();
}

/** The current address with some of its query changed; null takes one out. @param {Record<string, string | null>} changes */
export function withQuery(changes) {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return place.value.path + (text ? `?${text}` : "");
}

/** Change some of the query. @param {Record<string, string | null>} changes @param {{ replace?: boolean }} [options] */
export const setQuery = (changes, options) => go(withQuery(changes), options);

/** Follow our own links without loading the page again. */
export function listen() {
  addEventListener("popstate", () => (place.value = here()));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href") ?? "";
    if (!link || !href.startsWith("/") || href.startsWith("//") || link.target || link.hasAttribute("download")) return;
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(href);
  });
}
