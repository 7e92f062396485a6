// Renders elements only when they are nearly in view, so that very long texts do not block the page.
import { useEffect, useRef, useState } from "../vendor/hooks.js";

const MARGIN = "800px";

/** @type {Map<Element, () => void>} */
const waiting = new Map();
/** The elements nearly in view, with their distances from the middle of the window. @type {Map<Element, number>} */
const due = new Map();
/** @type {IntersectionObserver | null} */
let observer = null;
let isDrawing = false;

/** Render one element per frame, the nearest first, so that the page stays responsive. */
function drawNext() {
  const [nearest] = [...due].sort((one, other) => one[1] - other[1])[0] ?? [];
  isDrawing = nearest !== undefined;
  if (nearest === undefined) return;
  due.delete(nearest);
  waiting.get(nearest)?.();
  requestAnimationFrame(() => setTimeout(drawNext));
}

/** @param {IntersectionObserverEntry[]} entries */
function onSeen(entries) {
  for (const { isIntersecting, target, boundingClientRect: { top, bottom } } of entries) {
    if (isIntersecting && waiting.has(target)) due.set(target, Math.abs((top + bottom) / 2 - innerHeight / 2));
    else due.delete(target); // scrolled out of view
  }
  if (due.size && !isDrawing) {
    isDrawing = true;
    setTimeout(drawNext);
  }
}

/** Whether an element was ever nearly in view. @param {boolean} first render it at once @returns {[boolean, { current: any }]} */
export function useNear(first) {
  const [near, setNear] = useState(first);
  const place = useRef(/** @type {Element | null} */ (null));
  useEffect(() => {
    const element = place.current;
    if (near || !element) return;
    observer ??= new IntersectionObserver(onSeen, /** @type {any} */ ({ rootMargin: MARGIN, scrollMargin: MARGIN }));
    const watching = observer;
    waiting.set(element, () => setNear(true));
    observer.observe(element);
    return () => {
      waiting.delete(element);
      due.delete(element);
      watching.unobserve(element);
    };
  }, [near]);
  return [near, place];
}
