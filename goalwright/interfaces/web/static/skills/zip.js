// Packs a folder as an uncompressed zip archive, so that the server has one import path. Pure.

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
/** 1 January 1980, the first date of the format. */
const DAY = 0x21;
const UTF8 = 0x0800;

/** @param {Uint8Array} data */
export function crc32(data) {
  let sum = 0xffffffff;
  for (const byte of data) sum = TABLE[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** @param {{ path: string, data: Uint8Array }[]} files @returns {Uint8Array} */
export function zip(files) {
  const entries = files.map(({ path, data }) => ({ name: new TextEncoder().encode(path), data, sum: crc32(data) }));
  const total = entries.reduce((size, one) => size + 76 + 2 * one.name.length + one.data.length, 22);
  const out = new Uint8Array(total);
  const view = new DataView(out.buffer);
  let at = 0;
  const short = (/** @type {number} */ value) => { view.setUint16(at, value, true); at += 2; };
  const long = (/** @type {number} */ value) => { view.setUint32(at, value, true); at += 4; };
  const bytes = (/** @type {Uint8Array} */ value) => { out.set(value, at); at += value.length; };
  const common = (/** @type {typeof entries[number]} */ one) => {
    for (const value of [20, UTF8, 0, 0, DAY]) short(value);
    for (const value of [one.sum, one.data.length, one.data.length]) long(value);
    short(one.name.length);
    short(0);
  };
  const starts = entries.map((one) => {
    const start = at;
    long(0x04034b50);
    common(one);
    bytes(one.name);
    bytes(one.data);
    return start;
  });
  const directory = at;
  entries.forEach((one, index) => {
    long(0x02014b50);
    short(20);
    common(one);
    for (const value of [0, 0, 0]) short(value);
    long(0);
    long(starts[index]);
    bytes(one.name);
  });
  const size = at - directory;
  long(0x06054b50);
  for (const value of [0, 0, entries.length, entries.length]) short(value);
  long(size);
  long(directory);
  short(0);
  return out;
}
