// Splits a long Markdown text into pieces that are rendered when in view: between blocks, and inside a block only if it
// is very long. Formulas between lines of $$ become code. Pure.

/** The lengths after which a piece ends at the next blank line, at any line, and even inside code. */
const ENOUGH = 1_000;
const MANY = 3_000;
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
  const cutter = new Cutter(text);
  while (cutter.step());
  return cutter.found;
}

/** Splits a text line by line, so that it can pause between two lines. */
export class Cutter {
  /** @param {string} text */
  constructor(text) {
    /** @type {Piece[]} */
    this.found = [];
    this.text = text;
    this.at = 0;
    /** Where to continue when the text has grown. */
    this.safe = { at: 0, count: 0 };
    /** @type {string[]} */
    this.lines = [];
    this.length = 0;
    /** The line that opened the code block around the current line. */
    this.fence = "";
    /** The header of the table around the current line. @type {string[]} */
    this.head = [];
  }

  /** Continue with a longer text that starts with this one. @param {string} text */
  grow(text) {
    this.text = text;
    this.at = this.safe.at;
    this.found.length = this.safe.count;
    this.lines = [];
    this.length = 0;
    this.fence = "";
    this.head = [];
  }

  /** Process the next line or formula; false at the end. */
  step() {
    if (this.done) return false;
    const line = this.lineAt(this.at);
    const formula = this.fence || !/[$\\]/.test(line) ? null : FORMULA.exec(line);
    const end = formula ? this.formulaEnd(formula[1]) : -1;
    if (formula && end >= 0) {
      this.add("```math", "", true);
      const inner = this.text.slice(this.at, end).trim().slice(2, -2).trim();
      for (const one of inner.split("\n")) this.add(one, "", true);
      this.at = end + 1;
      this.add("```", this.lineAt(this.at));
    } else {
      this.at += line.length + 1;
      this.add(line, this.lineAt(this.at));
    }
    if (this.done) this.cut();
    return !this.done;
  }

  get done() {
    return this.at > this.text.length;
  }

  /** @param {number} at @returns {string} */
  lineAt(at) {
    const end = this.text.indexOf("\n", at);
    return this.text.slice(at, end < 0 ? undefined : end);
  }

  /** The end of the formula that starts here; -1 if there is none. @param {string} first the text after its opening @returns {number} */
  formulaEnd(first) {
    let end = this.at + this.lineAt(this.at).length;
    if (FORMULA_END.test(first)) return end;
    for (let count = 1; count < 200; count++) {
      const line = this.lineAt(end + 1);
      if (!line.trim()) return -1;
      end += line.length + 1;
      if (FORMULA_END.test(line)) return end;
    }
    return -1;
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
    if (this.length > MOST || (this.length > MANY && !this.fence && /^\S/.test(next))) this.cutInside();
    else if (blank && this.length > ENOUGH && !this.fence && !GOES_ON.test(next)) {
      this.cut();
      if (this.at < this.text.length) this.safe = { at: this.at, count: this.found.length }; // the following text is known
    }
  }

  /** Track the block that a line belongs to. @param {string} line @param {string} begins its first character that is not a space */
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

  /** Split inside a block, and reopen the block. */
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
}

/** The link definitions of a text, for all its pieces. @param {string} text @returns {Record<string, { href: string, title: string }>} */
export function definitions(text) {
  const found = Object.create(null);
  if (!text.includes("]:")) return found;
  for (const [, name, href] of text.matchAll(DEFINITION)) found[name.toLowerCase().replace(/\s+/g, " ")] ??= { href, title: "" };
  return found;
}

/** Split a text at line ends into parts of about a size. @param {string} text @param {number} [size] */
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
