// What changes in the lists: lines of runs, and skills. One stream for the page, given back while nobody sees it.
import { useEffect } from "../vendor/hooks.js";
import { follow } from "./api.js";
import { readAsking } from "./asking.js";

const HIDDEN = 30_000;
const PAUSE = 1000;

/** Hear of changes as long as a component is there. @param {{ runs?: (changed: any[], gone: string[]) => void, skills?: () => void, again?: () => void }} heard */
export function useChanges(heard) {
  useEffect(() => {
    let ending = new AbortController();
    const run = async () => {
      ending = new AbortController();
      const { signal } = ending;
      for (let first = true; !signal.aborted; first = false) {
        if (!first) {
          await new Promise((go) => setTimeout(go, PAUSE));
          if (signal.aborted) return;
          heard.again?.();
        }
        try {
          for await (const { type, data } of follow(heard.skills ? "/events" : "/events?skills=0", signal)) {
            if (type === "runs") {
              heard.runs?.(data.runs, data.gone);
              readAsking();
            }
            if (type === "skills") heard.skills?.();
          }
        } catch (error) {
          if (/** @type {any} */ (error)?.final) return;
        }
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
    return () => {
      document.removeEventListener("visibilitychange", visibility);
      clearTimeout(hiding);
      ending.abort();
    };
  }, []);
}
