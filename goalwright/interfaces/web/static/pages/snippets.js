// Excerpts of runs with the words of a search, loaded after the list.
import { useEffect, useState } from "../vendor/hooks.js";
import { get } from "../core/api.js";
import { html } from "../core/html.js";

/** @typedef {{ where: string, parts: [string, boolean][] }} Snippet */

/** The number of runs per request. */
const MOST = 50;

/** The snippets of runs, by id. @param {string} text the search @param {string[]} ids @returns {Record<string, Snippet>} */
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
      () => {}, // the list works without them
    );
    return () => ending.abort();
  }, [text, missing.join()]);
  return known;
}

/** @param {{ snippet: Snippet | null | undefined }} props */
export const SnippetLine = ({ snippet }) => (snippet ? html`<small class="snippet" dir="auto"><span class="muted">In ${snippet.where === "answer" ? "its answer" : snippet.where === "task" ? "a task" : `the ${snippet.where}`}: </span>${snippet.parts.map(([text, isMatch]) => (isMatch ? html`<mark>${text}</mark>` : text))}</small>` : null);
