// One line about what a patch does to a file.
import { html } from "../core/html.js";

/** @param {{ patch: import("./patch.js").FilePatch }} props */
export const PatchHead = ({ patch: { path, from, is, lines } }) => html`<span class="mono">${from ? `${from} → ` : ""}${path}</span> <span class="tag">${is}</span> <span class="num muted">+${lines.filter((line) => line.kind === "added").length} −${lines.filter((line) => line.kind === "dropped").length}</span>`;
