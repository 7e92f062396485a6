// Where the time of a run went: the steps on its critical path.
import { seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { timeSpent } from "./critical_path.js";
import { secondsShown } from "./fold.js";
import { fullTitle } from "./names.js";

/** @param {{ source: any, onSelect: (id: string) => void }} props */
export function TimeSpent({ source, onSelect }) {
  const { state } = source;
  const spent = timeSpent(state);
  if (!spent.some((one) => one.step !== null)) return null;
  const total = spent.reduce((sum, one) => sum + one.seconds, 0);
  const seen = spent.filter((one) => one.seconds >= 0.05);
  return html`<h3 class="sec">Where the time went</h3><table class="spent"><tbody>${seen.map(({ step, seconds: took }) => html`<tr><td>${step === null ? html`<span class="muted">Between steps: waiting, selecting, ending</span>`
      : state.spans.has(step) ? html`<button type="button" class="linkish" onClick=${() => onSelect(step)}>${fullTitle(state.spans.get(step), state.spans)}</button>` : step}</td>
    <td class="num r">${seconds(took)}</td><td class="share"><span class="meter"><i style=${{ width: `${(took / Math.max(total, 0.001)) * 100}%` }}></i></span></td></tr>`)}
    <tr class="sum"><td>The critical path, as long as the run</td><td class="num r">${seconds(source.isLive ? total : secondsShown(state))}</td><td></td></tr></tbody></table>`;
}
