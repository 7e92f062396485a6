// What a view shows first, asked for before the page's script is there: on a slow line, both come together.
import { token } from "./token.js";

/** @type {any} */
const page = globalThis;
const READ = /^\/(?:runs|conversations)\/(?!new$)[^/]+$/;

/** Ask for what the view of an address reads first. @param {string} path */
export function askEarly(path) {
  const paths = ["/about", ...(READ.test(path) ? [path] : [])];
  const headers = { authorization: `Bearer ${token()}` };
  page.goalwrightEarly = new Map(paths.map((one) => [one, fetch(`/api${one}`, { headers, cache: "no-store" }).catch(() => null)]));
}

/** The answer that is on its way already, once; null if there is none, or it was lost. @param {string} path @returns {Promise<Response | null>} */
export async function early(path) {
  const found = page.goalwrightEarly?.get(path) ?? null;
  page.goalwrightEarly?.delete(path);
  return found;
}
