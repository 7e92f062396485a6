// The difference of two texts by lines (Myers), and of two lines by words. Pure.

/** @typedef {{ kind: "same" | "added" | "dropped", text: string }} Piece */

const MOST_STEPS = 800;

/** The edit script from one list to another. @param {string[]} a @param {string[]} b @returns {Piece[]} */
export function difference(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (/** @type {string[]} */ list) => list.map((text) => /** @type {Piece} */ ({ kind: "same", text }));
  return [...same(a.slice(0, start)), ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(a.slice(a.length - end))];
}

/** @param {string[]} a @param {string[]} b @returns {Piece[]} */
function middle(a, b) {
  const trace = walk(a, b);
  if (!trace) return [...a.map((text) => /** @type {Piece} */ ({ kind: "dropped", text })), ...b.map((text) => /** @type {Piece} */ ({ kind: "added", text }))];
  /** @type {Piece[]} */
  const pieces = [];
  let x = a.length, y = b.length;
  for (let steps = trace.length - 1; steps >= 0; steps--) {
    const ends = trace[steps];
    const diagonal = x - y;
    const down = diagonal === -steps || (diagonal !== steps && reach(ends, diagonal - 1) < reach(ends, diagonal + 1));
    const before = down ? diagonal + 1 : diagonal - 1;
    const fromX = steps ? reach(ends, before) : 0;
    const fromY = steps ? fromX - before : 0;
    while (x > fromX && y > fromY) {
      pieces.push({ kind: "same", text: a[--x] });
      y--;
    }
    if (!steps) break;
    if (down) pieces.push({ kind: "added", text: b[--y] });
    else pieces.push({ kind: "dropped", text: a[--x] });
  }
  return pieces.reverse();
}

/** @param {Map<number, number>} ends @param {number} diagonal */
const reach = (ends, diagonal) => ends.get(diagonal) ?? -1;

/** The furthest point of each diagonal after every step; null after too many steps. @param {string[]} a @param {string[]} b */
function walk(a, b) {
  /** @type {Map<number, number>} */
  let ends = new Map([[1, 0]]);
  const trace = [];
  for (let steps = 0; steps <= Math.min(a.length + b.length, MOST_STEPS); steps++) {
    trace.push(ends);
    const next = new Map(ends);
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const down = diagonal === -steps || (diagonal !== steps && reach(ends, diagonal - 1) < reach(ends, diagonal + 1));
      let x = down ? reach(ends, diagonal + 1) : reach(ends, diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return trace;
    }
    ends = next;
  }
  return null;
}

/** The difference by lines; long unchanged stretches are left out. @param {string} a @param {string} b @param {number} [around] lines of context @returns {(Piece | { kind: "cut", text: string })[]} */
export function lineDifference(a, b, around = 3) {
  const pieces = difference(a.split("\n"), b.split("\n"));
  const near = new Uint8Array(pieces.length);
  pieces.forEach((piece, at) => {
    if (piece.kind !== "same") near.fill(1, Math.max(0, at - around), at + around + 1);
  });
  /** @type {(Piece | { kind: "cut", text: string })[]} */
  const shown = [];
  let left = 0;
  pieces.forEach((piece, at) => {
    if (near[at]) {
      if (left) shown.push({ kind: "cut", text: String(left) });
      left = 0;
      shown.push(piece);
    } else left++;
  });
  if (left && shown.length) shown.push({ kind: "cut", text: String(left) });
  return shown;
}
