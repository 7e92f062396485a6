// The page: takes the token, and shows the view of the address.
import { render } from "./vendor/preact.js";
import { signal } from "./vendor/signals.js";
import { useEffect, useState } from "./vendor/hooks.js";
import { readAbout } from "./core/about.js";
import { followToken, trouble, useToken } from "./core/api.js";
import { DialogPlace } from "./core/dialog.js";
import { Empty } from "./core/empty.js";
import { html } from "./core/html.js";
import { Weave } from "./core/icons.js";
import { listenKeys, showKeys, useKeys } from "./core/keys.js";
import { reopen } from "./core/live.js";
import { placesOf, Rail } from "./core/rail.js";
import { go, listen, parts, place } from "./core/router.js";
import { followTheme, nextTheme } from "./core/theme.js";
import { takeToken } from "./core/token.js";
import { Runs } from "./pages/runs.js";
import { RunPage } from "./run/run_page.js";

const app = /** @type {HTMLElement} */ (document.getElementById("app"));
/** The links of the rail, read from the HTML. */
const PLACES = placesOf(app);
/** Milliseconds after which the other views are loaded. */
const LATER = 2000;

/** The views other than runs, once loaded. @type {{ value: ((path: string) => any) | null }} */
const others = signal(null);
const failed = signal(false);
/** @type {Promise<void> | null} */
let fetching = null;

/** Load the other views once, so that a run is shown before them on a slow connection. */
const fetchOthers = () => void (fetching ??= import("./other_views.js").then(
  (found) => void (others.value = found.otherView),
  () => void (failed.value = true),
));

function Loading() {
  useEffect(fetchOthers, []);
  return html`<main id="main">${failed.value ? html`<${Empty} title="This page could not be loaded" text="Is the server still running?"><button type="button" class="btn" onClick=${() => location.reload()}>Try again</button></${Empty}>` : html`<p class="loading">Loading…</p>`}</main>`;
}

/** The view of an address. @param {string} path */
function view(path) {
  const [first = "", second = ""] = parts(path);
  switch (first) {
    case "": return html`<${Runs} />`;
    case "runs": return second ? html`<${RunPage} key=${second} id=${second} />` : html`<${Runs} />`;
    default: return others.value ? others.value(path) : html`<${Loading} />`;
  }
}

function NoToken() {
  const [text, setText] = useState("");
  const use = (/** @type {Event} */ event) => {
    event.preventDefault();
    useToken(text.includes("token=") ? text.split("token=")[1] : text);
    location.reload();
  };
  return html`<main class="empty" id="main"><${Weave} /><h2>This page needs its token</h2><p>Open the address that <code>goalwright serve</code> printed: it contains the token, which is new after each start.</p>
    <form class="bar" onSubmit=${use}><input class="field" aria-label="Token or address" placeholder="Or paste the address here" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /><button class="btn primary" type="submit">Open</button></form></main>`;
}

function App() {
  useKeys({ n: () => go("/new"), t: () => void nextTheme(), "?": () => void showKeys() });
  if (trouble.value === "token") return html`<${NoToken} />`;
  return html`<a class="skip" href="#main">Skip to the page</a><div class="shell"><${Rail} places=${PLACES} />${view(place.value.path)}</div><${DialogPlace} />
    ${trouble.value === "lost" && html`<div class="banner" role="alert">The server does not answer. Trying again…</div>`}`;
}

takeToken();
followToken(() => {
  reopen();
  readAbout().catch(() => {});
});
listen();
listenKeys();
followTheme();
readAbout().catch(() => {});
app.replaceChildren();
render(html`<${App} />`, app);
(globalThis.requestIdleCallback ?? setTimeout)(() => setTimeout(fetchOthers, LATER));
