// What a patch does to one file, in a line.
import { html } from "../core/html.js";

/** @param {{ patch: import("./patch.js").FilePatch }} props */
export const PatchHead = ({ patch: { path, from, is, lines } }) => html`<span class="mono">${from ? `${from} → ` : ""}${path}</span> <span class="tag">${is}</span> <span class="num muted">+${lines.filter((line) => line.kind === "added").length} −${lines.filter((line) => line.kind === "dropped").length}</span>`;
