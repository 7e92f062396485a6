// The origin of a run: the run whose plan, goal or results it reused, or that it follows up.
import { part } from "../core/api.js";
import { html } from "../core/html.js";
import { address } from "../core/router.js";

/** @param {{ state: { parent: string | null, after: string | null, run_id: string }, compare?: boolean }} props */
export const Origin = ({ state: { parent, after, run_id }, compare = false }) => html`${parent && html`<span>made from <a class="mono" href=${address(`/runs/${part(parent)}`)}>${parent}</a>${compare && html` · <a href="/compare?a=${part(parent)}&b=${part(run_id)}">compare</a>`}</span>`}
  ${after && html`<span>follows up <a class="mono" href=${address(`/runs/${part(after)}`)}>${after}</a></span>`}`;
