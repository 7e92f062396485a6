// Computes views of the whole plan or of one task. Pure.
import { FAR, FEW, MID, NARROW, READABLE, SMALLEST } from "./levels.js";

/** @typedef {import("./graph.js").View} View */

const BOTTOM = 52;
const AROUND = 28;

/** The view of the whole plan; in a narrow pane, of the part of a small plan that is readable. @param {import("./compose.js").Composition} plan @param {{ width: number, height: number }} pane @returns {View} */
export function whole(plan, { width, height }) {
  const pad = width < 500 ? 16 : 36;
  const room = height - pad - BOTTOM;
  const k = Math.max(SMALLEST, Math.min((width - 2 * pad) / Math.max(1, plan.width), room / Math.max(1, plan.height), 1));
  if (width < NARROW && k < FAR && plan.cards.length <= FEW) return { k: READABLE, x: pad, y: pad + (room - plan.height * READABLE) / 2 };
  return { k, x: (width - plan.width * k) / 2, y: pad + (room - plan.height * k) / 2 };
}

/** The view nearest to the given one that shows a card at a readable size. @param {import("./compose.js").Card} card @param {View} view @param {{ width: number, height: number }} pane @returns {View} */
export function showing(card, view, { width, height }) {
  let { x, y, k } = view;
  if (k < MID) {
    k = MID;
    x = width / 2 - (card.x + card.w / 2) * k;
    y = height / 2 - (card.y + card.h / 2) * k;
  }
  const left = card.x * k + x, top = card.y * k + y;
  x += Math.max(0, AROUND - left) - Math.max(0, left + card.w * k - width + AROUND);
  y += Math.max(0, AROUND - top) - Math.max(0, top + card.h * k - height + AROUND);
  return { x, y, k };
}
