// Detects the type of a file by its first bytes and its name; the bytes take precedence. Pure.

/** @typedef {{ kind: "image" | "pdf" | "table" | "json" | "markdown" | "text" | "other", type?: string, pixels?: number, separator?: string }} FileKind */

const PICTURES = /** @type {[string, number[], number][]} */ ([
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 0], ["image/jpeg", [0xff, 0xd8, 0xff], 0], ["image/gif", [0x47, 0x49, 0x46, 0x38], 0],
  ["image/webp", [0x57, 0x45, 0x42, 0x50], 8], ["image/avif", [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66], 4], ["image/bmp", [0x42, 0x4d], 0],
]);
const PDF = [0x25, 0x50, 0x44, 0x46, 0x2d];
const SVG = /^\uFEFF?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[\s\S]*?-->\s*)*(?:<!DOCTYPE\s+svg[^>]*>\s*)?<svg[\s>]/i;
/** Control characters, which texts do not have. */
const BINARY = /[\0-\x08\x0E-\x1A\x1C-\x1F]/;

/** @param {Uint8Array} bytes @param {number[]} start @param {number} [at] */
const begins = (bytes, start, at = 0) => start.every((one, index) => bytes[at + index] === one);

/** The beginning of a file as text; null if it is binary. @param {Uint8Array} bytes */
export function asText(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }); // the last character may be cut off
    return BINARY.test(text) ? null : text.replace(/^\uFEFF/, "");
  } catch {
    return null;
  }
}

/** @param {string} name @param {Uint8Array} bytes its beginning @returns {FileKind} */
export function kindOf(name, bytes) {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1].toLowerCase() ?? "";
  if (begins(bytes, PDF)) return { kind: "pdf", type: "application/pdf" };
  const picture = PICTURES.find(([, start, at]) => begins(bytes, start, at));
  if (picture && (picture[0] !== "image/bmp" || ending === "bmp")) return { kind: "image", type: picture[0], pixels: pixelsOf(picture[0], bytes) };
  const text = asText(bytes);
  if (text === null) return { kind: "other" };
  if (ending === "svg" && SVG.test(text.slice(0, 4000))) return { kind: "image", type: "image/svg+xml" };
  if (ending === "csv" || ending === "tsv") return { kind: "table", separator: ending === "tsv" ? "\t" : undefined };
  if (ending === "json" || ending === "jsonl" || ending === "ndjson") return { kind: "json" };
  return { kind: ending === "md" || ending === "markdown" ? "markdown" : "text" };
}

/** The number of pixels in a picture's header; 0 if unknown. @param {string} type @param {Uint8Array} bytes */
export function pixelsOf(type, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type === "image/png" && bytes.length >= 24) return view.getUint32(16) * view.getUint32(20);
  if (type === "image/gif" && bytes.length >= 10) return view.getUint16(6, true) * view.getUint16(8, true);
  if (type === "image/bmp" && bytes.length >= 26) return Math.abs(view.getInt32(18, true) * view.getInt32(22, true));
  if (type !== "image/jpeg") return 0;
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
    const mark = bytes[at + 1];
    if (mark >= 0xc0 && mark <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(mark)) return view.getUint16(at + 5) * view.getUint16(at + 7);
  }
  return 0;
}
