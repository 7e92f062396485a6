// An image that was sent to a model: from the record, with the type of its bytes, or only its name.
import { useEffect, useState } from "../vendor/hooks.js";
import { ask, part } from "../core/api.js";
import { kindOf } from "../core/file_kinds.js";
import { bytes, count } from "../core/format.js";
import { html } from "../core/html.js";

/** @typedef {{ name: string, type: string, sha256: string, bytes: number, width: number, height: number }} Image */

/** @param {string} run @param {Image} image @param {AbortSignal} signal */
async function urlOf(run, image, signal) {
  const data = new Uint8Array(await (await ask(`/runs/${part(run)}/images/${part(image.sha256)}`, { signal })).arrayBuffer());
  const { kind, type } = kindOf(image.name, data);
  return kind === "image" ? URL.createObjectURL(new Blob([data], { type })) : "";
}

/** The address of an image; undefined while loading, empty if it cannot be read. @param {any} source @param {Image} image */
function useUrl(source, image) {
  const inPage = source.images ? source.images[image.sha256] ?? "" : undefined;
  const [url, setUrl] = useState(/** @type {string | undefined} */ (inPage));
  useEffect(() => {
    if (inPage !== undefined) return undefined;
    const ending = new AbortController();
    let made = "";
    urlOf(source.id, image, ending.signal).then(
      (found) => {
        made = found;
        if (ending.signal.aborted) URL.revokeObjectURL(found);
        else setUrl(found);
      },
      () => ending.signal.aborted || setUrl(""),
    );
    return () => {
      ending.abort();
      URL.revokeObjectURL(made);
    };
  }, [source.id, image.sha256]);
  return url;
}

/** @param {{ source: any, image: Image }} props */
export function ShownImage({ source, image }) {
  const url = useUrl(source, image);
  const [broken, setBroken] = useState(false);
  const about = `${image.type}, ${count(image.width)} × ${count(image.height)} pixels, ${bytes(image.bytes)}`;
  return html`<figure class="shown">${url && !broken ? html`<img class="made" src=${url} alt=${image.name} onError=${() => setBroken(true)} />` : html`<span class="muted">${url === undefined ? "Reading…" : "This image is missing from the record or damaged."}</span>`}
    <figcaption><span class="mono">${image.name}</span> <span class="muted">${about}</span></figcaption></figure>`;
}
