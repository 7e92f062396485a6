// The open requests of all runs: approvals of tools and tasks, and questions.
import { useEffect } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { part } from "../core/api.js";
import { asking, readAsking } from "../core/asking.js";
import { Empty } from "../core/empty.js";
import { ago, moment } from "../core/format.js";
import { html } from "../core/html.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { Request } from "../run/answering.js";

export function Approvals() {
  useEffect(readAsking, []);
  useChanges({ again: readAsking });
  const requests = asking.value;
  const answered = (/** @type {string} */ run, /** @type {string} */ id) => (asking.value = (asking.value ?? []).filter((one) => one.run_id !== run || one.id !== id));
  return html`<${Page} title="Approvals">${requests === null ? html`<p class="loading">Reading…</p>`
    : requests.length === 0 ? html`<${Empty} title="Nothing is waiting for you" text="Tool calls that change something, tasks that need approval and questions of the planner appear here, for runs of all processes."><a class="btn" href="/runs">All runs</a></${Empty}>`
    : html`<div class="narrow stack">${requests.map((one) => html`<section class="panel" key=${one.run_id + one.id} aria-label="Request of ${one.goal.slice(0, 60)}"><div class="pad"><div class="askhead"><a class="cut" href="/runs/${part(one.run_id)}${one.task ? `?task=${part(one.task)}` : ""}" title=${one.goal} dir="auto">${one.goal}</a>${one.task && html`<span class="muted cut">${one.title || one.task}</span>`}<time class="muted" title=${moment(one.asked)}>${ago(one.asked, Date.now())}</time></div>
      <${Request} run=${one.run_id} request=${one} readOnly=${about.value?.read_only ?? false} onDone=${() => answered(one.run_id, one.id)} /></div></section>`)}</div>`}</${Page}>`;
}
