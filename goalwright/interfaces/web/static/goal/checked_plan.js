// The server's check of a plan's text while typing: tasks with lines, and faults; and edits that it makes to the text.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { attempt } from "../core/announce.js";
import { post } from "../core/api.js";

/**
 * @typedef {{ id: string, title: string, action_type: string, name: string, depends_on: string[], line: number, end: number }} Outlined
 * @typedef {{ line: number, message: string, task: string | null }} Fault
 * @typedef {{ text: string, plan: any, goal: string, faults: Fault[], repairs: string[], tasks: Outlined[], editable: boolean, renames: number }} Checked `tasks` are of the last readable text; `renames` counts the renames before it
 * @typedef {{ change: "add" | "rename" | "link" | "unlink" | "remove", task?: string, to?: string }} Change
 */

const PAUSE = 250;

/**
 * The last check of a text, null until there is one, and a function that edits the text.
 * @param {string} text @param {boolean} ready @param {(text: string, task: string | null) => void} onChanged
 */
export function useCheckedPlan(text, ready, onChanged) {
  const [checked, setChecked] = useState(/** @type {Checked | null} */ (null));
  const latest = useRef(text);
  const changes = useRef(Promise.resolve());
  const renamed = useRef(/** @type {{ from: string, to: string }[]} */ ([]));
  latest.current = text;
  const take = (/** @type {string} */ of, /** @type {any} */ found) => setChecked((before) => ({ ...found, text: of, tasks: found.tasks ?? before?.tasks ?? [], renames: renamed.current.length }));
  useEffect(() => {
    if (!ready || checked?.text === text) return;
    const ending = new AbortController();
    const timer = setTimeout(async () => {
      const found = await post("/plan/check", { text }, { signal: ending.signal }).catch(() => null);
      if (found) take(text, found);
    }, checked ? PAUSE : 0);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [text, ready]);
  const make = async (/** @type {Change} */ asked, /** @type {number} */ known) => {
    const since = renamed.current.slice(known); // since the clicked task was shown
    const now = (/** @type {string | undefined} */ id) => since.reduce((name, one) => (name === one.from ? one.to : name), id);
    const change = { ...asked, task: now(asked.task), to: asked.change === "rename" ? asked.to : now(asked.to) };
    for (;;) {
      const of = latest.current;
      const made = await attempt(() => post("/plan/edit", { ...change, text: of }));
      if (!made) return;
      if (latest.current !== of) continue; // the text changed meanwhile: edit that text
      latest.current = made.text;
      if (change.change === "rename") renamed.current.push({ from: change.task ?? "", to: change.to ?? "" });
      take(made.text, made);
      onChanged(made.text, made.task);
      return;
    }
  };
  const shown = checked?.renames ?? 0;
  return { checked, change: (/** @type {Change} */ one) => void (changes.current = changes.current.then(() => make(one, shown))) };
}
