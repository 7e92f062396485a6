// The graph of a run: tasks in view are buttons; edges and far views are drawn on one canvas.
import { Cards } from "./cards.js";
import { CARD, compose, parentOf, roomFor } from "./compose.js";
import { listen } from "./gestures.js";
import { FAR, LARGEST, MANY, SMALLEST } from "./levels.js";
import { Painter } from "./painter.js";
import { showing, whole } from "./views.js";

/**
 * @typedef {{ id: string, title: string, label: string, note: string, status: string, depends_on: string[], instead_of?: string[] }} Task
 * @typedef {{ x: number, y: number, k: number }} View
 * @typedef {{ l: number, t: number, r: number, b: number }} Bounds
 */

export class Graph {
  /** @param {HTMLElement} stage @param {{ onSelect?: (id: string) => void }} [options] */
  constructor(stage, { onSelect = () => {} } = {}) {
    this.stage = stage;
    this.onSelect = onSelect;
    /** @type {View} */
    this.view = { x: 0, y: 0, k: 1 };
    /** @type {Map<string, Task>} */
    this.tasks = new Map();
    /** @type {Set<string>} */
    this.critical = new Set();
    /** @type {Set<string>} */
    this.opened = new Set();
    /** @type {Map<string, number>} */
    this.at = new Map();
    /** @type {string | null} */
    this.selected = null;
    /** @type {Set<string>} */
    this.dirty = new Set();
    this.shape = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.flushing = undefined;
    this.plan = compose([], this.opened);
    this.rect = stage.getBoundingClientRect();
    this.layoutSeconds = 0;
    this.painter = new Painter(this);
    this.cards = new Cards(this);
    this.unlisten = listen(this);
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(stage);
  }

  /** Show a plan; the view stays where it is unless `fit` is set. @param {Task[]} tasks @param {Iterable<string>} critical @param {{ fit?: boolean }} [options] */
  load(tasks, critical, { fit = false } = {}) {
    const shape = tasks.map((task) => `${task.id}<${task.depends_on.join()}|${task.instead_of?.join() ?? ""}`).join("\n");
    const focused = this.stage.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.id : undefined;
    this.tasks = new Map(tasks.map((task) => [task.id, task]));
    this.critical = new Set(critical);
    if (shape === this.shape) for (const id of this.cards.elements.keys()) this.cards.paint(id);
    else this.compose();
    this.shape = shape;
    this.cards.calm();
    this.painter.prepare();
    if (fit) this.fit();
    else this.redraw();
    if (focused && this.at.has(focused)) this.focus(focused);
  }

  compose() {
    const began = performance.now();
    const shape = this.rect.width / Math.max(1, this.rect.height);
    const steps = [...this.tasks.values()];
    this.plan = compose(steps, this.opened, { shape });
    const longest = steps.length > MANY ? 0 : Math.max(0, ...steps.map((task) => (task.title || task.id).length));
    const w = roomFor(this.plan, this.rect, longest);
    if (w > CARD.w) this.plan = compose(steps, this.opened, { shape, w });
    this.at = new Map(this.plan.cards.map((card, index) => [card.id, index]));
    this.painter.prepare();
    this.cards.clear();
    this.layoutSeconds = (performance.now() - began) / 1000;
  }

  /** Update a task; updates of the same tick are drawn together. @param {string} id @param {Partial<Task>} change */
  update(id, change) {
    const task = this.tasks.get(id);
    if (!task) return;
    Object.assign(task, change);
    for (let one = /** @type {string | null} */ (id); one !== null; one = parentOf(one)) this.dirty.add(one);
    this.flushing ??= setTimeout(() => this.flush(), 0);
  }

  flush() {
    this.flushing = undefined;
    if (this.isFar) this.painter.dots(this.dirty);
    else for (const id of this.dirty) this.cards.paint(id);
    this.cards.calm();
    this.dirty.clear();
  }

  /** @param {Iterable<string>} ids */
  setCritical(ids) {
    const now = new Set(ids);
    if (now.size === this.critical.size && [...now].every((id) => this.critical.has(id))) return;
    const before = this.critical;
    this.critical = now;
    for (const id of new Set([...before, ...now])) if (before.has(id) !== now.has(id)) this.cards.paint(id);
    this.painter.prepare();
    this.redraw();
  }

  /** @param {string | null} id @param {{ reveal?: boolean }} [options] */
  select(id, { reveal = false } = {}) {
    const before = this.selected;
    this.selected = id;
    for (const one of [before, id]) if (one) this.cards.paint(one);
    if (reveal && id) this.reveal(id);
    this.painter.draw();
  }

  /** Show or fold the parts of a task. @param {string} id */
  toggle(id) {
    const inView = this.fitted || this.isWhole;
    if (!this.opened.delete(id)) this.opened.add(id);
    const before = this.plan.cards[this.at.get(id) ?? 0];
    this.compose();
    const after = this.plan.cards[this.at.get(id) ?? 0];
    if (before && after) this.view = { ...this.view, x: this.view.x + (before.x - after.x) * this.view.k, y: this.view.y + (before.y - after.y) * this.view.k };
    this.redraw();
    if (inView) this.fit();
    this.cards.elements.get(id)?.focus({ preventScroll: true });
  }

  /** Whether the whole plan is in view. */
  get isWhole() {
    const { l, t, r, b } = this.bounds(0);
    return l <= 0 && t <= 0 && r >= this.plan.width && b >= this.plan.height;
  }

  get isFar() { return this.view.k < FAR; }

  /** The visible area, with a margin relative to the pane. @param {number} margin @returns {Bounds} */
  bounds(margin) {
    const { x, y, k } = this.view;
    const { width: w, height: h } = this.rect;
    return { l: (-x - w * margin) / k, t: (-y - h * margin) / k, r: (-x + w * (1 + margin)) / k, b: (-y + h * (1 + margin)) / k };
  }

  fit() {
    this.fitted = true;
    this.look(whole(this.plan, this.rect), { by: "fit" });
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] the point that stays where it is */
  zoom(factor, x = this.rect.width / 2, y = this.rect.height / 2) {
    const { view } = this;
    const k = Math.min(LARGEST, Math.max(SMALLEST, view.k * factor));
    this.look({ k, x: x - ((x - view.x) * k) / view.k, y: y - ((y - view.y) * k) / view.k });
  }

  /** @param {View} view @param {{ by?: string }} [options] */
  look(view, { by = "" } = {}) {
    if (by !== "fit") this.fitted = false;
    this.view = view;
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.place();
    });
  }

  place() {
    this.cards.place();
    this.painter.place();
  }

  redraw() {
    this.painter.forget();
    this.place();
  }

  /** Bring a task into view at a readable size. @param {string} id */
  reveal(id) {
    const shown = this.visible(id);
    const card = this.plan.cards[this.at.get(shown) ?? -1];
    if (!card) return;
    this.fitted = false;
    this.view = showing(card, this.view, this.rect);
    this.place();
  }

  /** Bring a task into view and give it the focus. @param {string} id */
  focus(id) {
    const shown = this.visible(id);
    this.reveal(shown);
    this.cards.mountNow(shown);
    this.cards.elements.get(shown)?.focus({ preventScroll: true });
  }

  /** The id of the card that shows a task: its own, or the card it is folded into. @param {string} id @returns {string} */
  visible(id) {
    for (let one = /** @type {string | null} */ (id); one !== null; one = parentOf(one)) if (this.at.has(one)) return one;
    return id;
  }

  resized() {
    this.rect = this.stage.getBoundingClientRect();
    if (!this.rect.width) return;
    if (this.fitted) this.fit();
    this.painter.draw();
  }

  /** Redraw with the colours of the current theme. */
  retheme() {
    this.painter.theme();
    this.painter.draw();
  }

  close() {
    this.watcher.disconnect();
    this.unlisten();
    clearTimeout(this.flushing);
    cancelAnimationFrame(this.due ?? 0);
    this.painter.close();
  }
}
