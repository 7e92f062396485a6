// Previews of a run's files: pictures, tables, texts. The type is read from the bytes.
import { useEffect, useState } from "../vendor/hooks.js";
import { attempt, note } from "../core/announce.js";
import { ask, get, part } from "../core/api.js";
import { DataTable } from "../core/data_table.js";
import { asText, kindOf } from "../core/file_kinds.js";
import { bytes, count } from "../core/format.js";
import { html } from "../core/html.js";
import { LongText } from "../core/long_text.js";
import { Markdown } from "../core/markdown.js";
import { csvTable, jsonTable } from "../core/tables.js";

/** Limits: the bytes of a text, a picture and a PDF, and the pixels of a picture. */
const TEXT = 1_000_000;
const PICTURE = 20_000_000;
const DOCUMENT = 100_000_000;
const PIXELS = 60_000_000;
const HEAD = 65_536;
const OPENED = 60_000;

/** @typedef {{ path: string, bytes: number }} Made */

/** @param {string} run @param {string} path */
const address = (run, path) => `/runs/${part(run)}/artifacts/${path.split("/").map(part).join("/")}`;

/** @param {string} run @param {string} path @param {number} first @param {AbortSignal} [signal] */
const read = async (run, path, first, signal) => new Uint8Array(await (await ask(`${address(run, path)}?first=${first}`, { signal })).arrayBuffer());

/** The preview of a file. @param {string} run @param {Made} file @param {AbortSignal} signal */
async function shownOf(run, file, signal) {
  const head = await read(run, file.path, HEAD, signal);
  const { kind, type = "", pixels = 0, separator } = kindOf(file.path, head);
  if (kind === "image") {
    if (file.bytes > PICTURE) return { kind: "none", text: `A picture of ${bytes(file.bytes)} is too large to be shown.` };
    if (pixels > PIXELS) return { kind: "none", text: `A picture of ${count(pixels)} pixels is too large to be shown.` };
    const whole = file.bytes > head.length ? await read(run, file.path, PICTURE, signal) : head;
    return { kind, url: URL.createObjectURL(new Blob([whole], { type })) };
  }
  if (kind === "pdf" || kind === "other") return { kind: kind === "pdf" ? "pdf" : "none", text: "It is neither a picture nor a text. Save the file to open it." };
  const text = asText(file.bytes > head.length ? await read(run, file.path, TEXT, signal) : head) ?? "";
  const table = kind === "table" ? csvTable(text, separator) : kind === "json" ? jsonTable(text) : null;
  return { kind: table ? "table" : kind, text, table, cut: file.bytes > TEXT };
}

/** Open a PDF in a new tab, with exactly that type. @param {string} run @param {Made} file */
export const openPdf = (run, file) => attempt(async () => {
  if (file.bytes > DOCUMENT) return note(`A document of ${bytes(file.bytes)} is too large to be opened here.`, { hint: "Save it instead.", bad: true });
  const whole = await read(run, file.path, DOCUMENT);
  if (kindOf(file.path, whole).kind !== "pdf") return note("This is no PDF.", { bad: true });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([whole], { type: "application/pdf" }));
  link.target = "_blank";
  link.rel = "noopener";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), OPENED);
});

/** @param {string} run @param {Made} file */
function useShown(run, file) {
  const [shown, setShown] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const ending = new AbortController();
    let url = "";
    shownOf(run, file, ending.signal).then(
      (found) => {
        url = found.url ?? "";
        if (ending.signal.aborted) URL.revokeObjectURL(url);
        else setShown(found);
      },
      (error) => ending.signal.aborted || setShown({ kind: "none", text: error?.message ?? "The server does not answer." }),
    );
    return () => {
      ending.abort();
      URL.revokeObjectURL(url);
    };
  }, [run, file.path, file.bytes]);
  return shown;
}

/** @param {{ run: string, file: Made }} props */
export function Preview({ run, file }) {
  const shown = useShown(run, file);
  const [broken, setBroken] = useState(false);
  if (!shown) return html`<p class="muted">Reading…</p>`;
  if (broken) return html`<p class="muted">This picture is damaged.</p>`;
  const cut = shown.cut && html`<p class="muted small">The first ${bytes(TEXT)}. Save the file to see all of it.</p>`;
  switch (shown.kind) {
    case "image": return html`<img class="made" src=${shown.url} alt=${file.path} onError=${() => setBroken(true)} />`;
    case "pdf": return html`<button type="button" class="btn small" onClick=${() => openPdf(run, file)}>Open the PDF in a new tab</button>`;
    case "table": return html`<${DataTable} table=${shown.table} label=${file.path} />${cut}`;
    case "markdown": return html`<${Markdown} text=${shown.text} pictures=${picturesOf(run)} />${cut}`;
    case "none": return html`<p class="muted">${shown.text}</p>`;
    default: return html`<${LongText} text=${shown.text} label=${file.path} />${cut}`;
  }
}

/** A picture named in a text: a file of the run, or only its name. @param {{ run: string, href: string, name: string }} props */
function Picture({ run, href, name }) {
  const [file, setFile] = useState(/** @type {Made | null | undefined} */ (undefined));
  useEffect(() => {
    const ending = new AbortController();
    get(`/runs/${part(run)}/artifacts`, { signal: ending.signal }).then((made) => setFile(named(made, href)), () => setFile(null));
    return () => ending.abort();
  }, [run, href]);
  return file ? html`<${Preview} run=${run} file=${file} />` : html`<span class="image">[image: ${name || href}]</span>`;
}

/** The file of a relative address in a text. @param {Made[]} made @param {string} href */
export function named(made, href) {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return null;
  let path = href;
  try {
    path = decodeURIComponent(href);
  } catch { // it is not encoded
  }
  const short = path.replace(/^(?:.*\/)?artifacts\//, "").replace(/^(?:\.\/)+/, "");
  return made.find((file) => file.path === short) ?? null;
}

/** The renderer of pictures in a run's texts; without a server, their names. @param {string | null} run */
export const picturesOf = (run) => (run === null ? null : (/** @type {string} */ href, /** @type {string} */ name) => html`<${Picture} run=${run} href=${href} name=${name} />`);
