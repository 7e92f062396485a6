// A step's events in full, read when it is opened and again when it changes.
import { useEffect, useMemo, useState } from "../vendor/hooks.js";
import { get, part } from "../core/api.js";
import { detailOf } from "./detail.js";

const GATHER = 250;

/** @param {any} source @param {string} task @returns {{ detail: import("./detail.js").Detail | null, problem: any }} */
export function useTask(source, task) {
  const [found, setFound] = useState(/** @type {{ task: string, rows: any[], problem: any } | null} */ (null));
  const stamp = source.stamps.get(task) ?? 0;
  const read = source.ready.value;
  useEffect(() => {
    if (source.rowsOf) return setFound({ task, rows: source.rowsOf(task), problem: null });
    const ending = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const rows = await get(`/runs/${part(source.id)}/tasks/${task.split("/").map(part).join("/")}`, { signal: ending.signal });
        setFound({ task, rows, problem: null });
      } catch (problem) {
        if (!ending.signal.aborted) setFound({ task, rows: [], problem });
      }
    }, found?.task === task ? GATHER : 0);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [source.id, task, stamp, read]);
  const seq = source.seq ?? Infinity;
  const shown = found?.task === task ? found : null;
  const detail = useMemo(() => shown && detailOf(shown.rows.filter((row) => row.seq <= seq)), [shown, seq]);
  return { detail, problem: shown?.problem ?? null };
}
