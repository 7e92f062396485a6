// Reads a chosen or dropped folder and packs it.
import { zip } from "./zip.js";

const MOST = 2000;

/** Files of version control or the system, which no skill needs. @param {string} path */
const isJunk = (path) => /(?:^|\/)(?:\.git|__pycache__|node_modules|\.DS_Store)(?:\/|$)/.test(path);

/** The files of a folder input. @param {FileList} files */
export const ofField = (files) => packed([...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));

/** Pack a dropped folder; a dropped file is returned unchanged. @param {DataTransfer} dropped @returns {Promise<Blob | Uint8Array | null>} */
export async function ofDrop(dropped) {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry != null);
  const folder = entries.find((entry) => entry.isDirectory);
  if (!folder) return dropped.files[0] ?? null;
  return packed(await walk(/** @type {FileSystemDirectoryEntry} */ (folder), folder.name));
}

/** @param {FileSystemDirectoryEntry} folder @param {string} path @returns {Promise<{ path: string, file: File }[]>} */
async function walk(folder, path) {
  const reader = folder.createReader();
  /** @type {FileSystemEntry[]} */
  const all = [];
  for (;;) { // a reader returns at most a hundred entries
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    all.push(...some);
    if (all.length > MOST) break;
  }
  const found = await Promise.all(all.map(async (entry) => entry.isDirectory ? walk(/** @type {FileSystemDirectoryEntry} */ (entry), `${path}/${entry.name}`)
    : [{ path: `${path}/${entry.name}`, file: await new Promise((/** @type {(file: File) => void} */ done, failed) => /** @type {FileSystemFileEntry} */ (entry).file(done, failed)) }]));
  return found.flat();
}

/** @param {{ path: string, file: File }[]} files */
async function packed(files) {
  const kept = files.filter((one) => !isJunk(one.path)).slice(0, MOST);
  return zip(await Promise.all(kept.map(async ({ path, file }) => ({ path, data: new Uint8Array(await file.arrayBuffer()) }))));
}
