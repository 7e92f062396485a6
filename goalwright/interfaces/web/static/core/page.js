// The frame of a page: breadcrumbs, title, actions, content.
import { html } from "./html.js";

/** @param {{ title: any, crumbs?: any, actions?: any, facts?: any, children?: any, bare?: boolean }} props `bare`: the content brings its own box */
export const Page = ({ title, crumbs, actions, facts, children, bare = false }) => html`<main id="main"><header class="top">${crumbs && html`<div class="crumbs">${crumbs}</div>`}
  <div class="title"><h1 class=${crumbs ? "goal" : ""}>${title}</h1>${actions && html`<div class="actions">${actions}</div>`}</div>${facts && html`<div class="facts">${facts}</div>`}</header>
  ${bare ? children : html`<div class="page">${children}</div>`}</main>`;
