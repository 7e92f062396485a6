// Lays out a plan as cards, frames and edges; the parts of a task are folded into its card or shown in its frame. Pure.
import { layout } from "./layout.js";

/**
 * @typedef {{ id: string, depends_on: string[], instead_of?: string[] }} Step
 * @typedef {{ id: string, x: number, y: number, w: number, h: number, parts: number, open: boolean }} Card
 * @typedef {{ id: string, x: number, y: number, w: number, h: number }} Frame around the parts of an opened task
 * @typedef {{ from: string, to: string, points: [number, number][], instead?: boolean }} Line a dependency or, with `instead`, a replacement
 * @typedef {{ cards: Card[], frames: Frame[], lines: Line[], width: number, height: number }} Composition
 */

export const CARD = { w: 180, h: 52 };
/** The largest width of a card. */
export const WIDEST = 300;
const PAD = { x: 14, top: 66, bottom: 12 };
const GROWN = /^(.+?)(?:\[[1-9]\d*\]|#[1-9]\d*|\/[\p{L}\p{N}_-]{1,64})$/su;

/** The parent of a part of a task: `review` of `review[1]`, `research` of `research/sources`, `draft` of its round `draft#2`. @param {string} id */
export function parentOf(id) {
  if (!id.endsWith("]") && !id.includes("/") && !id.includes("#")) return null;
  return GROWN.exec(id)?.[1] ?? null;
}

/** The number of a repeated round, at least 2; 0 for other tasks. @param {string} id */
export const roundOf = (id) => Number(/#(\d+)$/.exec(id)?.[1] ?? 0);

/** Order ids so that parts follow their task, with items and rounds by number. @param {string[]} ids */
export function inOrder(ids) {
  const known = new Set(ids);
  /** @type {Map<string | null, string[]>} */
  const parts = new Map();
  for (const id of ids) {
    const parent = parentOf(id);
    const key = parent !== null && known.has(parent) ? parent : null;
    const list = parts.get(key);
    if (list) list.push(id);
    else parts.set(key, [id]);
  }
  const numberOf = (/** @type {string} */ id) => Number(/[[#](\d+)\]?$/.exec(id)?.[1] ?? 0);
  const found = [];
  const left = [...(parts.get(null) ?? [])].reverse();
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    found.push(id);
    left.push(...(parts.get(id) ?? []).sort((a, b) => numberOf(a) - numberOf(b)).reverse());
  }
  return found;
}

/**
 * @param {Step[]} steps @param {ReadonlySet<string>} opened tasks whose parts are shown
 * @param {{ shape?: number, w?: number }} [options] `w`: how wide a card is
 * @returns {Composition}
 */
export function compose(steps, opened, { shape = 0, w = CARD.w } = {}) {
  const known = new Set(steps.map((step) => step.id));
  /** @type {Map<string | null, Step[]>} */
  const parts = new Map();
  for (const step of steps) {
    const parent = parentOf(step.id);
    const key = parent !== null && known.has(parent) ? parent : null;
    const list = parts.get(key);
    if (list) list.push(step);
    else parts.set(key, [step]);
  }
  return inside(parts.get(null) ?? [], parts, opened, { shape, w });
}

/** @param {Step[]} steps @param {Map<string | null, Step[]>} parts @param {ReadonlySet<string>} opened @param {{ shape: number, w: number }} options @returns {Composition} */
function inside(steps, parts, opened, { shape, w: width }) {
  const card = { ...CARD, w: width };
  /** @type {Map<string, Composition>} */
  const within = new Map();
  const boxes = steps.map(({ id, depends_on, instead_of = [] }) => {
    const own = opened.has(id) ? parts.get(id) : undefined;
    const deps = [...depends_on, ...instead_of];
    if (!own) return { id, deps, ...card };
    const inner = gridded(own, card) ?? inside(own, parts, opened, { shape: 0, w: width });
    within.set(id, inner);
    return { id, deps, w: Math.max(inner.width, width) + 2 * PAD.x, h: inner.height + PAD.top + PAD.bottom };
  });
  const laid = layout(boxes, { shape });
  /** @type {Composition} */
  const all = { cards: [], frames: [], lines: [], width: laid.width, height: laid.height };
  steps.forEach(({ id }, index) => {
    const { x, y, w, h } = laid.nodes[index];
    const inner = within.get(id);
    if (!inner) {
      all.cards.push({ id, x, y, w, h, parts: parts.get(id)?.length ?? 0, open: false });
      return;
    }
    all.frames.push({ id, x, y, w, h });
    all.cards.push({ id, x: x + PAD.x, y: y + 8, ...card, parts: parts.get(id)?.length ?? 0, open: true });
    shift(inner, x + (w - inner.width) / 2, y + PAD.top);
    all.cards.push(...inner.cards);
    all.frames.push(...inner.frames);
    all.lines.push(...inner.lines);
  });
  for (const { from, to, points } of laid.edges) {
    const instead = steps[to].instead_of?.includes(steps[from].id) && !steps[to].depends_on.includes(steps[from].id);
    all.lines.push({ from: steps[from].id, to: steps[to].id, points, ...(instead ? { instead } : {}) });
  }
  return all;
}

/** Lay out many independent items in a grid. @param {Step[]} steps @param {{ w: number, h: number }} card @returns {Composition | null} */
function gridded(steps, card) {
  if (steps.length < 5 || steps.some((step) => !step.id.endsWith("]"))) return null;
  const columns = Math.ceil(Math.sqrt(steps.length / 2.5));
  const gap = 10;
  const cards = steps.map(({ id }, index) => ({
    id, x: (index % columns) * (card.w + gap), y: Math.floor(index / columns) * (card.h + gap), ...card, parts: 0, open: false,
  }));
  const rows = Math.ceil(steps.length / columns);
  return { cards, frames: [], lines: [], width: columns * (card.w + gap) - gap, height: rows * (card.h + gap) - gap };
}

/** @param {Composition} one @param {number} dx @param {number} dy */
function shift(one, dx, dy) {
  for (const box of [...one.cards, ...one.frames]) {
    box.x += dx;
    box.y += dy;
  }
  for (const line of one.lines) for (const point of line.points) {
    point[0] += dx;
    point[1] += dy;
  }
}

/** The card width for a pane: wide enough for the longest title, if all columns stay in view. @param {Composition} plan @param {{ width: number }} pane @param {number} longest in characters */
export function roomFor(plan, pane, longest) {
  const columns = new Set(plan.cards.map((card) => card.x)).size;
  const room = Math.max(0, pane.width - 80 - plan.width) / Math.max(1, columns);
  return Math.round(Math.min(WIDEST, Math.max(CARD.w, 56 + longest * 7.4), CARD.w + room));
}
