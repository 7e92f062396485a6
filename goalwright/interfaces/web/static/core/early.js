// Requests a view's first data before the page's script has loaded, to save time on slow connections.
import { token } from "./token.js";

/** @type {any} */
const page = globalThis;
const READ = /^\/(?:runs|conversations)\/(?!new$)[^/]+$/;

/** Request the first data of an address's view. @param {string} path */
export function askEarly(path) {
  const paths = ["/about", ...(READ.test(path) ? [path] : [])];
  const headers = { authorization: `Bearer ${token()}` };
  page.goalwrightEarly = new Map(paths.map((one) => [one, fetch(`/api${one}`, { headers, cache: "no-store" }).catch(() => null)]));
}

/** Take the early response to a request, once; null if there is none or it failed. @param {string} path @returns {Promise<Response | null>} */
export async function early(path) {
  const found = page.goalwrightEarly?.get(path) ?? null;
  page.goalwrightEarly?.delete(path);
  return found;
}
