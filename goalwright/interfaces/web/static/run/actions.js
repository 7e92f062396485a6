// The actions on a run: stop, resume, rerun, export, delete.
import { useState } from "../vendor/hooks.js";
import { attempt, note } from "../core/announce.js";
import { part, post, save } from "../core/api.js";
import { confirm, Dialog, show } from "../core/dialog.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { go } from "../core/router.js";
import { deleteRun } from "./deletion.js";
import { RerunDialog } from "./rerun.js";
import { LimitFields, useLimits } from "./limits.js";
import { tally } from "./spans.js";

/** @param {import("./feed.js").RunFeed} feed @param {(on: boolean) => void} setStopping */
export const actionsOf = (feed, setStopping) => ({
  async stop() {
    setStopping(true);
    const asked = await attempt(() => post(`/runs/${part(feed.id)}/stop`));
    if (asked) note("Asked to stop", { hint: "Finished tasks are kept; the run can be resumed." });
    setTimeout(() => setStopping(false), asked ? 5000 : 0);
  },
  async resume() {
    await show((close) => html`<${ResumeDialog} close=${close} feed=${feed} />`);
  },
  async replan() {
    await show((close) => html`<${ReplanDialog} close=${close} feed=${feed} />`);
  },
  /** @param {string} task @param {string} [output] */
  async rerun(task, output) {
    const started = await show((close) => html`<${RerunDialog} close=${close} feed=${feed} task=${task} output=${output ?? null} />`);
    if (started) go(`/runs/${part(started)}`);
  },
  export: (/** @type {string} */ form) => attempt(() => save(`/runs/${part(feed.id)}/export?form=${form}`, `${feed.id}.${form}`)),
  async send() {
    const sent = await attempt(() => post(`/runs/${part(feed.id)}/otlp`));
    if (sent) note(`${counted(sent.spans, "span")} sent`);
  },
  async delete() {
    const sure = await confirm({ title: "Delete this run?", text: "Its record and the files it made are deleted. This cannot be undone.", yes: "Delete", danger: true });
    if (sure && (await deleteRun(feed.id))) {
      note("Deleted");
      go("/runs");
    }
  },
});

/** @param {{ close: (value?: any) => void, feed: import("./feed.js").RunFeed }} props */
function ResumeDialog({ close, feed }) {
  const { state } = feed;
  const limits = useLimits();
  const resume = async () => {
    await post(`/runs/${part(feed.id)}/resume`, { settings: limits.given() });
    feed.run();
    close();
  };
  const { left } = tally(state.spans);
  return html`<${Dialog} title="Resume this run" close=${close} onSubmit=${resume}
    foot=${html`<button type="button" class="btn" onClick=${() => close()}>Cancel</button><button type="submit" form="dialog" class="btn primary">Resume</button>`}>
    <div class="form"><p class="muted">${left ? `${counted(left, "task has", "tasks have")} no result yet and ${left === 1 ? "runs" : "run"} again; nothing that is finished is paid for twice.` : "It continues where it stopped. Finished tasks are not paid for twice."}</p>
    <${LimitFields} limits=${limits} now=${state.settings} /></div></${Dialog}>`;
}

/** @param {{ close: (value?: any) => void, feed: import("./feed.js").RunFeed }} props */
function ReplanDialog({ close, feed }) {
  const [text, setText] = useState("");
  const replan = async () => {
    if (!text.trim()) return;
    await post(`/runs/${part(feed.id)}/replan`, { text: text.trim() });
    feed.run();
    close();
  };
  return html`<${Dialog} title="Change the plan" close=${close} onSubmit=${replan}
    foot=${html`<button type="button" class="btn" onClick=${() => close()}>Cancel</button><button type="submit" form="dialog" class="btn primary" disabled=${!text.trim()}>Change and continue</button>`}>
    <div class="form"><label>What to change<textarea class="field" rows="4" placeholder="Leave out the comparison with 2019" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea></label>
    <p class="muted">A model adds, drops and relinks tasks. Tasks that have started stay as they are, and finished ones are not paid for again.</p></div></${Dialog}>`;
}
