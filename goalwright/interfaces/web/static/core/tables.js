// Parses tables: CSV, and lists of objects in JSON. Pure; reads no more than is shown.

/** @typedef {{ head: string[], rows: string[][], more: boolean }} Table `more`: there are rows or columns that are not in it */

export const MOST_ROWS = 500;
const MOST_COLUMNS = 50;
const SEPARATORS = [",", ";", "\t", "|"];

/** The most frequent separator of the first line. @param {string} text */
function separatorOf(text) {
  const line = text.slice(0, 4000).split("\n", 1)[0];
  const counts = SEPARATORS.map((one) => line.split(one).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))];
}

/** CSV as a table; the first line is the header. @param {string} text @param {string} [separator] @returns {Table} */
export function csvTable(text, separator = separatorOf(text)) {
  /** @type {string[][]} */
  const rows = [];
  let row = /** @type {string[]} */ ([]), cell = "", quoted = false, at = 0;
  const end = () => {
    row.push(cell);
    cell = "";
  };
  for (; at < text.length && rows.length <= MOST_ROWS; at++) {
    const char = text[at];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (char === '"' && !cell) quoted = true;
    else if (char === separator) end();
    else if (char === "\n") {
      end();
      if (row.length > 1 || row[0]) rows.push(row);
      row = [];
    } else if (char !== "\r") cell += char;
  }
  if (at >= text.length && (cell || row.length)) {
    end();
    rows.push(row);
  }
  const widest = Math.max(0, ...rows.map((one) => one.length));
  const cut = rows.map((one) => one.slice(0, MOST_COLUMNS));
  return { head: cut[0] ?? [], rows: cut.slice(1), more: at < text.length || widest > MOST_COLUMNS };
}

/** A list of objects in JSON, or JSON lines, as a table; null if it is something else. @param {string} text @returns {Table | null} */
export function jsonTable(text) {
  const list = listIn(text);
  if (!list?.length || !list.every((one) => one && typeof one === "object" && !Array.isArray(one))) return null;
  const shown = list.slice(0, MOST_ROWS);
  const names = [...new Set(shown.flatMap((one) => Object.keys(one)))];
  const head = names.slice(0, MOST_COLUMNS);
  const said = (/** @type {unknown} */ value) => (value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
  return { head, rows: shown.map((one) => head.map((name) => said(one[name]))), more: list.length > shown.length || names.length > head.length };
}

/** @param {string} text @returns {Record<string, unknown>[] | null} */
function listIn(text) {
  const start = text.trimStart()[0];
  if (start !== "[" && start !== "{") return null;
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return linesIn(text);
  }
}

/** @param {string} text @returns {Record<string, unknown>[] | null} */
function linesIn(text) {
  try {
    const lines = text.split("\n").filter((line) => line.trim()).slice(0, MOST_ROWS + 1);
    return lines.length > 1 ? lines.map((line) => JSON.parse(line)) : null;
  } catch {
    return null;
  }
}

/** Whether every value of a column is a number, to be aligned right. @param {string[][]} rows @param {number} column */
export const isNumeric = (rows, column) => rows.some((row) => row[column]) && rows.every((row) => !row[column] || /^[-+]?[\d.,\s]*\d\s*%?$/.test(row[column]));
