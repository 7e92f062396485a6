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

/** What is asked before another page is shown; null if nothing is. @type {(() => Promise<boolean>) | null} */
let leave = null;

/** Ask before another page is shown; gives the function that ends it. @param {() => Promise<boolean>} question */
export function askBefore(question) {
  leave = question;
  return () => {
    if (leave === question) leave = null;
  };
}

/** Ask nothing more: what was not saved is on its way. */
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

/** Put the focus where the page that was gone to begins. */
export const focusPage = () => setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus());

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
  addEventListener("popstate", () => {
    const to = location.pathname + location.search;
    if (!leave || location.pathname === place.value.path) return void (place.value = here());
    history.pushState(null, "", withQuery({})); // back where it was, until it is said whether to leave
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
