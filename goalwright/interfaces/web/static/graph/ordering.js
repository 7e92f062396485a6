// Orders each layer by the mean of its neighbours in several sweeps, and keeps the order with the fewest crossings.

/** Order the layers in place; returns the number of crossings. @param {import("./layout.js").Graph} graph @param {number} sweeps */
export function order(graph, sweeps) {
  const { up, down, layers } = graph;
  const at = new Float64Array(up.length);
  const key = new Float64Array(up.length);
  layers.forEach((layer) => number(layer, at));
  let best = layers.map((layer) => layer.slice());
  let fewest = countAll(layers, up, at);
  for (let sweep = 0, stale = 0; sweep < sweeps && stale < 3 && fewest; sweep++) {
    if (sweep % 2 === 0) for (let rank = 1; rank < layers.length; rank++) sortLayer(layers[rank], up, at, key);
    else for (let rank = layers.length - 2; rank >= 0; rank--) sortLayer(layers[rank], down, at, key);
    const crossings = countAll(layers, up, at);
    if (crossings < fewest) {
      fewest = crossings;
      best = layers.map((layer) => layer.slice());
      stale = 0;
    } else stale++;
  }
  best.forEach((layer, rank) => (layers[rank] = layer));
  return fewest;
}

/** @param {number[]} layer @param {Float64Array} at */
const number = (layer, at) => layer.forEach((one, index) => (at[one] = index));

/** @param {number[]} layer @param {number[][]} near @param {Float64Array} at @param {Float64Array} key */
function sortLayer(layer, near, at, key) {
  for (const one of layer) {
    const list = near[one];
    let sum = 0;
    for (const other of list) sum += at[other];
    key[one] = list.length ? sum / list.length : at[one];
  }
  layer.sort((a, b) => key[a] - key[b] || at[a] - at[b]);
  number(layer, at);
}

/** @param {number[][]} layers @param {number[][]} up @param {Float64Array} at */
function countAll(layers, up, at) {
  let sum = 0;
  for (let rank = 1; rank < layers.length; rank++) sum += crossings(layers[rank], up, at, layers[rank - 1].length);
  return sum;
}

/** Crossings between a layer and the one before it, by a Fenwick tree. @param {number[]} layer @param {number[][]} up @param {Float64Array} at @param {number} width */
export function crossings(layer, up, at, width) {
  const tree = new Int32Array(width + 1);
  let sum = 0;
  let seen = 0;
  for (const one of layer) {
    const ends = up[one].map((before) => at[before]).sort((a, b) => a - b);
    for (const end of ends) {
      let below = 0;
      for (let i = end + 1; i > 0; i -= i & -i) below += tree[i];
      sum += seen - below;
    }
    for (const end of ends) {
      for (let i = end + 1; i <= width; i += i & -i) tree[i]++;
      seen++;
    }
  }
  return sum;
}
