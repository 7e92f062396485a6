// A long Markdown text in pieces that are drawn when they are looked at: cut between blocks, and inside one only where it
// is very long. Formulas between lines of $$ become code. Pure.

/** From here on a piece ends at the next blank line, and there at any line. */
const ENOUGH = 2_500;
const MOST = 16_000;
const FENCE = /^\s*(`{3,}|~{3,})/;
const FORMULA = /^\s*(?:\$\$|\\\[)(.*)$/;
const FORMULA_END = /^(.*?)(?:\$\$|\\\])\s*$/;
const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const GOES_ON = /^(?:\s{2,}|\t|[-*+] |\d{1,9}[.)] )/;
const DEFINITION = /^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?([^\s>]{1,2000})>?/gm;

/** @typedef {{ text: string, plain?: boolean }} Piece `plain`: a line so long that it is shown as it is */

/** @param {string} text @returns {Piece[]} */
export function pieces(text) {
  const cutter = new Cutter();
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const formula = cutter.fence || !/[$\\]/.test(lines[at]) ? null : FORMULA.exec(lines[at]);
    const end = formula ? formulaEnd(lines, at, formula[1]) : -1;
    if (formula && end >= 0) {
      cutter.add("```math", "", true);
      const inner = lines.slice(at, end + 1).join("\n").trim().slice(2, -2).trim();
      for (const line of inner.split("\n")) cutter.add(line, "", true);
      cutter.add("```", lines[end + 1] ?? "");
      at = end;
    } else cutter.add(lines[at], lines[at + 1] ?? "");
  }
  return cutter.finish();
}

/** The line on which a formula ends; -1 if it is none after all. @param {string[]} lines @param {number} at @param {string} first what follows its opening */
function formulaEnd(lines, at, first) {
  if (FORMULA_END.test(first)) return at;
  for (let line = at + 1; line < lines.length && line < at + 200 && lines[line].trim(); line++) if (FORMULA_END.test(lines[line])) return line;
  return -1;
}

class Cutter {
  constructor() {
    /** @type {Piece[]} */
    this.found = [];
    /** @type {string[]} */
    this.lines = [];
    this.length = 0;
    /** The line that opened the code around this one. */
    this.fence = "";
    /** The head of the table around this line. @type {string[]} */
    this.head = [];
  }

  /** @param {string} line @param {string} next @param {boolean} [inside] in a formula, where nothing else begins */
  add(line, next, inside = false) {
    if (line.length > MOST) return this.addLong(line);
    const begins = line.trimStart()[0] ?? "";
    const blank = !begins;
    if (!inside) this.follow(line, begins);
    this.lines.push(line);
    this.length += line.length + 1;
    if (inside) return;
    if (this.length > MOST) this.cutInside();
    else if (blank && this.length > ENOUGH && !this.fence && !GOES_ON.test(next)) this.cut();
  }

  /** Keep in mind what this line is in. @param {string} line @param {string} begins its first character that is no space */
  follow(line, begins) {
    const mark = begins === "`" || begins === "~" ? FENCE.exec(line)?.[1] : undefined;
    if (this.fence) {
      if (mark && line.trim() === mark && mark.startsWith(/** @type {RegExpExecArray} */ (FENCE.exec(this.fence))[1])) this.fence = "";
    } else if (mark) this.fence = line;
    else if (!begins) this.head = [];
    else if (!this.head.length && line.includes("-") && this.lines.at(-1)?.includes("|") && RULE.test(line)) this.head = [this.lines[this.lines.length - 1], line];
  }

  cut() {
    if (this.lines.length) this.found.push({ text: this.lines.join("\n") });
    this.lines = [];
    this.length = 0;
  }

  /** Cut inside a block, and let it begin again. */
  cutInside() {
    const { fence, head } = this;
    if (fence) this.lines.push(/** @type {RegExpExecArray} */ (FENCE.exec(fence))[0]);
    this.cut();
    for (const line of fence ? [fence] : head) {
      this.lines.push(line);
      this.length += line.length + 1;
    }
  }

  /** @param {string} line */
  addLong(line) {
    this.cut();
    for (let at = 0; at < line.length; at += MOST) this.found.push({ text: line.slice(at, at + MOST), plain: true });
  }

  finish() {
    this.cut();
    return this.found;
  }
}

/** The links that a text names once for all its pieces. @param {string} text @returns {Record<string, { href: string, title: string }>} */
export function definitions(text) {
  const found = Object.create(null);
  if (!text.includes("]:")) return found;
  for (const [, name, href] of text.matchAll(DEFINITION)) found[name.toLowerCase().replace(/\s+/g, " ")] ??= { href, title: "" };
  return found;
}

/** A text cut at its lines into parts of about a size. @param {string} text @param {number} [size] */
export function linesOf(text, size = MOST) {
  const parts = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at + size);
    const to = end < 0 || end > at + 2 * size ? Math.min(text.length, at + 2 * size) : end + 1;
    parts.push(text.slice(at, to));
    at = to;
  }
  return parts;
}
