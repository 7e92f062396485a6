// Changes of the lists of runs and skills, received while the page is visible.
import { useEffect } from "../vendor/hooks.js";
import { readAsking } from "./asking.js";
import { listen } from "./live.js";

const HIDDEN = 30_000;

/** Listen for changes while a component is mounted. @param {{ runs?: (changed: any[], gone: string[]) => void, skills?: () => void, again?: () => void }} heard */
export function useChanges(heard) {
  useEffect(() => {
    let ending = new AbortController();
    const run = async () => {
      const { signal } = (ending = new AbortController());
      for await (const { type, data } of listen({ skills: heard.skills !== undefined }, signal)) {
        if (type === "runs") {
          heard.runs?.(data.runs, data.gone);
          readAsking();
        } else if (type === "skills") heard.skills?.();
        else heard.again?.();
      }
    };
    /** @type {any} */
    let hiding;
    const visibility = () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = setTimeout(() => ending.abort(), HIDDEN);
      else if (ending.signal.aborted) {
        heard.again?.();
        run();
      }
    };
    document.addEventListener("visibilitychange", visibility);
    run();
    if (document.hidden) visibility(); // opened in the background
    return () => {
      document.removeEventListener("visibilitychange", visibility);
      clearTimeout(hiding);
      ending.abort();
    };
  }, []);
}
