// A text that a run wrote: a list of objects as a table, other text as Markdown.
import { useMemo } from "../vendor/hooks.js";
import { DataTable } from "../core/data_table.js";
import { html } from "../core/html.js";
import { Markdown } from "../core/markdown.js";
import { jsonTable } from "../core/tables.js";
import { picturesOf } from "./preview.js";

const LONGEST = 1_000_000;

/** @param {{ text: string, run: string | null }} props `run`: where its pictures are; null without a server */
export function Output({ text, run }) {
  const table = useMemo(() => (text.length <= LONGEST ? jsonTable(text) : null), [text]);
  return table ? html`<${DataTable} table=${table} label="Output" />` : html`<${Markdown} text=${text} pictures=${picturesOf(run)} />`;
}
