// Vertical positions: each box moves to the mean of its neighbours, without overlaps in its layer.

const ROUNDS = 8;

/** @param {import("./layout.js").Graph} graph @param {number[]} sizes @returns {{ y: Float64Array, height: number }} */
export function place({ layers, up, down }, sizes) {
  const y = new Float64Array(sizes.length);
  for (const layer of layers) {
    const total = layer.reduce((sum, one) => sum + sizes[one], 0);
    let at = -total / 2;
    for (const one of layer) {
      y[one] = at + sizes[one] / 2;
      at += sizes[one];
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 2 === 0) for (let rank = 1; rank < layers.length; rank++) pull(layers[rank], up, sizes, y);
    else for (let rank = layers.length - 2; rank >= 0; rank--) pull(layers[rank], down, sizes, y);
  }
  let low = Infinity;
  let high = -Infinity;
  for (let one = 0; one < sizes.length; one++) {
    low = Math.min(low, y[one] - sizes[one] / 2);
    high = Math.max(high, y[one] + sizes[one] / 2);
  }
  for (let one = 0; one < sizes.length; one++) y[one] -= low;
  return { y, height: high - low };
}

/** Move a layer as near to its neighbours as its order allows (pool adjacent violators). */
function pull(/** @type {number[]} */ layer, /** @type {number[][]} */ near, /** @type {number[]} */ sizes, /** @type {Float64Array} */ y) {
  /** @type {{ sum: number, count: number, from: number }[]} */
  const blocks = [];
  const offsets = new Float64Array(layer.length);
  layer.forEach((one, index) => {
    if (index) offsets[index] = offsets[index - 1] + (sizes[layer[index - 1]] + sizes[one]) / 2;
    let wanted = 0;
    for (const other of near[one]) wanted += y[other];
    wanted = near[one].length ? wanted / near[one].length : y[one];
    let block = { sum: wanted - offsets[index], count: 1, from: index };
    while (blocks.length) {
      const last = blocks[blocks.length - 1];
      if (last.sum / last.count <= block.sum / block.count) break;
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count, from: last.from };
    }
    blocks.push(block);
  });
  blocks.forEach((block, index) => {
    const end = blocks[index + 1]?.from ?? layer.length;
    for (let i = block.from; i < end; i++) y[layer[i]] = block.sum / block.count + offsets[i];
  });
}
