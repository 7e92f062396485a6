// The icon and word of each state, so that none depends on colour alone.

/** @type {Record<string, string>} */
export const WORDS = {
  pending: "Waiting", running: "Running", done: "Done", failed: "Failed", skipped: "Skipped", cancelled: "Cancelled",
  reused: "Reused", unneeded: "Not needed", interrupted: "Interrupted", stopped: "Stopped", partial: "Partial",
  waiting: "Asks you", planning: "Planning",
};

const CLOCK = "M8 4.6v3.6l2.3 1.5M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4Z";
const ARC = "M8 1.8A6.2 6.2 0 1 1 1.8 8";
const TICK = "M3.2 8.6l3.1 3.1 6.5-7.2";
const CROSS = "M4 4l8 8M12 4l-8 8";
const ARROW = "M3 8h10M9.5 4.5L13 8l-3.5 3.5";
const SQUARE = "M4.5 4.5h7v7h-7z";
const LOOP = "M3 8a5 5 0 0 1 8.6-3.4L13 6M13 2.6V6H9.6M13 8a5 5 0 0 1-8.6 3.4L3 10M3 13.4V10h3.4";
const DASH = "M3.5 8h9";
const ASK = "M5.8 6.1a2.3 2.3 0 1 1 3.4 2c-.8.5-1.2.9-1.2 1.8M8 12.4v.1";

/** 16 × 16, stroked. @type {Record<string, string>} */
export const ICONS = {
  pending: CLOCK, running: ARC, done: TICK, failed: CROSS, skipped: ARROW, cancelled: SQUARE, reused: LOOP,
  unneeded: DASH, interrupted: SQUARE, stopped: SQUARE, waiting: ASK, planning: ARC,
};
ICONS.partial = "M8 1.8a6.2 6.2 0 1 0 0 12.4M8 1.8v12.4M8 1.8a6.2 6.2 0 0 1 0 12.4";

/** The states of tasks in the order of the legend. */
export const LEGEND = ["done", "running", "pending", "waiting", "failed", "skipped", "unneeded", "cancelled", "interrupted", "reused"];

/** The status of a run in words; a requested stop is no interruption. @param {{ status: string, code: string | null }} state */
export const runWord = ({ status, code }) => (code === "STOPPED_BY_USER" && status === "interrupted" ? "Stopped by you" : WORDS[status] ?? status);

/** Whether a run with this status has ended. @param {string} status */
export const isOver = (status) => !["running", "planning", "pending"].includes(status);

/** Whether a run with this status can be resumed. @param {string} status */
export const canResume = (status) => ["partial", "failed", "stopped", "interrupted", "waiting"].includes(status);
