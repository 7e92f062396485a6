// An empty page or list: the reason and the next step.
import { html } from "./html.js";
import { Weave } from "./icons.js";

/** @param {{ title: string, text?: any, children?: any }} props */
export const Empty = ({ title, text, children }) => html`<div class="empty"><${Weave} /><h2>${title}</h2>${text && html`<p>${text}</p>`}${children && html`<div class="actions">${children}</div>`}</div>`;

/** The error of a route, in place of its content. @param {{ error: any }} props */
export const Problem = ({ error }) => html`<div class="note st-failed"><b>${error?.message ?? "The server does not answer."}</b>${error?.hint && html`<div class="hint">${error.hint}</div>`}</div>`;
