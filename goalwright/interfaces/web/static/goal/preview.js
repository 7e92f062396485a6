// The preview of a goal while typing: skills with scores and reasons, prompt size, model.
import { useEffect, useState } from "../vendor/hooks.js";
import { post } from "../core/api.js";
import { count } from "../core/format.js";
import { html } from "../core/html.js";
import { Scores } from "../run/tabs.js";
import { body, draft } from "./draft.js";

const PAUSE = 250;

export function PreviewPart() {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const { goal, skills, settings } = draft.value;
  useEffect(() => {
    if (!goal.trim()) return; // the goal was submitted
    const asked = { ...body(), goal, skills, settings, files: [] };
    const ending = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setFound(await post("/preview", asked, { signal: ending.signal }));
      } catch (error) {
        if (!ending.signal.aborted) setFound({ selected: [], error });
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [goal, skills, settings]);
  if (!found) return html`<p class="muted">Looking for skills that fit…</p>`;
  return html`<div class="preview" aria-live="polite"><section aria-label="Skills that would be selected"><h3 class="sec">Skills that would be selected</h3>${found.selected.length ? html`<${Scores} selected=${found.selected} />` : html`<p class="muted">No skill fits; the model plans with what it knows. <a href="/skills">Look at the skills</a></p>`}</section>
    <section aria-label="Model and prompt"><h3 class="sec">Starts with</h3>
      ${found.error && html`<div class="note st-failed" style="margin-bottom:10px"><b>${found.error.message}</b><div class="hint">${found.error.hint ?? ""}</div></div>`}
      ${found.missing && html`<div class="note st-partial" style="margin-bottom:10px"><b>${found.missing}</b><div class="hint"><a href="/models">Pull it</a>, once, or set a provider's key and start <code>goalwright serve</code> again.</div></div>`}
      <dl class="grid">${found.model && html`<dt>Model</dt><dd class="mono" title=${found.why}>${found.model}</dd>`}
        ${found.estimate?.prompt_tokens > 0 && html`<dt>Prompt</dt><dd class="num">about ${count(found.estimate.prompt_tokens)} tokens</dd>`}
        ${found.estimate && html`<dt>Calls</dt><dd>${found.estimate.calls}</dd>`}</dl></section></div>`;
}
