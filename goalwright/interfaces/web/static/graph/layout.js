// A layered graph layout: longest-path layers, sweeps that reduce crossings, then coordinates. Pure: no DOM.
import { place } from "./coordinates.js";
import { order } from "./ordering.js";

/**
 * @typedef {{ id: string, deps: string[], w: number, h: number }} Box an item with its size
 * @typedef {{ x: number, y: number, w: number, h: number, rank: number }} Placed
 * @typedef {{ from: number, to: number, points: [number, number][] }} Edge between boxes, by their numbers
 * @typedef {{ nodes: Placed[], edges: Edge[], width: number, height: number, crossings: number }} Layout
 * @typedef {{ up: number[][], down: number[][], ranks: number[], layers: number[][], real: number }} Graph
 */

/**
 * @param {Box[]} boxes
 * @param {{ gapX?: number, gapY?: number, sweeps?: number, shape?: number }} [options] `shape`: the wanted ratio of width
 *   to height; large layers move apart to reach it
 * @returns {Layout}
 */
export function layout(boxes, { gapX = 46, gapY = 16, sweeps = 8, shape = 0 } = {}) {
  if (!boxes.length) return { nodes: [], edges: [], width: 0, height: 0, crossings: 0 };
  const number = new Map(boxes.map((box, index) => [box.id, index]));
  const needs = boxes.map((box) => [...new Set(box.deps)].map((id) => number.get(id)).filter((one) => one !== undefined));
  const ranks = rankAll(/** @type {number[][]} */ (needs));
  const { graph, chains } = cutLongEdges(/** @type {number[][]} */ (needs), ranks);
  const crossings = order(graph, sweeps);
  const sizes = graph.ranks.map((_, index) => (index < graph.real ? boxes[index].h + gapY : gapY * 1.2));
  const { y, height } = place(graph, sizes);
  const columns = spread(graph, boxes, gapX, height, shape);
  const nodes = boxes.map(({ w, h }, index) => {
    const column = columns[ranks[index]];
    return { x: column.x + (column.w - w) / 2, y: y[index] - h / 2, w, h, rank: ranks[index] };
  });
  const edges = chains.map(({ from, to, points }) => ({
    from, to,
    points: /** @type {[number, number][]} */ ([
      [nodes[from].x + nodes[from].w, y[from]],
      ...points.flatMap((point) => {
        const { x, w } = columns[graph.ranks[point]];
        return [[x, y[point]], [x + w, y[point]]];
      }),
      [nodes[to].x, y[to]],
    ]),
  }));
  const last = columns[columns.length - 1];
  return { nodes, edges, width: last.x + last.w, height, crossings };
}

/** The layer of each box: one after its last dependency. Cycles, which no valid plan has, are cut. @param {number[][]} needs */
function rankAll(needs) {
  const ranks = new Array(needs.length).fill(-1);
  const entered = new Uint8Array(needs.length);
  for (let start = 0; start < needs.length; start++) {
    const stack = [start];
    while (stack.length) {
      const one = stack[stack.length - 1];
      if (ranks[one] >= 0) { stack.pop(); continue; }
      if (!entered[one]) {
        entered[one] = 1;
        const open = needs[one].filter((need) => ranks[need] < 0 && !entered[need]);
        if (open.length) { stack.push(...open); continue; }
      }
      ranks[one] = needs[one].reduce((most, need) => Math.max(most, ranks[need] + 1), 0);
      stack.pop();
    }
  }
  return ranks;
}

/** Split edges over several layers at points, which are ordered like boxes, so that edges bend around boxes. */
function cutLongEdges(/** @type {number[][]} */ needs, /** @type {number[]} */ boxRanks) {
  const ranks = boxRanks.slice();
  /** @type {number[][]} */
  const up = needs.map(() => []);
  /** @type {{ from: number, to: number, points: number[] }[]} */
  const chains = [];
  needs.forEach((list, to) => {
    for (const from of list) {
      if (boxRanks[from] >= boxRanks[to]) continue; // part of a cycle
      let last = from;
      const points = [];
      for (let rank = boxRanks[from] + 1; rank < boxRanks[to]; rank++) {
        const point = ranks.push(rank) - 1;
        up.push([last]);
        points.push(point);
        last = point;
      }
      up[to].push(last);
      chains.push({ from, to, points });
    }
  });
  /** @type {number[][]} */
  const down = ranks.map(() => []);
  /** @type {number[][]} */
  const layers = Array.from({ length: Math.max(...boxRanks) + 1 }, () => []);
  up.forEach((list, one) => list.forEach((before) => down[before].push(one)));
  ranks.forEach((rank, one) => layers[rank].push(one));
  return { graph: { up, down, ranks, layers, real: needs.length }, chains };
}

/** The start and width of each layer. @param {Graph} graph @param {Box[]} boxes @param {number} gap @param {number} height @param {number} shape */
function spread(graph, boxes, gap, height, shape) {
  const widths = graph.layers.map((layer) => layer.reduce((most, one) => Math.max(most, one < graph.real ? boxes[one].w : 0), 0));
  const total = widths.reduce((sum, width) => sum + width, 0);
  const wanted = widths.length > 1 ? (height * shape * 0.92 - total) / (widths.length - 1) : gap;
  const between = Math.min(2400, Math.max(gap, wanted));
  let x = 0;
  return widths.map((w) => {
    const column = { x, w };
    x += w + between;
    return column;
  });
}
