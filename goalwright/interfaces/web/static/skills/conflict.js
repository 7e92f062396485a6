// A file that changed while it was edited: both texts side by side, to choose one.
import { ChangeLines } from "../core/change_lines.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { merged } from "../core/merge.js";
import { lineDifference } from "../core/text_diff.js";

/** @param {{ base: string, mine: string, theirs: string, onMine: () => void, onTheirs: () => void, onMerge: (text: string) => void }} props */
export function Conflict({ base, mine, theirs, onMine, onTheirs, onMerge }) {
  const both = merged(base, mine, theirs);
  return html`<section class="conflict" aria-label="Two versions"><div class="note st-partial"><b>The file changed while you edited it</b><div>Nothing is saved yet. Your change is on the left, the other one on the right, each compared with the original.</div></div>
    <div class="sides"><div><h3 class="sec">Mine</h3><${ChangeLines} lines=${lineDifference(base, mine)} label="My change" /></div><div><h3 class="sec">Theirs</h3><${ChangeLines} lines=${lineDifference(base, theirs)} label="Their change" /></div></div>
    <div class="actions" style="justify-content:flex-start"><button type="button" class="btn small" onClick=${onMine}>Take mine</button><button type="button" class="btn small" onClick=${onTheirs}>Take theirs</button>
      <button type="button" class="btn small primary" onClick=${() => onMerge(both.text)}>${both.conflicts ? `Merge, with ${counted(both.conflicts, "place")} to settle` : "Merge both"}</button></div></section>`;
}
