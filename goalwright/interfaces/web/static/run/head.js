// The header of a run: goal, status, use of its limits, and actions.
import { about } from "../core/about.js";
import { Menu } from "../core/dialog.js";
import { approx, count, counted, money, seconds } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Pill } from "../core/icons.js";
import { part } from "../core/api.js";
import { canResume, runWord } from "../core/states.js";
import { Origin } from "./origin.js";
import { ViewSwitch } from "./panel.js";
import { tally } from "./spans.js";

/** @param {{ source: any, feed: any, actions: any, playing: boolean, readOnly: boolean }} props */
export function Head({ source, feed, actions, playing, readOnly }) {
  source.tick.value;
  const { state } = source;
  const tasks = tally(state.spans);
  const status = state.status === "running" && !tasks.all ? "planning" : state.status;
  const live = feed.isLive;
  const mayResume = !live && canResume(state.status) && !readOnly;
  return html`<header class="top">
    <div class="crumbs"><a href="/runs">Runs</a><span>/</span><span class="mono cut">${state.run_id || feed.id}</span>
      <${Origin} state=${state} />
      ${state.given.conversation && html`<span>turn ${state.given.turn} of <a href="/conversations/${part(state.given.conversation)}">a conversation</a></span>`}</div>
    <div class="title"><h1 class="goal" dir="auto" tabIndex=${-1} title=${state.goal}>${state.goal || "…"}</h1><div class="actions">
      ${mayResume && !state.waiting.length && html`<button type="button" class="btn primary" onClick=${actions.resume}><${Icon} name="play" />Resume…</button>`}
      ${tasks.all > 0 && html`<button type="button" class="btn" aria-pressed=${playing ? "true" : "false"} onClick=${actions.play}><${Icon} name="replay" /><span class="word">Playback</span></button>`}
      <${Menu} label="More" items=${[
        mayResume && state.waiting.length > 0 && { name: "Resume without an answer…", icon: "play", do: actions.resume },
        { name: "Compare with…", icon: "compare", href: `/compare?a=${part(feed.id)}` },
        !live && { name: "Check what would differ today", icon: "replay", href: `/replay?run=${part(feed.id)}` },
        tasks.all > 0 && !live && !readOnly && { name: "Change the plan…", icon: "edit", do: actions.replan },
        tasks.all > 0 && { name: "Edit the plan as new", icon: "plan", href: `/plan?of=${part(feed.id)}` },
        !readOnly && { name: "New run of this goal", icon: "plus", href: `/new?of=${part(feed.id)}` },
        { name: "Export as JSON lines", icon: "download", do: () => actions.export("jsonl") },
        { name: "Export as one page", icon: "download", do: () => actions.export("html") },
        about.value?.otlp && !readOnly && { name: "Send as OpenTelemetry spans", icon: "upload", do: actions.send },
        !live && !readOnly && { name: "Delete this run…", icon: "trash", danger: true, do: actions.delete },
      ]} />
      ${live && !readOnly && html`<button type="button" class="btn danger" onClick=${actions.stop} disabled=${actions.stopping}><${Icon} name="stop" />${actions.stopping ? "Stopping…" : "Stop"}</button>`}</div></div>
    <div class="facts"><${Pill} status=${status} word=${status === state.status ? runWord(state) : undefined} />
      ${tasks.all > 0 && html`<span class="fact"><b>${count(tasks.done)}</b> of ${counted(tasks.all, "task")}${rest(tasks)}</span>`}
      <span class="fact"><b>${seconds(source.now())}</b> at work</span>
      <span class="fact less"><b>${count(state.usage.calls)}</b> ${state.usage.calls === 1 ? "call" : "calls"}</span>
      <span class="fact less"><b>${approx(state.usage)}${count(state.usage.prompt_tokens + state.usage.completion_tokens)}</b> tokens</span>
      <${Spent} state=${state} />
      ${state.settings.model && html`<span class="fact mono model">${state.settings.model}</span>`}
      <${ViewSwitch} /></div></header>`;
}

/** Further counts of the tasks. @param {ReturnType<typeof tally>} tasks */
const rest = ({ failed, unneeded }) => `${failed ? `, ${count(failed)} failed` : ""}${unneeded ? `, ${count(unneeded)} not needed` : ""}`;

/** Cost against its limit. @param {{ state: import("./fold.js").State }} props */
function Spent({ state }) {
  const most = state.settings.max_cost;
  const share = most && state.cost !== null ? Math.min(1, state.cost / most) : null;
  return html`<span class="fact"><b>${approx(state.usage)}${money(state.cost)}</b>${most ? ` of ${money(most)}` : state.cost === null ? " cost" : ""}</span>
    ${share !== null && html`<span class="meter ${share > 0.9 ? "st-failed" : ""}" role="img" aria-label=${`${Math.round(share * 100)} % of the budget is spent`}><i style=${{ width: `${share * 100}%` }}></i></span>`}`;
}
