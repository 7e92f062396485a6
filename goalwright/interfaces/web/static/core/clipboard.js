// Copying text, and saying so.
import { note } from "./announce.js";

/** @param {string} text @param {string} [what] */
export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    note(what);
  } catch { // only secure contexts have a clipboard; loopback is one, another machine's address is not
    note("The browser does not let this page copy.", { hint: "Select the text and copy it by hand.", bad: true });
  }
}
