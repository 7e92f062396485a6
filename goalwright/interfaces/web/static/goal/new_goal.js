// The form of a new goal, with a preview while typing; no model is called before the goal is submitted.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, noteError } from "../core/announce.js";
import { part, post, stream } from "../core/api.js";
import { classes, html } from "../core/html.js";
import { Icon, Weave } from "../core/icons.js";
import { focusPage, go, place } from "../core/router.js";
import { LimitFields, useLimits } from "../run/limits.js";
import { body, change, draft, draftOf, EMPTY } from "./draft.js";
import { FileChips, FileButton, uploaded } from "./files.js";
import { Planning, said } from "./planning.js";
import { PreviewPart } from "./preview.js";
import { SkillPicker } from "./skill_picker.js";

export function NewGoal() {
  const { goal } = draft.value;
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState("");
  const [steps, setSteps] = useState(/** @type {any[]} */ ([]));
  const [over, setOver] = useState(false);
  const limits = useLimits(draft.value.settings);
  const planning = useRef(/** @type {AbortController | null} */ (null));
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const of = place.value.query.get("of");
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (of) attempt(async () => change(await draftOf(of)));
    return () => planning.current?.abort();
  }, [of]);
  useEffect(() => change({ settings: limits.given() }), [limits.values]);
  const ready = goal.trim() !== "" && !busy;
  const run = async () => {
    setBusy("run");
    const started = await attempt(() => post("/runs", body()));
    setBusy("");
    if (!started) return;
    change(EMPTY);
    go(`/runs/${part(started.run_id)}`);
    focusPage();
  };
  const plan = async () => {
    setBusy("plan");
    setSteps([]);
    planning.current = new AbortController();
    try {
      for await (const event of stream("/plan", body(), planning.current.signal)) {
        if (event.type === "plan") {
          change({ plan: event.data.text, saved: event.data.text, of: null });
          return go("/plan");
        }
        if (event.type === "error") setSteps((all) => [...all, { type: "error", ...event.data.error }]);
        else setSteps((all) => said(all, event));
      }
    } catch (error) {
      noteError(error);
    } finally {
      setBusy("");
    }
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && ready) {
      event.preventDefault();
      if (event.shiftKey) run();
      else plan();
    }
  };
  const give = async (/** @type {File[]} */ files) => {
    for (const file of files) {
      const kept = await uploaded(file);
      if (kept) change({ files: [...draft.peek().files, kept] });
    }
  };
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    give([...(event.dataTransfer?.files ?? [])]);
  };
  const { settings } = draft.value;
  if (about.value?.read_only) return html`<main id="main"><header class="top"><div class="title"><h1>New goal</h1></div></header><div class="empty"><${Weave} /><h2>This server is read-only</h2><p>It was started with --read-only.</p></div></main>`;
  return html`<main id="main"><header class="top"><div class="title"><h1>New goal</h1><div class="actions"><a class="btn" href="/plan"><${Icon} name="plan" />Write a plan yourself</a></div></div></header>
    <div class=${classes("goalpage", !goal.trim() && !steps.length && "first")}><div class="in">
      ${!goal.trim() && html`<div class="hero"><${Weave} /><h2>What do you want done?</h2><p>goalwright selects the skills that fit, plans the tasks and runs them side by side. You can look at the plan before anything is spent on it.</p></div>`}
      <div class=${classes("goalbox", over && "over")} onDragOver=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
        <textarea ref=${field} aria-label="Goal" placeholder="Compare three caches for our API and recommend one" value=${goal} onKeyDown=${key} onInput=${(/** @type {any} */ event) => change({ goal: event.target.value })}></textarea>
        <${FileChips} files=${draft.value.files} onFiles=${(/** @type {any[]} */ files) => change({ files })} />
        ${open && html`<div class="more form"><${SkillPicker} /><${LimitFields} limits=${limits} names=${["model", "max_cost", "timeout", "max_concurrency"]} /></div>`}
        <div class="foot"><button type="button" class="chip" aria-expanded=${open} onClick=${() => setOpen(!open)}>${settings.model ?? "Model"}</button>
          <button type="button" class="chip" aria-expanded=${open} onClick=${() => setOpen(!open)}>${settings.max_cost ? `at most $${settings.max_cost}` : "Limits"}</button>
          <button type="button" class="chip" aria-expanded=${open} onClick=${() => setOpen(!open)}>${draft.value.skills.length ? draft.value.skills.join(", ") : "Skills"}</button>
          <${FileButton} onGiven=${give} />
          <span class="go">${busy === "plan" ? html`<button type="button" class="btn" onClick=${() => planning.current?.abort()}>Cancel</button>` : html`<button type="button" class="btn" disabled=${!ready} onClick=${run} title="Ctrl+Shift+Enter">${busy === "run" ? "Starting…" : "Run"}</button>`}
            <button type="button" class="btn primary" disabled=${!ready} onClick=${plan} title="Ctrl+Enter">${busy === "plan" ? "Planning…" : "Plan first"}</button></span></div></div>
      ${steps.length > 0 || busy === "plan" ? html`<${Planning} steps=${steps} busy=${busy === "plan"} />` : goal.trim() && html`<${PreviewPart} />`}</div></div></main>`;
}
