// One conversation: its turns, and a field for the next goal.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { attempt, note } from "../core/announce.js";
import { get, part, post, Refused } from "../core/api.js";
import { confirm } from "../core/dialog.js";
import { Empty } from "../core/empty.js";
import { counted, money } from "../core/format.js";
import { html } from "../core/html.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { go } from "../core/router.js";
import { NextGoal } from "./next_goal.js";
import { Turn } from "./turn.js";
import { blocked, joined } from "./turns.js";

const CRUMBS = html`<a href="/conversations">Conversations</a>`;

/** @typedef {import("./turns.js").Turn} TurnLine */

/** A conversation without turns. */
export const NewConversation = () => html`<${Page} title="New conversation" crumbs=${CRUMBS} bare=${true}><div class="talk"><div class="turns"><div class="hero"><h2>What do you want to know, or have done?</h2>
    <p>Every goal is a run, and sees the goals, answers and files before it. A question that needs no plan is answered at once.</p></div></div>
  ${about.value?.read_only ? html`<div class="next"><p class="muted">This server is read-only.</p></div>` : html`<div class="next"><${NextGoal} id=${null} blocked="" onBegun=${(/** @type {{ conversation: string }} */ { conversation }) => go(`/conversations/${part(conversation)}`, { replace: true })} /></div>`}</div></${Page}>`;

/** @param {{ id: string }} props */
export function ConversationPage({ id }) {
  const [summary, setSummary] = useState(/** @type {any} */ (null));
  const [turns, setTurns] = useState(/** @type {TurnLine[]} */ ([]));
  const [earlier, setEarlier] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const shown = useRef(turns);
  shown.current = turns;
  const read = async () => {
    try {
      const page = await get(`/conversations/${part(id)}`);
      const all = joined(shown.current, page.turns);
      setTurns(all);
      if (all[0]?.run_id === page.turns[0]?.run_id) setEarlier(page.earlier);
      setSummary(page);
      setProblem(null);
    } catch (error) {
      if (/** @type {any} */ (error)?.final || (error instanceof Refused && !shown.current.length)) setProblem(error);
    }
  };
  const readEarlier = () => attempt(async () => {
    const page = await get(`/conversations/${part(id)}?before=${part(earlier ?? "")}`);
    setTurns([...page.turns, ...shown.current]);
    setEarlier(page.earlier);
  });
  useEffect(() => void read(), [id]);
  const latest = useRef(read);
  latest.current = read;
  const heard = (/** @type {any[]} */ changed, /** @type {string[]} */ gone) => {
    const own = (/** @type {any} */ line) => line.conversation === id && !shown.current.some((turn) => turn.run_id === line.run_id && turn.status === line.status);
    if (changed.some(own) || gone.some((run) => shown.current.some((turn) => turn.run_id === run))) latest.current();
  };
  useChanges({ runs: heard, again: () => latest.current() });
  const end = useToEnd(turns.at(-1)?.run_id);
  const takeBack = async () => {
    const last = turns.at(-1);
    const sure = last && (await confirm({ title: "Take back the last turn?", text: `“${last.goal.slice(0, 200)}” is no longer seen by later turns, and the files that it changed are put back as they were. Its run stays in the list.`, yes: "Take back" }));
    const taken = sure && (await attempt(() => post(`/conversations/${part(id)}/take-back`)));
    if (!taken) return;
    note("Taken back", taken.left.length ? { hint: `Not restored, because they have changed since: ${taken.left.join(", ")}`, bad: true } : {});
    await read();
  };
  if (problem) return html`<${Page} title="Conversation" crumbs=${CRUMBS}><${Empty} title=${problem.message} text=${problem.hint}><a class="btn" href="/conversations">All conversations</a></${Empty}></${Page}>`;
  const facts = summary && html`<span class="fact">${counted(summary.turn_count, "turn")}</span><span class="fact">${summary.cost_usd === null ? "" : money(summary.cost_usd)}</span><span class="fact mono less">${id}</span>`;
  return html`<${Page} title=${html`<span dir="auto">${summary?.goal ?? "…"}</span>`} crumbs=${CRUMBS} facts=${facts} bare=${true}><div class="talk"><div class="turns" ref=${end} tabIndex=${0} role="log" aria-live="off" aria-label="Turns">
      ${summary === null ? html`<p class="loading">Reading…</p>` : turns.length === 0 && html`<p class="muted">All turns were undone.</p>`}
      ${earlier && html`<div class="actions" style="justify-content:center"><button type="button" class="btn" onClick=${readEarlier}>Show earlier turns</button></div>`}
      ${turns.map((turn, at) => html`<${Turn} key=${turn.run_id} turn=${turn} isLast=${at === turns.length - 1} first=${at >= turns.length - 2} onChanged=${read} onTakeBack=${takeBack} />`)}</div>
    ${!about.value?.read_only && summary && html`<div class="next"><${NextGoal} id=${id} blocked=${blocked(turns.at(-1))} onBegun=${read} /></div>`}</div></${Page}>`;
}

/** Keep the end of a list in view while its last entry grows, unless the reader has scrolled up. @param {string | undefined} last */
function useToEnd(last) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const follows = useRef(true);
  useLayoutEffect(() => {
    follows.current = true;
  }, [last]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const toEnd = () => follows.current && element.scrollTo({ top: element.scrollHeight });
    const onScroll = () => void (follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 80);
    const grows = new ResizeObserver(toEnd);
    const watch = () => {
      for (const child of element.children) grows.observe(child);
      toEnd();
    };
    const added = new MutationObserver(watch);
    added.observe(element, { childList: true });
    element.addEventListener("scroll", onScroll, { passive: true });
    watch();
    return () => {
      grows.disconnect();
      added.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, []);
  return place;
}
