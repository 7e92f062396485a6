// Copies text, and confirms it.
import { note } from "./announce.js";

/** @param {string} text @param {string} [what] */
export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    note(what);
  } catch { // only secure contexts, such as loopback, have a clipboard
    note("The browser does not let this page copy.", { hint: "Select the text and copy it by hand.", bad: true });
  }
}
