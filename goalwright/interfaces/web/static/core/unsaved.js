// Texts that are not saved yet: kept in this tab, and asked about before it is left.
import { useLayoutEffect, useState } from "../vendor/hooks.js";
import { confirm } from "./dialog.js";
import { askBefore } from "./router.js";

const KEY = "goalwright-unsaved:";

/** The text that was kept under a name, and what it was made from. @param {string} name @returns {{ text: string, tag: string } | null} */
export function keptText(name) {
  try {
    return JSON.parse(sessionStorage.getItem(KEY + name) ?? "null");
  } catch { // of another version
    return null;
  }
}

/** Keep a text; null forgets it. @param {string} name @param {{ text: string, tag: string } | null} kept */
export function keepText(name, kept) {
  try {
    if (kept) sessionStorage.setItem(KEY + name, JSON.stringify(kept));
    else sessionStorage.removeItem(KEY + name);
  } catch { // there is no more room: it is asked about all the same
  }
}

/** What is typed into the fields of a form, by their names, kept in this tab under the form's name. @param {string} name @returns {[Record<string, string>, (typed: Record<string, string>) => void]} */
export function useTyped(name) {
  const [typed, setTyped] = useState(() => JSON.parse(keptText(name)?.text ?? "{}"));
  const type = (/** @type {Record<string, string>} */ now) => {
    setTyped(now);
    keepText(name, Object.keys(now).length ? { text: JSON.stringify(now), tag: "" } : null);
  };
  return [typed, type];
}

/** Ask before the page is left, as long as something is not saved. @param {boolean} unsaved */
export function useUnsaved(unsaved) {
  useLayoutEffect(() => { // with what is shown: once it is, nothing is asked any more
    if (!unsaved) return;
    const leaving = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("beforeunload", leaving);
    const done = askBefore(() => confirm({ title: "Leave without saving?", text: "Your text is not saved. It stays here as a draft until you close this tab.", yes: "Leave" }));
    return () => {
      removeEventListener("beforeunload", leaving);
      done();
    };
  }, [unsaved]);
}
