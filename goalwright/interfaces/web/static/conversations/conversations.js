// The list of conversations, named by their first goals, latest turn first.
import { useState } from "../vendor/hooks.js";
import { about } from "../core/about.js";
import { part } from "../core/api.js";
import { Empty, Problem } from "../core/empty.js";
import { ago, count, money, moment } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon, Pill } from "../core/icons.js";
import { useChanges } from "../core/lists.js";
import { Page } from "../core/page.js";
import { useRead } from "../core/use_read.js";

const PAGE = 50;

export function Conversations() {
  const [most, setMost] = useState(PAGE);
  const { value, error, again } = useRead(`/conversations?most=${most}`);
  useChanges({ runs: (changed, gone) => void ((gone.length || changed.some((line) => line.conversation)) && again()), again });
  const begin = !about.value?.read_only && html`<a class="btn primary" href="/conversations/new"><${Icon} name="plus" />New conversation</a>`;
  if (error) return html`<${Page} title="Conversations"><${Problem} error=${error} /></${Page}>`;
  return html`<${Page} title="Conversations" actions=${begin}>${value === null ? html`<p class="loading">Reading…</p>`
    : value.conversations.length === 0 ? html`<${Empty} title="No conversation yet" text="In a conversation, every goal builds on the answers before it. Here, with goalwright chat or in your editor: it is the same list.">${begin}</${Empty}>`
    : html`<div class="tablebox runs"><table class="list"><thead><tr><th>Last turn</th><th>First goal</th><th class="r opt">Turns</th><th class="r opt">Cost</th><th class="r">When</th></tr></thead>
      <tbody>${value.conversations.map((/** @type {any} */ one) => html`<${Line} key=${one.conversation} line=${one} />`)}</tbody></table></div>
      ${value.more && html`<div class="actions" style="justify-content:center;margin-top:14px"><button type="button" class="btn" onClick=${() => setMost(most + PAGE)}>Show more</button></div>`}`}</${Page}>`;
}

/** @param {{ line: any }} props */
const Line = ({ line }) => html`<tr><td><${Pill} status=${line.status} /></td>
  <td class="big"><a href="/conversations/${part(line.conversation)}" title=${line.goal} dir="auto">${line.goal}</a></td>
  <td class="r opt">${line.turns ? count(line.turns) : "all taken back"}</td><td class="r opt">${line.cost_usd === null ? "–" : money(line.cost_usd)}</td>
  <td class="r muted"><time title=${moment(line.started)}>${ago(line.started, Date.now())}</time></td></tr>`;
