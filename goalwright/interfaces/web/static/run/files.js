// The files of a run: changes of the workspace as a patch that can be undone, and files that it created.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { part, post, save } from "../core/api.js";
import { ChangeLines } from "../core/change_lines.js";
import { copy } from "../core/clipboard.js";
import { confirm } from "../core/dialog.js";
import { Problem } from "../core/empty.js";
import { bytes, counted } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { useRead } from "../core/use_read.js";
import { filePatches } from "./patch.js";
import { PatchHead } from "./patch_head.js";
import { Preview } from "./preview.js";

/** @typedef {{ path: string, action: "write" | "delete" | "move", to: string | null, state: "applied" | "denied" | "conflict" | "undone", sha256: string | null }} ChangedFile */

const STATES = /** @type {Record<string, [string, string]>} */ ({
  denied: ["You declined; the file is unchanged.", "bad"],
  conflict: ["The file has changed since, so it was left as it is.", "ask"],
  undone: ["Undone.", ""],
});
/** A few small pictures are shown at once. The type is read from the bytes. */
const PICTURES = 3;
const LARGE = 2_000_000;
/** @param {{ path: string, bytes: number }} file */
const isPicture = ({ path, bytes: size }) => size <= LARGE && /\.(?:png|jpe?g|gif|webp|avif|svg)$/i.test(path);
const ASKED = /** @type {Record<string, string>} */ ({ delete: "to be deleted", move: "to be moved" });

/** @param {{ run: string, status: string, live: boolean }} props */
export function FilesPart({ run, status, live }) {
  const made = useRead(`/runs/${part(run)}/artifacts`);
  const changes = useRead(`/runs/${part(run)}/changes`);
  const read = useRef(status);
  useEffect(() => {
    if (read.current === status) return;
    read.current = status;
    made.again();
    changes.again();
  }, [status]);
  if (made.error || changes.error) return html`<${Problem} error=${made.error ?? changes.error} />`;
  if (!made.value || !changes.value) return html`<p class="muted">Reading…</p>`;
  if (!made.value.length && !changes.value.files.length) return html`<p class="muted">This run created and changed no files.</p>`;
  const shown = new Set(made.value.filter(isPicture).slice(0, PICTURES).map((/** @type {{ path: string }} */ one) => one.path));
  return html`${changes.value.files.length > 0 && html`<${Changes} run=${run} found=${changes.value} live=${live} onUndone=${changes.again} />`}
    ${made.value.length > 0 && html`<h3 class="sec">Files that the run created</h3>${made.value.map((/** @type {{ path: string, bytes: number }} */ one) => html`<${Made} key=${one.path} run=${run} file=${one} open=${made.value.length === 1 || shown.has(one.path)} />`)}`}`;
}

/** A file that the run created, shown in place on request. @param {{ run: string, file: { path: string, bytes: number }, open?: boolean }} props */
export function Made({ run, file, open = false }) {
  const [isOpen, setOpen] = useState(open);
  const { path, bytes: size } = file;
  return html`<div class="bar" style="margin:0 0 6px"><button type="button" class="plain cut" style="flex:1" aria-expanded=${isOpen ? "true" : "false"} title=${path} onClick=${() => setOpen(!isOpen)}><${Icon} name=${isOpen ? "down" : "forward"} /><span class="mono cut">${path}</span></button><span class="num muted">${bytes(size)}</span>
  <button type="button" class="btn small" onClick=${() => attempt(() => save(`/runs/${part(run)}/artifacts/${path.split("/").map(part).join("/")}`, path.split("/").at(-1) ?? "file"))}><${Icon} name="download" />Save<span class="sr"> ${path}</span></button></div>${isOpen && html`<div class="made-file"><${Preview} run=${run} file=${file} /></div>`}`;
}

/** @param {{ run: string, found: { files: ChangedFile[], patch: string }, live: boolean, onUndone: () => void }} props */
function Changes({ run, found, live, onUndone }) {
  const patches = useMemo(() => filePatches(found.patch), [found.patch]);
  const readOnly = about.value?.read_only ?? false;
  const others = found.files.filter((one) => one.state !== "applied");
  const undo = async () => {
    const sure = await confirm({ title: `Undo ${counted(patches.length, "change")}?`, text: "Files get back the path and content that they had before the run, and new files are deleted. A file that has changed since is left as it is.", yes: "Undo", danger: true });
    const done = sure && (await attempt(() => post(`/runs/${part(run)}/changes/undo`)));
    if (!done) return;
    if (done.left.length) note(`${counted(done.left.length, "file")} changed since and left alone`, { hint: done.left.join(", "), bad: true });
    else note("Undone");
    onUndone();
  };
  return html`<h3 class="sec">Changes of the workspace${found.patch && html`<button type="button" class="plain" onClick=${() => copy(found.patch)}><${Icon} name="copy" />Copy the patch</button>`}</h3>
    ${patches.map((one) => html`<details class="filechange" key=${one.path} open=${patches.length < 6}><summary><${PatchHead} patch=${one} /></summary><${ChangeLines} lines=${one.lines} label=${`Change of ${one.path}`} /></details>`)}
    ${others.map((one) => html`<div class="filechange" key=${one.path + one.state + one.to}><span class="mono">${one.path}${one.to ? ` → ${one.to}` : ""}</span>${one.action in ASKED && html` <span class="tag">${ASKED[one.action]}</span>`} <span class="tag ${STATES[one.state]?.[1] ?? ""}">${one.state}</span><small class="sub">${STATES[one.state]?.[0] ?? ""}</small></div>`)}
    ${patches.length > 0 && !readOnly && (live ? html`<p class="muted">They can be undone when the run has ended.</p>` : html`<div class="actions" style="justify-content:flex-start"><button type="button" class="btn small danger" onClick=${undo}><${Icon} name="undo" />Undo these changes…</button></div>`)}`;
}
