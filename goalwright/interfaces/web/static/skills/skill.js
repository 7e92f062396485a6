// One skill: its files, the selected file, check results, and trust for its tools.
import { useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { part, post, remove } from "../core/api.js";
import { confirm } from "../core/dialog.js";
import { Problem } from "../core/empty.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { go, place } from "../core/router.js";
import { useRead } from "../core/use_read.js";
import { SkillFile } from "./skill_file.js";
import { addFile } from "./file_actions.js";
import { Locked } from "./locked.js";
import { Files } from "./unfolded.js";

/** @param {{ name: string }} props */
export function SkillPage({ name }) {
  const { value, error, again } = useRead(`/skills/${part(name)}`);
  const [seen, setSeen] = useState(/** @type {string | null} */ (null));
  useChanges({ skills: again, again });
  const now = value?.trust.fingerprint ?? null;
  if (seen === null && now !== null) setSeen(now); // trust only the version that was shown first
  const crumbs = html`<a href="/skills">Skills</a><span>/</span><span class="cut">${name}</span>`;
  if (error) return html`<${Page} title=${name} crumbs=${crumbs}><${Problem} error=${error} /></${Page}>`;
  if (!value) return html`<${Page} title=${name} crumbs=${crumbs}><p class="loading">Reading…</p></${Page}>`;
  const { editable, locked } = value;
  const shown = place.value.query.get("file") ?? value.files.find((/** @type {any} */ file) => file.path === "SKILL.md")?.path ?? value.files[0]?.path;
  const erase = async () => {
    const sure = await confirm({ title: `Delete ${name}?`, text: "Its folder and all its files are deleted. This cannot be undone.", yes: "Delete", danger: true });
    if (!sure || !(await attempt(() => remove(`/skills/${part(name)}`)))) return;
    note(`${name} is deleted`);
    go("/skills");
  };
  const facts = html`<span class="tag">${value.source}</span><span class="tag">${value.kind === "context" ? "instructions" : "tool"}</span>${value.state !== "active" && html`<span class="tag bad">${value.state}</span>`}<span class="fact mono cut">${value.base_dir}</span>`;
  return html`<${Page} title=${name} crumbs=${crumbs} facts=${facts} bare=${true} actions=${value.deletable && html`<button type="button" class="btn danger" onClick=${erase}><${Icon} name="trash" />Delete</button>`}>
    <div class="skillpage"><div class="side"><p>${value.description}</p>${locked && html`<${Locked} name=${name} locked=${locked} onCopied=${again} />`}${value.state !== "active" && value.reason && html`<div class="note st-failed">${value.reason}</div>`}
      ${value.trust.needed && html`<${TrustPart} name=${name} trust=${value.trust} seen=${seen ?? now} onSeen=${() => setSeen(now)} onDone=${again} />`}
      <h2 class="sec">Files</h2><${Files} name=${name} files=${value.files} now=${shown} />${editable && html`<button type="button" class="btn small" onClick=${() => addFile(name, again)}><${Icon} name="plus" />Add a file…</button>`}
      <${Check} reports=${value.check} /></div>
      ${shown ? html`<${SkillFile} key=${`${value.base_dir}/${shown}/${seen}`} skill=${name} path=${shown} editable=${editable} onSaved=${again} />` : html`<p class="loading">It has no files.</p>`}</div></${Page}>`;
}

/** @param {{ name: string, trust: { trusted: boolean, fingerprint: string }, seen: string, onSeen: () => void, onDone: () => void }} props */
function TrustPart({ name, trust, seen, onSeen, onDone }) {
  const give = async () => {
    const sure = await confirm({ title: `Trust ${name}?`, text: "Its programs may then run on this machine when a plan or a model calls them. Trust applies to exactly these files and ends when one of them changes.", yes: "Trust it" });
    if (!sure) return;
    if (await attempt(() => post(`/skills/${part(name)}/trust`, { fingerprint: seen }))) note(`${name} is trusted`);
    onDone(); // also after a refusal: the skill has changed
  };
  if (trust.trusted) return html`<div class="note st-done"><b>Trusted</b><div>Its programs may run, as long as its files stay as they are.</div></div>`;
  if (seen !== trust.fingerprint) return html`<div class="note st-failed"><b>Its files changed while you looked</b><div>Trust applies to the files that were shown. Read them again first.</div><button type="button" class="btn small" style="margin-top:8px" onClick=${onSeen}>Show the current files</button></div>`;
  return html`<div class="note st-partial"><b>Not trusted yet</b><div>It contains programs. They run only after you trust them. Read its files first.</div><div class="mono muted cut" title=${trust.fingerprint}>${trust.fingerprint}</div>${!about.value?.read_only && html`<button type="button" class="btn small" style="margin-top:8px" onClick=${give}><${Icon} name="key" />Trust…</button>`}</div>`;
}

/** @param {{ reports: { path: string, ok: boolean, problems: { rule: string, severity: string, line: number, message: string }[] }[] }} props */
function Check({ reports }) {
  const problems = reports.flatMap((report) => report.problems.map((one) => ({ ...one, file: report.path.split("/").at(-1) ?? "" })));
  return html`<h2 class="sec">Check</h2>${problems.length ? problems.map((one) => html`<div class="note ${one.severity === "error" ? "st-failed" : "st-partial"}"><b>${one.file}${one.line ? `, line ${one.line}` : ""}</b><div>${one.message}</div></div>`) : html`<p class="muted">Nothing to improve was found.</p>`}`;
}
