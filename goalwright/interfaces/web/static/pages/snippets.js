// Where the words of a search stand in the runs that it found: read after the list, a line each.
import { useEffect, useState } from "../vendor/hooks.js";
import { get } from "../core/api.js";
import { html } from "../core/html.js";

/** @typedef {{ where: string, parts: [string, boolean][] }} Snippet */

/** As many runs as are asked for at once. */
const MOST = 50;

/** The snippets of runs, by id. @param {string} text what was searched for @param {string[]} ids @returns {Record<string, Snippet>} */
export function useSnippets(text, ids) {
  const [found, setFound] = useState(/** @type {{ text: string, snippets: Record<string, Snippet> }} */ ({ text: "", snippets: {} }));
  const known = found.text === text ? found.snippets : {};
  const missing = text.trim() ? ids.filter((id) => !(id in known)).slice(0, MOST) : [];
  useEffect(() => {
    if (!missing.length) return;
    const ending = new AbortController();
    const query = new URLSearchParams([["q", text], ...missing.map((id) => ["run", id])]);
    get(`/snippets?${query}`, { signal: ending.signal }).then(
      ({ snippets }) => setFound({ text, snippets: { ...known, ...Object.fromEntries(missing.map((id) => [id, null])), ...snippets } }),
      () => {}, // the list is there without them
    );
    return () => ending.abort();
  }, [text, missing.join()]);
  return known;
}

/** @param {{ snippet: Snippet | null | undefined }} props */
export const SnippetLine = ({ snippet }) => (snippet ? html`<small class="snippet" dir="auto"><span class="muted">In ${snippet.where === "answer" ? "its answer" : snippet.where === "task" ? "a task" : `the ${snippet.where}`}: </span>${snippet.parts.map(([text, isMatch]) => (isMatch ? html`<mark>${text}</mark>` : text))}</small>` : null);
