// A table of values, which stay plain text.
import { count } from "./format.js";
import { html } from "./html.js";
import { isNumeric } from "./tables.js";

/** @param {{ table: import("./tables.js").Table, label: string }} props */
export function DataTable({ table: { head, rows, more }, label }) {
  const right = head.map((_, column) => isNumeric(rows, column));
  return html`<div class="scroll data" tabIndex=${0} role="region" aria-label=${label}><table><thead><tr>${head.map((name, column) => html`<th scope="col" dir="auto" class=${right[column] ? "r" : ""}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${head.map((_, column) => html`<td dir="auto" class=${right[column] ? "r" : ""}>${row[column] ?? ""}</td>`)}</tr>`)}</tbody></table></div>
    ${more && html`<p class="muted small">The first ${count(rows.length)} rows. Save the file to see all of it.</p>`}`;
}
