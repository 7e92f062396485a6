// Draws the edges in view on the canvas.
import { CARD } from "./compose.js";

/** @typedef {{ from: string, to: string, points: [number, number][], critical: boolean, instead: boolean, top: number, bottom: number }} Drawn */

/** @param {import("./compose.js").Line[]} lines @param {ReadonlySet<string>} critical @returns {Drawn[]} */
export const prepare = (lines, critical) => lines.map(({ from, to, points, instead = false }) => {
  let top = Infinity, bottom = -Infinity;
  for (const [, y] of points) {
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { from, to, points, instead, critical: !instead && critical.has(from) && critical.has(to), top, bottom };
});

/** @param {CanvasRenderingContext2D} context @param {Drawn[]} edges @param {string} style @param {number} width @param {number} alpha */
export function stroke(context, edges, style, width, alpha) {
  context.beginPath();
  for (const { points } of edges) {
    context.moveTo(points[0][0], points[0][1]);
    for (let i = 1; i < points.length; i++) {
      const [ax, ay] = points[i - 1];
      const [bx, by] = points[i];
      const middle = (ax + bx) / 2;
      if (ay === by) context.lineTo(bx, by);
      else context.bezierCurveTo(middle, ay, middle, by, bx, by);
    }
  }
  context.strokeStyle = style;
  context.lineWidth = width;
  context.globalAlpha = alpha;
  context.stroke();
  context.globalAlpha = 1;
}

/** Whether both ends are in view. @param {Drawn} edge @param {import("./graph.js").Bounds} view */
export function ends({ points }, { l, t, r, b }) {
  const first = points[0], last = points[points.length - 1];
  return first[0] >= l && last[0] <= r + CARD.w && Math.min(first[1], last[1]) >= t - CARD.h && Math.max(first[1], last[1]) <= b + CARD.h;
}

/** @param {Drawn} edge @param {import("./graph.js").Bounds} view */
export const touches = ({ points, top, bottom }, { l, t, r, b }) => bottom >= t && top <= b && points[points.length - 1][0] >= l && points[0][0] <= r;
