// Rerun from a task: shows which tasks are reused and which are executed before anything starts.
import { useEffect, useState } from "../vendor/hooks.js";
import { part, post } from "../core/api.js";
import { Dialog } from "../core/dialog.js";
import { counted, money } from "../core/format.js";
import { html } from "../core/html.js";
import { LimitFields, useLimits } from "./limits.js";

/** @param {{ close: (value?: any) => void, feed: import("./feed.js").RunFeed, task: string, output: string | null }} props */
export function RerunDialog({ close, feed, task, output }) {
  const [text, setText] = useState(output ?? "");
  const [dry, setDry] = useState(/** @type {{ reused: string[], executed: string[] } | null} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const limits = useLimits();
  const edited = output !== null;
  const asked = { ...(edited ? { inputs: { [task]: text } } : { from: [task] }) };
  useEffect(() => {
    const ending = new AbortController();
    post(`/runs/${part(feed.id)}/rerun`, { ...asked, dry_run: true }, { signal: ending.signal }).then(setDry, (error) => ending.signal.aborted || setProblem(error));
    return () => ending.abort();
  }, []);
  const start = async () => {
    setBusy(true);
    try {
      close((await post(`/runs/${part(feed.id)}/rerun`, { ...asked, settings: limits.given() })).run_id);
    } finally {
      setBusy(false);
    }
  };
  const paid = dry?.executed.map((id) => feed.state.spans.get(id)?.cost_usd ?? 0).reduce((sum, one) => sum + one, 0) ?? 0;
  return html`<${Dialog} title=${edited ? `Rerun with another output of ${task}` : `Rerun from ${task}`} close=${close} wide=${edited} onSubmit=${start}
    foot=${html`<span class="left">${dry ? `${counted(dry.executed.length, "task")} run, ${dry.reused.length} reused` : ""}</span><button type="button" class="btn" onClick=${() => close()}>Cancel</button>
      <button type="submit" form="dialog" class="btn primary" disabled=${busy || !dry}>${busy ? "Starting…" : "Start"}</button>`}>
    <div class="form">
      ${edited && html`<label>Output of ${task}<textarea class="field mono" rows="12" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea></label>`}
      ${problem && html`<div class="note st-failed"><b>${problem.message}</b><div class="hint">${problem.hint}</div></div>`}
      ${!dry && !problem && html`<p class="muted">Checking what can be reused…</p>`}
      ${dry && html`<div><h3 class="sec">Executed, with new cost</h3><p>${dry.executed.join(", ") || "nothing"}</p>
        ${paid > 0 && html`<p class="muted">They took ${money(paid)} last time.</p>`}
        <h3 class="sec">Reused, without cost</h3><p class="muted">${dry.reused.join(", ") || "nothing"}</p></div>`}
      <${LimitFields} limits=${limits} now=${feed.state.settings} names=${["model", "max_cost"]} /></div></${Dialog}>`;
}
