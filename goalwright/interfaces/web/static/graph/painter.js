// Draws edges, frames and far views on one canvas larger than the view, and again when the view leaves it or stops moving.
import { WORDS } from "../core/states.js";
import { ends, prepare, stroke, touches } from "./edges.js";
import { MANY } from "./levels.js";

const MARGIN = 0.25;
const REST = 140;

export class Painter {
  /** @param {import("./graph.js").Graph} graph */
  constructor(graph) {
    this.graph = graph;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    graph.stage.append(this.canvas);
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    /** @type {import("./edges.js").Drawn[]} */
    this.edges = [];
    /** @type {{ x: number, y: number, k: number, w: number, h: number, far: boolean, ratio: number } | null} */
    this.drawn = null;
    /** @type {Record<string, string>} */
    this.colors = {};
    this.ink = { edge: "", strong: "", surface: "", accent: "", frame: "", line: "" };
    this.theme();
  }

  theme() {
    const style = getComputedStyle(this.graph.stage);
    const value = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    this.colors = Object.fromEntries(Object.keys(WORDS).map((status) => [status, value(`--${status}`) || value("--pending")]));
    this.ink = { edge: value("--edge"), strong: value("--text"), surface: value("--surface"), accent: value("--accent"), frame: value("--frame"), line: value("--line-strong") };
  }

  /** Load another plan. */
  prepare() {
    this.edges = prepare(this.graph.plan.lines, this.graph.critical);
  }

  forget() { this.drawn = null; }

  /** Move the canvas with the view; redraw if the view leaves it. */
  place() {
    const { view, isFar } = this.graph;
    const { drawn } = this;
    const scale = drawn ? view.k / drawn.k : 0;
    if (!drawn || drawn.far !== isFar || scale > 2.2 || scale < 0.45 || this.isOutside(scale)) return this.draw();
    this.canvas.style.transform = `translate(${view.x - drawn.x * scale}px,${view.y - drawn.y * scale}px) scale(${scale})`;
    if (scale !== 1) {
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.draw(), REST);
    }
  }

  /** @param {number} scale */
  isOutside(scale) {
    const { view, rect } = this.graph;
    const drawn = /** @type {NonNullable<typeof this.drawn>} */ (this.drawn);
    const left = view.x - drawn.x * scale - drawn.w * MARGIN * scale;
    const top = view.y - drawn.y * scale - drawn.h * MARGIN * scale;
    const size = (1 + 2 * MARGIN) * scale;
    return left > 0 || top > 0 || left + drawn.w * size < rect.width || top + drawn.h * size < rect.height;
  }

  draw() {
    const { graph, context, canvas } = this;
    clearTimeout(this.rest);
    const { width: w, height: h } = graph.rect;
    if (!w || !h) return;
    const far = graph.isFar;
    const ratio = Math.min(devicePixelRatio || 1, far ? 1 : 2);
    const pixels = { w: Math.round(w * (1 + 2 * MARGIN) * ratio), h: Math.round(h * (1 + 2 * MARGIN) * ratio) };
    if (canvas.width !== pixels.w || canvas.height !== pixels.h) {
      canvas.width = pixels.w;
      canvas.height = pixels.h;
      Object.assign(canvas.style, { width: `${pixels.w / ratio}px`, height: `${pixels.h / ratio}px`, left: `${-w * MARGIN}px`, top: `${-h * MARGIN}px`, transformOrigin: `${w * MARGIN}px ${h * MARGIN}px` });
    } else {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, pixels.w, pixels.h);
    }
    canvas.style.transform = "";
    this.drawn = { ...graph.view, w, h, far, ratio };
    this.space();
    this.drawFrames();
    this.drawEdges();
    if (far) this.drawBlocks();
  }

  space() {
    const d = /** @type {NonNullable<typeof this.drawn>} */ (this.drawn);
    this.context.setTransform(d.ratio * d.k, 0, 0, d.ratio * d.k, d.ratio * (d.x + d.w * MARGIN), d.ratio * (d.y + d.h * MARGIN));
  }

  drawFrames() {
    const { context, graph } = this;
    for (const { x, y, w, h } of graph.plan.frames) {
      context.beginPath();
      context.roundRect(x, y, w, h, 14);
      context.fillStyle = this.ink.frame;
      context.fill();
      context.setLineDash([5, 4]);
      context.lineWidth = 1.2 / Math.min(1, graph.view.k);
      context.strokeStyle = this.ink.line;
      context.stroke();
      context.setLineDash([]);
    }
  }

  drawEdges() {
    const { graph, edges } = this;
    const { k } = graph.view;
    const far = graph.isFar;
    const many = graph.tasks.size > MANY;
    const near = graph.bounds(MARGIN);
    const seen = graph.bounds(0);
    const plain = edges.filter((edge) => !edge.critical && !edge.instead && (many ? !far && ends(edge, seen) : touches(edge, near)));
    stroke(this.context, plain, this.ink.edge, far ? 1 / k : 1.4, 1);
    stroke(this.context, edges.filter((edge) => edge.critical), this.ink.strong, far ? 1.6 / k : 2.2, 0.85);
    this.context.setLineDash([2, 4]);
    stroke(this.context, edges.filter((edge) => edge.instead), this.ink.accent, far ? 1.6 / k : 1.8, 1);
    this.context.setLineDash([]);
    const { selected } = graph;
    if (selected) stroke(this.context, edges.filter((edge) => edge.from === selected || edge.to === selected), this.ink.accent, far ? 2 / k : 2.2, 1);
  }

  drawBlocks() {
    const { graph, context } = this;
    const { l, t, r, b } = graph.bounds(MARGIN);
    const last = [];
    for (const card of graph.plan.cards) {
      if (card.x + card.w < l || card.x > r || card.y + card.h < t || card.y > b) continue;
      if (isLoud(graph.tasks.get(card.id)?.status)) last.push(card);
      else this.block(card);
    }
    last.forEach((card) => this.block(card));
    const chosen = graph.selected === null ? undefined : graph.plan.cards[graph.at.get(graph.visible(graph.selected)) ?? -1];
    if (!chosen) return;
    const gap = 4 / graph.view.k;
    context.lineWidth = 3 / graph.view.k;
    context.strokeStyle = this.ink.accent;
    context.strokeRect(chosen.x - gap, chosen.y - gap, chosen.w + 2 * gap, chosen.h + 2 * gap);
  }

  /** Redraw some blocks in their current colours. @param {Iterable<string>} ids */
  dots(ids) {
    if (!this.drawn) return;
    this.space();
    for (const id of ids) {
      const card = this.graph.plan.cards[this.graph.at.get(id) ?? -1];
      if (card) this.block(card);
    }
  }

  /** Draw a task in a far view; failed tasks and tasks that wait for an answer stay large enough to click. @param {import("./compose.js").Card} card */
  block({ id, x, y, w, h }) {
    const { context, graph } = this;
    const status = graph.tasks.get(id)?.status ?? "pending";
    context.fillStyle = this.colors[status] ?? this.colors.pending;
    if (!isLoud(status)) return context.fillRect(x, y, w, h);
    const { k } = graph.view;
    const big = { w: Math.max(w, 14 / k), h: Math.max(h, 7 / k) };
    const place = [x + (w - big.w) / 2, y + (h - big.h) / 2, big.w, big.h];
    context.fillRect(place[0], place[1], place[2], place[3]);
    context.lineWidth = 1.4 / k;
    context.strokeStyle = this.ink.surface;
    context.strokeRect(place[0], place[1], place[2], place[3]);
  }

  close() { clearTimeout(this.rest); }
}

/** @param {string | undefined} status */
export const isLoud = (status) => status === "failed" || status === "waiting";
