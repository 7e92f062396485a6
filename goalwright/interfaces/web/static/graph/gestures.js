// Mouse, touch and keys on the graph.
import { isLoud } from "./painter.js";

/** @typedef {import("./graph.js").Graph} Graph */

/** Listen on the graph's stage; returns a function that stops listening. @param {Graph} graph */
export function listen(graph) {
  const ending = new AbortController();
  const { signal } = ending;
  const { stage } = graph;
  stage.addEventListener("wheel", (event) => wheel(graph, event), { passive: false, signal });
  pointers(graph, signal);
  stage.addEventListener("keydown", (event) => key(graph, event), { signal });
  return () => ending.abort();
}

/** Wheels and pinches zoom at the pointer; two fingers on a touchpad, or Shift, pan. @param {Graph} graph @param {WheelEvent} event */
function wheel(graph, event) {
  if (onTools(event)) return;
  event.preventDefault();
  const { view, rect } = graph;
  const isWheel = !event.shiftKey && !event.deltaX && Math.abs(event.deltaY) >= 50;
  if (event.ctrlKey || event.metaKey || isWheel) {
    const speed = event.ctrlKey && Math.abs(event.deltaY) < 50 ? 0.01 : 0.0016;
    graph.zoom(Math.exp(-event.deltaY * speed), event.clientX - rect.left, event.clientY - rect.top);
  } else {
    const [dx, dy] = event.shiftKey && !event.deltaX ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    graph.look({ ...view, x: view.x - dx, y: view.y - dy });
  }
}

/** @param {Event} event */
const onTools = (event) => event.target instanceof Element && event.target.closest("[data-tools]") !== null;

/** Drag to pan, pinch to zoom, click to select. @param {Graph} graph @param {AbortSignal} signal */
function pointers(graph, signal) {
  const { stage } = graph;
  /** @type {Map<number, { x: number, y: number }>} */
  const down = new Map();
  let moved = false;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button || onTools(event)) return;
    if (!down.size) {
      moved = false;
      graph.rect = stage.getBoundingClientRect();
    }
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }, { signal });
  stage.addEventListener("pointermove", (event) => {
    const from = down.get(event.pointerId);
    if (!from) return;
    const dx = event.clientX - from.x, dy = event.clientY - from.y;
    if (!moved && Math.hypot(dx, dy) < 4) return;
    if (!moved) stage.setPointerCapture(event.pointerId);
    moved = true;
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const { view, rect } = graph;
    if (others.length) {
      const [other] = others;
      const before = Math.hypot(from.x - other.x, from.y - other.y), now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      graph.zoom(now / Math.max(1, before), (event.clientX + other.x) / 2 - rect.left, (event.clientY + other.y) / 2 - rect.top);
    } else graph.look({ ...view, x: view.x + dx, y: view.y + dy });
  }, { signal });
  const up = (/** @type {PointerEvent} */ event) => {
    if (!down.delete(event.pointerId) || down.size || moved || event.type !== "pointerup") return;
    click(graph, event);
  };
  stage.addEventListener("pointerup", up, { signal });
  stage.addEventListener("pointercancel", up, { signal });
}

/** @param {Graph} graph @param {PointerEvent} event */
function click(graph, event) {
  const target = event.target instanceof Element ? event.target : null;
  const fold = target?.closest("[data-fold]");
  if (fold instanceof HTMLElement) return graph.toggle(fold.dataset.fold ?? "");
  const card = target?.closest(".card");
  const id = card instanceof HTMLElement ? card.dataset.id : graph.isFar ? hit(graph, event) : undefined;
  if (id) choose(graph, id);
}

/** @param {Graph} graph @param {string} id */
function choose(graph, id) {
  graph.select(id);
  graph.onSelect(id);
}

/** The task under the pointer, with a margin around highlighted tasks. @param {Graph} graph @param {PointerEvent} event */
function hit({ view, rect, plan, tasks }, event) {
  const x = (event.clientX - rect.left - view.x) / view.k, y = (event.clientY - rect.top - view.y) / view.k;
  const found = plan.cards.filter((card) => {
    const room = (isLoud(tasks.get(card.id)?.status) ? 9 : 3) / view.k;
    return x >= card.x - room && x <= card.x + card.w + room && y >= card.y - room && y <= card.y + card.h + room;
  });
  const gap = (/** @type {import("./compose.js").Card} */ card) => Math.abs(y - card.y - card.h / 2) - (isLoud(tasks.get(card.id)?.status) ? 6 / view.k : 0);
  return found.sort((a, b) => gap(a) - gap(b))[0]?.id;
}

/** @param {Graph} graph @param {KeyboardEvent} event */
function key(graph, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || onTools(event)) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (target?.dataset.fold && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    return graph.toggle(target.dataset.fold);
  }
  const id = target?.dataset.id;
  const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
  if (!id) {
    if (!arrows.includes(event.key) && event.key !== "Enter") return;
    const first = graph.selected ?? graph.plan.cards[0]?.id;
    if (!first) return;
    event.preventDefault();
    return graph.focus(first);
  }
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    return choose(graph, id);
  }
  if (event.key === "o" && graph.plan.cards[graph.at.get(id) ?? -1]?.parts) return graph.toggle(id);
  const next = arrows.includes(event.key) ? neighbour(graph, id, event.key) : undefined;
  if (next) {
    event.preventDefault();
    event.stopPropagation();
    graph.focus(next);
  }
}

/** Left and right follow dependencies, up and down stay in the layer. @param {Graph} graph @param {string} id @param {string} arrow */
export function neighbour({ plan, at }, id, arrow) {
  const own = plan.cards[at.get(id) ?? -1];
  const along = plan.lines.filter((line) => (arrow === "ArrowLeft" ? line.to : line.from) === id);
  if (arrow === "ArrowLeft" || arrow === "ArrowRight") {
    const ends = along.map((line) => plan.cards[at.get(arrow === "ArrowLeft" ? line.from : line.to) ?? -1]).filter(Boolean);
    return ends.sort((a, b) => Math.abs(a.y - own.y) - Math.abs(b.y - own.y))[0]?.id;
  }
  const by = arrow === "ArrowDown" ? 1 : -1;
  let best, gap = Infinity;
  for (const card of plan.cards) {
    const distance = (card.y - own.y) * by;
    if (Math.abs(card.x - own.x) < own.w / 2 && distance > 0 && distance < gap) {
      gap = distance;
      best = card.id;
    }
  }
  return best;
}
