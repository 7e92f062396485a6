// The list of skills: try a goal, add, import, delete.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { part, post, remove } from "../core/api.js";
import { confirm, show } from "../core/dialog.js";
import { Empty, Problem } from "../core/empty.js";
import { score } from "../core/format.js";
import { classes, html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { useKeys } from "../core/keys.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { go, place, setQuery } from "../core/router.js";
import { useRead } from "../core/use_read.js";
import { AddDialog } from "./adding.js";
import { ofDrop } from "./folder.js";
import { ImportDialog } from "./importing.js";
import { McpServers } from "./mcp_servers.js";
import { Unfolded } from "./unfolded.js";

const KINDS = [["", "All"], ["context", "Instructions"], ["executable", "Tools"], ["broken", "Broken or hidden"]];
const PAUSE = 250;

/** @typedef {Record<string, any>} Skill */

export function Skills() {
  const everything = useRead("/skills?all=1");
  const readOnly = about.value?.read_only ?? false;
  const text = place.value.query.get("q") ?? "", kind = place.value.query.get("kind") ?? "", goal = place.value.query.get("goal") ?? "";
  const { found, scores } = useTried(goal);
  const [over, setOver] = useState(false);
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  useChanges({ skills: everything.again, again: everything.again });
  useKeys({ "/": () => search.current?.focus() });
  const importing = async (/** @type {Promise<Blob | Uint8Array | null> | null} */ given = null) => {
    if (await show((close) => html`<${ImportDialog} close=${close} given=${given} />`)) everything.again();
  };
  const add = async () => {
    const name = await show((close) => html`<${AddDialog} close=${close} />`);
    if (name) go(`/skills/${part(name)}?file=SKILL.md`);
  };
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    if (!readOnly && event.dataTransfer?.items.length) importing(ofDrop(event.dataTransfer));
  };
  const fits = (/** @type {Skill} */ one) => `${one.name} ${one.description} ${one.source}`.toLowerCase().includes(text.toLowerCase())
    && (kind === "broken" ? one.state !== "active" : !kind || (one.kind === kind && one.state === "active"));
  const all = /** @type {Skill[]} */ (everything.value ?? []);
  const rows = all.filter(fits).filter((one) => !found || (one.state === "active" && scores.has(one.name))).sort((a, b) => (scores.get(b.name)?.score ?? 0) - (scores.get(a.name)?.score ?? 0));
  const actions = !readOnly && html`<button type="button" class="btn" onClick=${() => importing()}><${Icon} name="upload" />Import…</button><button type="button" class="btn primary" onClick=${add}><${Icon} name="plus" />Add a skill</button>`;
  return html`<${Page} title="Skills" actions=${actions} bare=${true}><div class=${classes("page", over && "dropping")} onDragOver=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(true); }} onDragLeave=${(/** @type {DragEvent} */ event) => event.currentTarget === event.target && setOver(false)} onDrop=${drop}>
    <div class="trybox"><${Icon} name="search" /><input class="field" aria-label="Try a goal" placeholder="Type a goal to see which skills it would select, and why" value=${goal} onInput=${(/** @type {any} */ event) => setQuery({ goal: event.target.value }, { replace: true })} /></div>
    ${goal.trim() && !found && html`<p class="muted" role="status">Looking for skills that fit…</p>`}
    <div class="bar"><div class="searchbox"><${Icon} name="search" /><input class="field" type="search" ref=${search} aria-label="Search skills" placeholder="Search names and descriptions" value=${text} onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value }, { replace: true })} /></div>
      <div class="chips" role="group" aria-label="Kind">${KINDS.map(([value, name]) => html`<button type="button" class="chip" key=${name} aria-pressed=${kind === value ? "true" : "false"} onClick=${() => setQuery({ kind: value }, { replace: true })}>${name}</button>`)}</div></div>
    ${everything.error ? html`<${Problem} error=${everything.error} />` : !everything.value ? html`<p class="loading">Reading…</p>`
      : rows.length ? html`<${Table} rows=${rows} scores=${scores} onChanged=${everything.again} />`
      : html`<${Empty} title=${found ? "No skill fits this goal" : "No skill fits"} text=${found ? "The model would plan with what it knows." : "Nothing matches this name, these words or this kind."}>${found ? "" : html`<button type="button" class="btn" onClick=${() => go("/skills")}>Show all skills</button>`}</${Empty}>`}
    ${!found && !text && !kind && html`<${McpServers} />`}</div></${Page}>`;
}

/** The skills that a goal would select, while it is typed. @param {string} goal */
function useTried(goal) {
  const [found, setFound] = useState(/** @type {any[] | null} */ (null));
  useEffect(() => {
    if (!goal.trim()) return setFound(null);
    const ending = new AbortController();
    const timer = setTimeout(() => post("/skills/select", { goal }, { signal: ending.signal }).then((answer) => setFound(answer.selected), () => {}), PAUSE);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [goal]);
  return { found, scores: new Map((found ?? []).map((one) => [one.name, one])) };
}

/** @param {{ rows: Skill[], scores: Map<string, any>, onChanged: () => void }} props */
function Table({ rows, scores, onChanged }) {
  const [open, setOpen] = useState("");
  const erase = async (/** @type {string} */ name) => {
    const sure = await confirm({ title: `Delete ${name}?`, text: "Its folder and all its files are deleted. This cannot be undone.", yes: "Delete", danger: true });
    if (!sure || !(await attempt(() => remove(`/skills/${part(name)}`)))) return;
    note(`${name} is deleted`);
    onChanged();
  };
  return html`<div class="tablebox"><table class="list skills"><thead><tr><th>Skill</th><th>What it does</th><th class="opt">Source</th><th class="opt">Kind</th><th>State</th><th class="r"><span class="sr">Actions</span></th></tr></thead><tbody>${rows.map((one) => html`<${Row} key=${one.path} one=${one} tried=${scores.get(one.name)} open=${open === one.path} onOpen=${() => setOpen(open === one.path ? "" : one.path)} onDelete=${erase} />`)}</tbody></table></div>`;
}

/** @param {{ one: Skill, tried: any, open: boolean, onOpen: () => void, onDelete: (name: string) => void }} props */
const Row = ({ one, tried, open, onOpen, onDelete }) => html`<tr class=${classes(open && "open")}><td class="name"><button type="button" class="plain" aria-expanded=${open ? "true" : "false"} aria-label="Files of ${one.name}" onClick=${onOpen}><${Icon} name=${open ? "down" : "forward"} /></button><a class="mono" href="/skills/${part(one.name)}">${one.name}</a></td>
    <td class="what">${tried ? html`<span class="num">${score(tried.score)}</span> ${tried.reason}` : html`<span class="clamp2" title=${one.description}>${one.description}</span>`}${one.state !== "active" && one.reason && html`<small class="sub">${one.reason}</small>`}</td>
    <td class="opt"><span class="tag">${one.source}</span></td><td class="opt"><span class="tag">${one.kind === "context" ? "instructions" : "tool"}</span></td>
    <td><span class="tag ${one.state !== "active" ? "bad" : one.trusted ? "good" : "ask"}">${one.state !== "active" ? one.state : one.trusted ? "ok" : "untrusted"}</span>${(one.decided ?? []).map((/** @type {string} */ note) => html` <span class="tag" key=${note}>${note}</span>`)}</td>
    <td class="r">${one.deletable ? html`<button type="button" class="btn small danger" onClick=${() => onDelete(one.name)}>Delete<span class="sr"> ${one.name}</span></button>` : one.locked && html`<span class="muted" title=${one.locked.why}>${one.locked.short}</span>`}</td></tr>
  ${open && html`<tr class="unfolded"><td colspan="6"><${Unfolded} name=${one.name} /></td></tr>`}`;
