// Highlights comments, strings, numbers and common keywords of code, without grammars. Pure.

const LONGEST = 10_000;
const WORDS = new Set(("abstract and as async await bool break case catch class const continue def default del delete do elif else elseif end enum except export extends false False finally fn for foreach from func function global go "
  + "if impl implements import in instanceof int interface is lambda let local loop match mod module mut namespace new nil None nonlocal not null of or package pass private protected pub public raise readonly return select self static "
  + "str string struct super switch then this throw throws trait true True try type typeof undefined union unless until use using var void when where while with yield").split(" "));
const SQL = new Set("add all alter and as asc begin by case create cross delete desc distinct drop else end exists from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right select set table then union unique update values view when where with".split(" "));
const PLAIN = new Set(["", "text", "txt", "plain", "mermaid", "math", "latex", "tex", "output", "console", "markdown", "md"]);
const HASH = new Set(["python", "py", "sh", "bash", "zsh", "shell", "yaml", "yml", "toml", "ruby", "rb", "r", "perl", "make", "makefile", "dockerfile", "ini", "elixir", "nix"]);
const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`(?:[^`\\\\]|\\\\.)*`";
const REST = String.raw`(?<number>\b\d[\w.]*)|(?<word>[A-Za-z_]\w*)`;

/** @typedef {["" | "comment" | "string" | "number" | "keyword", string]} Piece */

/** @param {string} language */
function pattern(language) {
  const comment = HASH.has(language) ? String.raw`#[^\n]*` : language === "sql" || language === "lua" || language === "haskell" ? String.raw`--[^\n]*|/\*[\s\S]*?\*/`
    : ["html", "xml", "svg"].includes(language) ? String.raw`<!--[\s\S]*?-->` : language === "json" ? "(?!)" : String.raw`//[^\n]*|/\*[\s\S]*?\*/`;
  return new RegExp(`(?<comment>${comment})|(?<string>${STRINGS})|${REST}`, "g");
}

/** The highlighted pieces of a text. @param {string} text @param {string} language @returns {Piece[]} */
export function colored(text, language) {
  const name = language.toLowerCase();
  if (PLAIN.has(name) || text.length > LONGEST) return [["", text]];
  const words = name === "sql" ? SQL : WORDS;
  /** @type {Piece[]} */
  const pieces = [];
  let at = 0;
  for (const match of text.matchAll(pattern(name))) {
    const { comment, string, number, word } = match.groups ?? {};
    if (word !== undefined && !words.has(name === "sql" ? word.toLowerCase() : word)) continue;
    if (match.index > at) pieces.push(["", text.slice(at, match.index)]);
    pieces.push([comment !== undefined ? "comment" : string !== undefined ? "string" : number !== undefined ? "number" : "keyword", match[0]]);
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push(["", text.slice(at)]);
  return pieces;
}
