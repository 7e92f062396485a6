// What is drawn only when it is nearly in view: a page with a very long text would otherwise stand still.
import { useEffect, useRef, useState } from "../vendor/hooks.js";

const MARGIN = "800px";

/** @type {Map<Element, () => void>} */
const waiting = new Map();
/** @type {(() => void)[]} */
const due = [];
/** @type {IntersectionObserver | null} */
let observer = null;

/** One at a time, so that the page can do other things between two. */
function next() {
  due.shift()?.();
  if (due.length) setTimeout(next);
}

/** @param {IntersectionObserverEntry[]} entries */
function onSeen(entries) {
  const idle = !due.length;
  for (const { isIntersecting, target } of entries) {
    const draw = isIntersecting && waiting.get(target);
    if (draw) due.push(draw);
  }
  if (idle && due.length) setTimeout(next);
}

/** Whether an element was ever nearly in view. @param {boolean} first it is drawn at once @returns {[boolean, { current: any }]} */
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
      watching.unobserve(element);
    };
  }, [near]);
  return [near, place];
}
