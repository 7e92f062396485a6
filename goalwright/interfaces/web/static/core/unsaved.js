// Unsaved texts: kept in this tab, with a question before it is left.
import { useLayoutEffect, useState } from "../vendor/hooks.js";
import { confirm } from "./dialog.js";
import { askBefore } from "./router.js";

const KEY = "goalwright-unsaved:";

/** The text kept under a name, and the version that it was based on. @param {string} name @returns {{ text: string, tag: string } | null} */
export function keptText(name) {
  try {
    return JSON.parse(sessionStorage.getItem(KEY + name) ?? "null");
  } catch { // written by another version
    return null;
  }
}

/** Keep a text; null removes it. @param {string} name @param {{ text: string, tag: string } | null} kept */
export function keepText(name, kept) {
  try {
    if (kept) sessionStorage.setItem(KEY + name, JSON.stringify(kept));
    else sessionStorage.removeItem(KEY + name);
  } catch { // storage is full; the question is still asked
  }
}

/** The values of a form's fields, kept in this tab under the form's name. @param {string} name @returns {[Record<string, string>, (typed: Record<string, string>) => void]} */
export function useTyped(name) {
  const [typed, setTyped] = useState(() => JSON.parse(keptText(name)?.text ?? "{}"));
  const type = (/** @type {Record<string, string>} */ now) => {
    setTyped(now);
    keepText(name, Object.keys(now).length ? { text: JSON.stringify(now), tag: "" } : null);
  };
  return [typed, type];
}

/** Ask before the page is left while something is unsaved. @param {boolean} unsaved */
export function useUnsaved(unsaved) {
  useLayoutEffect(() => { // in the same frame as the rendering
    if (!unsaved) return;
    const leaving = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("beforeunload", leaving);
    const done = askBefore(() => confirm({ title: "Leave without saving?", text: "Your text is not saved. It is kept as a draft until you close this tab.", yes: "Leave" }));
    return () => {
      removeEventListener("beforeunload", leaving);
      done();
    };
  }, [unsaved]);
}
