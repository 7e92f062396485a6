// A hook that reads a route when a component appears, on request, and when the address changes.
import { useEffect, useState } from "../vendor/hooks.js";
import { get } from "./api.js";

/**
 * @param {string | null} path null reads nothing
 * @returns {{ value: any, error: any, again: () => void }} `value` is null until the first response, and stays during later requests
 */
export function useRead(path) {
  const [found, setFound] = useState(/** @type {{ path: string | null, value: any, error: any }} */ ({ path: null, value: null, error: null }));
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const ending = new AbortController();
    get(path, { signal: ending.signal }).then(
      (value) => setFound({ path, value, error: null }),
      (error) => ending.signal.aborted || setFound({ path, value: null, error }),
    );
    return () => ending.abort();
  }, [path, round]);
  const own = found.path === path;
  return { value: own ? found.value : null, error: own ? found.error : null, again: () => setRound((now) => now + 1) };
}
