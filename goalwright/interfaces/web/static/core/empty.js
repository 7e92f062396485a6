// A page or a list with nothing in it: says why, and offers the next step.
import { html } from "./html.js";
import { Weave } from "./icons.js";

/** @param {{ title: string, text?: any, children?: any }} props */
export const Empty = ({ title, text, children }) => html`<div class="empty"><${Weave} /><h2>${title}</h2>${text && html`<p>${text}</p>`}${children && html`<div class="actions">${children}</div>`}</div>`;

/** What a route said no with, in the place of what it would have given. @param {{ error: any }} props */
export const Problem = ({ error }) => html`<div class="note st-failed"><b>${error?.message ?? "The server does not answer."}</b>${error?.hint && html`<div class="hint">${error.hint}</div>`}</div>`;
