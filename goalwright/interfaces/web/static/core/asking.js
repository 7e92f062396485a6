// The number of open requests for the rail, read when the page opens and when a run changes.
import { signal } from "../vendor/signals.js";
import { get } from "./api.js";

/** @type {{ value: any[] | null }} */
export const asking = signal(null);

const GATHER = 300;
/** @type {any} */
let due;
let reads = 0;

/** Read the requests again soon; several calls are joined. */
export function readAsking() {
  due ??= setTimeout(async () => {
    due = undefined;
    const read = ++reads;
    const found = await get("/approvals").catch(() => null);
    if (found && read === reads) asking.value = found; // ignore an outdated response
  }, GATHER);
}
