// Seeded plans: layers of tasks, and a plan of 40 as models make them.
export function rng(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function layered(layers = 20, width = 100, needs = 3, seed = 1) {
  const random = rng(seed);
  const tasks = [];
  for (let layer = 0; layer < layers; layer++) for (let i = 0; i < width; i++) {
    const before = new Set();
    while (layer && before.size < needs) before.add(`t${layer - 1}_${Math.floor(random() * width)}`);
    tasks.push({ id: `t${layer}_${i}`, depends_on: [...before] });
  }
  return tasks;
}

export function plan40(seed = 7) {
  const random = rng(seed);
  const tasks = [];
  let before = [];
  for (const size of [5, 8, 9, 8, 6, 3, 1]) {
    const here = [];
    for (let i = 0; i < size; i++) {
      const needs = new Set();
      const wanted = before.length ? 1 + Math.floor(random() * 2.6) : 0;
      for (let tries = 0; tries < 20 && needs.size < wanted; tries++) needs.add(before[Math.min(before.length - 1, Math.floor((i / size) * before.length + random() * 2.5))]);
      here.push(`t${tasks.length + 1}`);
      tasks.push({ id: here[here.length - 1], depends_on: [...needs] });
    }
    before = here;
  }
  return tasks;
}
