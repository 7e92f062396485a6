// One file of a skill: read as Markdown or as text, and edited if it is the workspace's own.
import { useEffect, useState } from "../vendor/hooks.js";
import { note } from "../core/announce.js";
import { ask, part } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { Problem } from "../core/empty.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { Markdown } from "../core/markdown.js";
import { CodeField } from "../goal/code_field.js";

const FRONT = /^---\n([\s\S]*?)\n---\n?/;

/** @param {{ skill: string, path: string, editable: boolean, onSaved: () => void }} props */
export function SkillFile({ skill, path, editable, onSaved }) {
  const address = `/skills/${part(skill)}/files/${path.split("/").map(part).join("/")}`;
  const [file, setFile] = useState(/** @type {{ text: string, tag: string } | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const [raw, setRaw] = useState(!path.endsWith(".md"));
  const [busy, setBusy] = useState("");
  const read = async () => {
    setBusy("Reading…"); // or a quick Save would name the version that was refused before
    try {
      const reply = await ask(address);
      setFile({ text: (await reply.json()).text, tag: reply.headers.get("etag") ?? "" });
      setError(null);
    } catch (refused) {
      setError(refused);
    }
    setBusy("");
  };
  useEffect(() => void read(), [address]);
  const save = async () => {
    if (draft === null || !file || busy) return;
    setBusy("Saving…");
    try {
      const reply = await ask(address, { method: "PUT", json: { text: draft }, headers: { "if-match": file.tag } });
      setFile({ text: draft, tag: reply.headers.get("etag") ?? "" });
      setDraft(null);
      setError(null);
      note("Saved", { hint: "The next run sees it." });
      onSaved();
    } catch (refused) {
      setError(refused);
    }
    setBusy("");
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    save();
  };
  const editing = draft !== null;
  return html`<section class="skillfile" aria-label="File ${path}"><div class="filehead"><b class="mono cut">${path}</b>
      ${editing ? html`<button type="button" class="btn small" onClick=${() => setDraft(null)}>Discard</button><button type="button" class="btn small primary" disabled=${busy !== "" || draft === file?.text} title="Ctrl+S" onClick=${save}>${busy || "Save"}</button>`
        : file && html`${path.endsWith(".md") && html`<button type="button" class="plain" aria-pressed=${raw ? "true" : "false"} onClick=${() => setRaw(!raw)}>${raw ? "Markdown" : "Raw"}</button>`}<button type="button" class="plain" onClick=${() => copy(file.text)}><${Icon} name="copy" />Copy</button>${editable && html`<button type="button" class="btn small" onClick=${() => setDraft(file.text)}><${Icon} name="edit" />Edit</button>`}`}</div>
    ${error && html`<div class="filenote"><${Problem} error=${error} />${error.status === 409 && html`<button type="button" class="btn small" onClick=${read}>Read it again (your text stays)</button>`}</div>`}
    ${!file ? !error && html`<p class="loading">Reading…</p>` : editing ? html`<${CodeField} text=${draft ?? ""} faults=${[]} here=${0} label="Text of ${path}" onChange=${setDraft} onKey=${key} />`
      : raw ? html`<div class="filebody" tabIndex=${0} role="region" aria-label="Text"><pre class="raw">${file.text}</pre></div>` : html`<div class="filebody" tabIndex=${0} role="region" aria-label="Text"><${Readable} text=${file.text} /></div>`}</section>`;
}

/** @param {{ text: string }} props */
function Readable({ text }) {
  const front = FRONT.exec(text);
  return html`${front && html`<pre class="code">${front[1]}</pre>`}<${Markdown} text=${front ? text.slice(front[0].length) : text} />`;
}
