// One file of a skill, shown as Markdown or text, and edited if allowed.
import { useEffect, useState } from "../vendor/hooks.js";
import { note } from "../core/announce.js";
import { ask, part } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { Menu } from "../core/dialog.js";
import { Problem } from "../core/empty.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { LongText } from "../core/long_text.js";
import { Markdown } from "../core/markdown.js";
import { keepText, keptText, useUnsaved } from "../core/unsaved.js";
import { CodeField } from "../goal/code_field.js";
import { Conflict } from "./conflict.js";
import { deleteFile, renameFile } from "./file_actions.js";

const FRONT = /^---\n([\s\S]*?)\n---\n?/;

/** @param {{ skill: string, path: string, editable: boolean, onSaved: () => void }} props */
export function SkillFile({ skill, path, editable, onSaved }) {
  const address = `/skills/${part(skill)}/files/${path.split("/").map(part).join("/")}`;
  const [file, setFile] = useState(/** @type {{ text: string, tag: string } | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [draft, setDraft] = useState(() => (editable ? keptText(address)?.text ?? null : null));
  const [other, setOther] = useState(/** @type {{ text: string, tag: string } | null} */ (null));
  const [raw, setRaw] = useState(!path.endsWith(".md"));
  const [busy, setBusy] = useState("");
  const fetched = async () => {
    const reply = await ask(address);
    return { text: (await reply.json()).text, tag: reply.headers.get("etag") ?? "" };
  };
  const edit = (/** @type {string | null} */ text, tag = file?.tag ?? "") => {
    setDraft(text);
    keepText(address, text === null || text === file?.text ? null : { text, tag });
  };
  const read = async () => {
    setBusy("Reading…"); // else a quick Save would send the refused version
    try {
      const found = await fetched();
      const kept = keptText(address);
      setFile(kept && kept.tag !== found.tag ? { ...found, tag: kept.tag } : found); // saving a draft of another version is a conflict
      setError(null);
    } catch (refused) {
      setError(refused);
    }
    setBusy("");
  };
  useEffect(() => void read(), [address]);
  const save = async (tag = file?.tag ?? "") => {
    if (draft === null || !file || busy) return;
    setBusy("Saving…");
    try {
      const reply = await ask(address, { method: "PUT", json: { text: draft }, headers: { "if-match": tag } });
      setFile({ text: draft, tag: reply.headers.get("etag") ?? "" });
      edit(null);
      setOther(null);
      setError(null);
      note("Saved", { hint: "The next run sees it." });
      onSaved();
    } catch (refused) {
      if (/** @type {any} */ (refused)?.status === 409) setOther(await fetched().catch(() => null));
      else setError(refused);
    }
    setBusy("");
  };
  const settle = (/** @type {string | null} */ text) => {
    if (!other) return;
    setFile(other);
    setDraft(text);
    keepText(address, text === null ? null : { text, tag: other.tag });
    setOther(null);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    save();
  };
  const editing = draft !== null;
  useUnsaved(editing && file !== null && draft !== file.text);
  return html`<section class="skillfile" aria-label="File ${path}"><div class="filehead"><b class="mono cut">${path}</b>${!editable && html`<span class="tag">read-only</span>`}
      ${editing ? html`<button type="button" class="btn small" onClick=${() => { edit(null); setOther(null); read(); }}>Discard</button><button type="button" class="btn small primary" disabled=${busy !== "" || draft === file?.text} title="Ctrl+S" onClick=${() => save()}>${busy || "Save"}</button>`
        : file && html`${path.endsWith(".md") && html`<button type="button" class="plain" aria-pressed=${raw ? "true" : "false"} onClick=${() => setRaw(!raw)}>${raw ? "Markdown" : "Raw"}</button>`}<button type="button" class="plain" onClick=${() => copy(file.text)}><${Icon} name="copy" />Copy</button>${editable && html`<button type="button" class="btn small" onClick=${() => edit(file.text)}><${Icon} name="edit" />Edit</button>${path !== "SKILL.md" && html`<${Menu} label=${html`<span class="sr">More about ${path}</span>`} icon="more" small=${true} items=${[{ name: "Rename…", icon: "edit", do: () => renameFile(skill, path, file.tag, onSaved) }, { name: "Delete the file…", icon: "trash", danger: true, do: () => deleteFile(skill, path, file.tag, onSaved) }]} />`}`}`}</div>
    ${error && html`<div class="filenote"><${Problem} error=${error} /></div>`}
    ${other && file && draft !== null && html`<${Conflict} base=${file.text} mine=${draft} theirs=${other.text} onMine=${() => save(other.tag)} onTheirs=${() => settle(null)} onMerge=${settle} />`}
    ${!file ? !error && html`<p class="loading">Reading…</p>` : editing ? html`<${CodeField} text=${draft ?? ""} faults=${[]} here=${0} label="Text of ${path}" onChange=${(/** @type {string} */ text) => edit(text)} onKey=${key} />`
      : raw ? html`<div class="filebody sunk" tabIndex=${0} role="region" aria-label="Text"><${LongText} text=${file.text} /></div>` : html`<div class="filebody" tabIndex=${0} role="region" aria-label="Text"><${Readable} text=${file.text} /></div>`}</section>`;
}

/** @param {{ text: string }} props */
function Readable({ text }) {
  const front = FRONT.exec(text);
  return html`${front && html`<pre class="code">${front[1]}</pre>`}<${Markdown} text=${front ? text.slice(front[0].length) : text} />`;
}
