// A plan as text beside its graph, with all faults while typing; a faulty plan cannot be run.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt } from "../core/announce.js";
import { get, part, post } from "../core/api.js";
import { confirm } from "../core/dialog.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, StateIcon } from "../core/icons.js";
import { focusPage, go, leaveFreely, place } from "../core/router.js";
import { useUnsaved } from "../core/unsaved.js";
import { useCheckedPlan } from "./checked_plan.js";
import { CodeField, goToLine } from "./code_field.js";
import { blank, body, change, draft, draftOf, EMPTY } from "./draft.js";
import { begin, changed, redone, undone } from "./history.js";
import { BY_HAND, Inspector } from "./inspector.js";
import { PlanGraph } from "./plan_graph.js";

/** @typedef {import("./draft.js").Draft} Draft */

const savedPlan = () => draft.value.saved || blank(draft.value.goal);
const isUnsaved = () => draft.value.plan !== "" && draft.value.plan !== savedPlan();

/** A draft with the plan of a run; undefined if the user keeps unsaved edits. @param {string} run @returns {Promise<Draft | undefined>} */
const planOf = (run) => attempt(async () => {
  const kept = isUnsaved() && !(await confirm({ title: "Edit another plan?", text: "The plan that you edited before is not saved and would be lost.", yes: "Drop my edits", danger: true }));
  if (kept) return undefined;
  const [{ text }, given] = await Promise.all([get(`/runs/${part(run)}/plan`), draftOf(run)]);
  return { ...given, plan: text, saved: text, of: run };
});

export function PlanEditor() {
  const [history, setHistory] = useState(() => begin(draft.value.plan || blank(draft.value.goal)));
  const [selected, setSelected] = useState(/** @type {string | null} */ (null));
  const [here, setHere] = useState(0);
  const [busy, setBusy] = useState(false);
  const file = useRef(/** @type {HTMLInputElement | null} */ (null));
  const text = history.now;
  const of = place.value.query.get("of");
  const saved = savedPlan();
  const taken = !of || of === draft.value.of;
  const unsaved = taken && text !== saved;
  useUnsaved(unsaved);
  useEffect(() => {
    if (of && of !== draft.value.of) planOf(of).then((found) => { // else it is already being edited
      if (!found) return go("/plan", { replace: true });
      setHistory(begin(found.plan));
      change(found);
    });
  }, [of]);
  useEffect(() => {
    if (taken) change({ plan: text });
  }, [text, taken]);
  const edit = (/** @type {string} */ now, apart = false) => setHistory((before) => changed(before, now, Date.now(), apart));
  const plan = useCheckedPlan(text, taken, (now, id) => {
    edit(now, true);
    setSelected(id);
  });
  const { checked } = plan;
  const tasks = checked?.tasks ?? [];
  const editable = checked?.editable ?? false;
  const faults = checked?.faults ?? [];
  const faulty = new Set(faults.map((fault) => fault.task ?? ""));
  const choose = (/** @type {string | null} */ id) => {
    setSelected(id);
    const task = tasks.find((one) => one.id === id);
    if (task) setHere(task.line);
  };
  const onLine = (/** @type {number} */ line) => {
    setHere(line);
    const task = tasks.find((one) => one.line <= line && line <= one.end);
    if (task && task.id !== selected) setSelected(task.id);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key.toLowerCase() === "z") setHistory(event.shiftKey ? redone(history) : undone(history));
    else if (event.key.toLowerCase() === "y") setHistory(redone(history));
    else if (event.key === "Enter") run();
    else return;
    event.preventDefault();
  };
  const fresh = checked?.text === text;
  const runnable = fresh && checked.plan?.tasks.length > 0 && !busy;
  const run = async () => {
    if (!runnable) return;
    setBusy(true);
    const started = await attempt(() => post("/runs", { ...body({ withPlan: true }), plan: text, goal: draft.value.goal || checked?.goal || "" }));
    setBusy(false);
    if (!started) return;
    leaveFreely();
    change(EMPTY);
    go(`/runs/${part(started.run_id)}`);
    focusPage();
  };
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
    link.download = "plan.yaml";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    change({ saved: text });
  };
  const open = async (/** @type {any} */ event) => {
    const [given] = event.target.files;
    event.target.value = "";
    if (!given) return;
    const read = await given.text();
    change({ saved: read });
    edit(read, true);
  };
  const task = tasks.find((one) => one.id === selected);
  if (!taken) return html`<main id="main"><p class="loading">Reading the plan…</p></main>`;
  return html`<main id="main"><header class="top"><div class="crumbs"><a href="/new">New goal</a><span>/</span><span>Plan</span></div><div class="title"><h1 class="goal" dir="auto">${draft.value.goal || checked?.goal || "A plan"}</h1><div class="actions">
      <button type="button" class="btn icon" aria-label="Undo" title="Undo (Ctrl+Z)" disabled=${!history.past.length} onClick=${() => setHistory(undone(history))}><${Icon} name="undo" /></button>
      ${unsaved && html`<button type="button" class="btn" title="Back to the saved or planned text; Ctrl+Z undoes this" onClick=${() => edit(saved, true)}>Discard</button>`}
      <button type="button" class="btn" disabled=${!editable} title=${editable || !checked ? "" : BY_HAND} onClick=${() => plan.change({ change: "add" })}><${Icon} name="plus" /><span class="word">Add a task</span></button>
      <input type="file" hidden ref=${file} accept=".yaml,.yml,.json" onChange=${open} /><button type="button" class="btn" onClick=${() => file.current?.click()}><${Icon} name="upload" /><span class="word">Open…</span></button>
      <button type="button" class="btn" onClick=${save}><${Icon} name="download" /><span class="word">Save as file</span></button>
      ${!about.value?.read_only && html`<button type="button" class="btn primary" disabled=${!runnable} onClick=${run} title="Ctrl+Enter"><${Icon} name="play" />${busy ? "Starting…" : "Run"}</button>`}</div></div></header>
    <div class="editor"><div class="left"><${CodeField} text=${text} faults=${faults} here=${here} label="The plan, in YAML or JSON" onChange=${edit} onLine=${onLine} onKey=${key} />
        <div class="faults" aria-live="polite">${faults.length ? faults.map((fault) => html`<button type="button" class="line" onClick=${() => { setHere(fault.line); goToLine(fault.line); }}><b>Line ${fault.line}</b><span>${fault.message}</span></button>`)
          : html`<span class="ic"><${StateIcon} status=${fresh ? "done" : "pending"} />${fresh ? `${counted(checked.plan.tasks.length, "task")}, no faults: it can run` : "Checking…"}</span>`}
          ${(checked?.repairs ?? []).map((repair) => html`<span class="muted">${repair}</span>`)}</div></div>
      <div class="right"><${PlanGraph} tasks=${tasks} ready=${checked !== null} faulty=${faulty} selected=${selected} onSelect=${choose} />
        ${task && html`<${Inspector} tasks=${tasks} task=${task} editable=${editable} onChange=${plan.change} />`}</div></div></main>`;
}
