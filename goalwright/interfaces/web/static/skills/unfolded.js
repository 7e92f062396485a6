// An unfolded row of the list of skills: files, check results, trust.
import { part } from "../core/api.js";
import { Problem } from "../core/empty.js";
import { bytes, counted } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { useRead } from "../core/use_read.js";

/** @param {{ name: string }} props */
export function Unfolded({ name }) {
  const { value, error } = useRead(`/skills/${part(name)}`);
  if (error) return html`<${Problem} error=${error} />`;
  if (!value) return html`<p class="muted">Reading…</p>`;
  return html`<${Files} name=${name} files=${value.files} /><p class="muted">${verdict(value.check)}</p>`;
}

/** @param {{ name: string, files: { path: string, bytes: number }[], now?: string }} props */
export const Files = ({ name, files, now = "" }) => html`<ul class="filelist">${files.slice(0, 300).map((file) => html`<li key=${file.path}><a class="mono" aria-current=${file.path === now ? "true" : undefined} href="/skills/${part(name)}?file=${part(file.path)}"><${Icon} name="file" /><span class="cut">${file.path}</span></a><span class="num muted">${bytes(file.bytes)}</span></li>`)}</ul>`;

/** The check results in one line. @param {{ ok: boolean, problems: any[] }[]} reports */
export function verdict(reports) {
  const problems = reports.flatMap((report) => report.problems);
  return problems.length ? `The check found ${counted(problems.length, "problem")}.` : "The check found nothing.";
}
