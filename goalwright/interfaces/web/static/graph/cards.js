// Tasks in view as buttons: mounted a few per frame when they come into view, and reused.
import { ICONS, WORDS } from "../core/states.js";
import { parentOf } from "./compose.js";
import { MID } from "./levels.js";

const MOUNTS = 30;
const TURNING = 6;
const SVG = "http://www.w3.org/2000/svg";

export class Cards {
  /** @param {import("./graph.js").Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Map<string, HTMLButtonElement>} */
    this.elements = new Map();
    /** @type {Map<string, HTMLButtonElement>} */
    this.folds = new Map();
    /** @type {HTMLButtonElement[]} */
    this.pool = [];
    this.layer = document.createElement("div");
    this.layer.className = "cards";
    this.layer.setAttribute("role", "group");
    this.layer.setAttribute("aria-label", "Tasks in view");
    graph.stage.append(this.layer);
  }

  clear() {
    this.pool.push(...this.elements.values());
    this.elements.clear();
    this.folds.clear();
    this.layer.replaceChildren();
  }

  place() {
    const { graph, layer } = this;
    layer.hidden = graph.isFar;
    if (graph.isFar) return;
    const { x, y, k } = graph.view;
    layer.classList.toggle("mid", k < MID);
    layer.style.transform = `translate(${x}px,${y}px) scale(${k})`;
    this.cull();
  }

  /** Icons turn only while few tasks run: animations are slow in browsers without a graphics card. */
  calm() {
    let running = 0;
    for (const task of this.graph.tasks.values()) if (task.status === "running") running++;
    this.layer.classList.toggle("calm", running > TURNING);
  }

  cull() {
    const { l, t, r, b } = this.graph.bounds(0.12);
    const keep = new Set();
    let left = MOUNTS;
    for (const card of this.graph.plan.cards) {
      if (card.x + card.w < l || card.x > r || card.y + card.h < t || card.y > b) continue;
      keep.add(card.id);
      if (this.elements.has(card.id)) continue;
      if (left-- > 0) this.mount(card);
      else if (left === -1) this.graph.look(this.graph.view, { by: this.graph.fitted ? "fit" : "" }); // continue in the next frame
    }
    for (const [id, element] of this.elements) {
      if (keep.has(id) || element === document.activeElement) continue;
      element.remove();
      this.elements.delete(id);
      this.folds.get(id)?.remove();
      this.folds.delete(id);
      this.pool.push(element);
    }
  }

  /** @param {string} id */
  mountNow(id) {
    const card = this.graph.plan.cards[this.graph.at.get(id) ?? -1];
    if (card && !this.elements.has(id)) this.mount(card);
  }

  /** @param {import("./compose.js").Card} card */
  mount(card) {
    const element = this.pool.pop() ?? make();
    element.dataset.id = card.id;
    element.style.transform = `translate(${card.x}px,${card.y}px)`;
    element.style.width = `${card.w}px`;
    this.elements.set(card.id, element);
    this.paint(card.id);
    this.layer.append(element);
    if (card.parts) this.mountFold(card);
  }

  /** The button that opens and closes a card's parts. @param {import("./compose.js").Card} card */
  mountFold(card) {
    const fold = document.createElement("button");
    fold.type = "button";
    fold.className = "fold";
    fold.dataset.fold = card.id;
    fold.textContent = card.open ? "−" : `+${card.parts}`;
    fold.setAttribute("aria-expanded", String(card.open));
    fold.setAttribute("aria-label", `${card.open ? "Fold" : "Show"} the ${card.parts} parts of ${this.graph.tasks.get(card.id)?.title || card.id}`);
    fold.style.transform = `translate(${card.x + card.w - 22}px,${card.y + card.h - 11}px)`;
    this.folds.set(card.id, fold);
    this.layer.append(fold);
  }

  /** Update a card from its task. @param {string} id */
  paint(id) {
    const element = this.elements.get(id);
    const task = this.graph.tasks.get(id);
    if (!element || !task) return;
    const { graph } = this;
    const [icon, text, note] = /** @type {any} */ (element.children);
    const selected = graph.selected === id;
    const parts = graph.plan.cards[graph.at.get(id) ?? -1]?.parts ?? 0;
    const inside = parts ? partsOf(graph.tasks, id) : null;
    const label = inside ? progress(inside) : task.label;
    const loud = inside?.failed ? " parts-failed" : inside?.waiting ? " parts-waiting" : "";
    element.className = `card st-${task.status}${graph.critical.has(id) ? " crit" : ""}${selected ? " sel" : ""}${parts ? " group" : ""}${loud}`;
    icon.firstChild.setAttribute("d", ICONS[task.status] ?? ICONS.pending);
    text.firstChild.textContent = `${task.title || id} `; // the space separates words for screen readers
    text.lastChild.textContent = `${label} `;
    note.textContent = task.note;
    const said = [task.title || id, label, task.note, WORDS[task.status] ?? task.status];
    element.setAttribute("aria-label", said.filter(Boolean).join(", "));
    if (selected) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }
}

/** The number of a task's parts by status, including nested parts. @param {ReadonlyMap<string, import("./graph.js").Task>} tasks @param {string} id */
export function partsOf(tasks, id) {
  const found = { all: 0, done: 0, failed: 0, waiting: 0, running: 0 };
  for (const task of tasks.values()) {
    if (task.id.length <= id.length || !task.id.startsWith(id) || !isWithin(task.id, id)) continue;
    if (parentOf(task.id) === id) {
      found.all++;
      if (task.status === "done" || task.status === "reused") found.done++;
    }
    if (task.status === "failed" || task.status === "waiting" || task.status === "running") found[task.status]++;
  }
  return found;
}

/** @param {string} id @param {string} parent */
function isWithin(id, parent) {
  for (let one = parentOf(id); one !== null; one = parentOf(one)) if (one === parent) return true;
  return false;
}

/** The progress of a task's parts, problems first. @param {ReturnType<typeof partsOf>} parts */
export const progress = ({ all, done, failed, waiting, running }) => [
  failed && `${failed} failed`, waiting && `${waiting} ${waiting === 1 ? "asks" : "ask"} you`, `${done} of ${all}${failed || waiting ? "" : " parts"}`, running && `${running} running`,
].filter(Boolean).join(" · ");

/** @returns {HTMLButtonElement} */
function make() {
  const button = document.createElement("button");
  button.type = "button";
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "0 0 16 16");
  icon.setAttribute("aria-hidden", "true");
  icon.append(document.createElementNS(SVG, "path"));
  const text = document.createElement("span");
  text.append(document.createElement("b"), document.createElement("small"));
  /** @type {any} */ (text.firstChild).dir = "auto"; // so that a right-to-left title is also cut at its end
  button.append(icon, text, document.createElement("i"));
  return button;
}
