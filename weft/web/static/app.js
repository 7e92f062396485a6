// The page: takes the token, follows the address, and shows the view that it names.
import { render } from "./vendor/preact.js";
import { signal } from "./vendor/signals.js";
import { useEffect, useState } from "./vendor/hooks.js";
import { about, readAbout } from "./core/about.js";
import { Notes } from "./core/announce.js";
import { followToken, trouble, useToken } from "./core/api.js";
import { asking, readAsking } from "./core/asking.js";
import { DialogPlace } from "./core/dialog.js";
import { Empty } from "./core/empty.js";
import { count } from "./core/format.js";
import { html } from "./core/html.js";
import { Icon, Sign, Weave } from "./core/icons.js";
import { listenKeys, showKeys, useKeys } from "./core/keys.js";
import { reopen } from "./core/live.js";
import { go, listen, parts, place } from "./core/router.js";
import { choice, followTheme, nextTheme } from "./core/theme.js";
import { takeToken } from "./core/token.js";
import { Runs } from "./pages/runs.js";
import { RunPage } from "./run/run_page.js";

const app = /** @type {HTMLElement} */ (document.getElementById("app"));
/** Where the rail leads: as the page has it before this script is there. */
const LINKS = [...app.querySelectorAll("nav [data-icon]")].map((link) => [link.getAttribute("href") ?? "", link.textContent ?? "", /** @type {HTMLElement} */ (link).dataset.icon ?? ""]);
/** How long the other views wait for what is shown first, in milliseconds. */
const LATER = 2000;
/** Pages that are reached from others belong to the link of those. */
const BELOW = /** @type {Record<string, string>} */ ({ "/plan": "/new", "/compare": "/runs", "/replay": "/runs", "/doctor": "/settings" });

/** The views that are no runs, once they are there. @type {{ value: ((path: string) => any) | null }} */
const others = signal(null);
const failed = signal(false);
/** @type {Promise<void> | null} */
let fetching = null;

/** Fetch the other views, once: on a slow line, a run is shown before they come. */
const fetchOthers = () => void (fetching ??= import("./other_views.js").then(
  (found) => void (others.value = found.otherView),
  () => void (failed.value = true),
));

function Loading() {
  useEffect(fetchOthers, []);
  return html`<main id="main">${failed.value ? html`<${Empty} title="This page did not come" text="Is the server still running?"><button type="button" class="btn" onClick=${() => location.reload()}>Try again</button></${Empty}>` : html`<p class="loading">Loading…</p>`}</main>`;
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

/** @param {{ href: string, name: string, icon: string, now: string, number?: number }} props */
const Link = ({ href, name, icon, now, number = 0 }) => html`<a class="link" href=${href} aria-current=${now === href ? "page" : undefined}><${Icon} name=${icon} />${name}${number > 0 && html`<span class="count st-waiting">${count(number)}<span class="sr"> wait for you</span></span>`}</a>`;

const Rail = () => {
  const first = `/${place.value.path.split("/")[1] || "runs"}`;
  const now = BELOW[first] ?? first;
  useEffect(readAsking, [first]);
  const waiting = asking.value?.length ?? 0;
  return html`<nav class="rail" aria-label="Main"><a class="brand" href="/runs"><${Sign} />weft</a><div class="where cut" title=${about.value?.workspace ?? ""}>${about.value?.name ?? "…"}${about.value?.read_only ? " · read-only" : ""}</div>
    ${LINKS.map(([href, name, icon]) => html`<${Link} key=${href} href=${href} name=${name} icon=${icon} now=${now} number=${href === "/approvals" ? waiting : 0} />`)}
    <div class="end"><${Link} href="/settings" name="Settings" icon="settings" now=${now} /><button type="button" class="link wide" onClick=${nextTheme}><${Icon} name=${{ light: "sun", dark: "moon" }[choice.value] ?? "auto"} />${{ light: "Light", dark: "Dark" }[choice.value] ?? "Automatic"}<kbd>t</kbd></button>
      <button type="button" class="link wide" onClick=${showKeys}><${Icon} name="menu" />Keys<kbd>?</kbd></button></div></nav>`;
};

function NoToken() {
  const [text, setText] = useState("");
  const use = (/** @type {Event} */ event) => {
    event.preventDefault();
    useToken(text.includes("token=") ? text.split("token=")[1] : text);
    location.reload();
  };
  return html`<main class="empty" id="main"><${Weave} /><h2>This page needs its token</h2><p>Open the address that <code>weft serve</code> printed: it contains the token, which is new after each start.</p>
    <form class="bar" onSubmit=${use}><input class="field" aria-label="Token or address" placeholder="Or paste the address here" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /><button class="btn primary" type="submit">Open</button></form></main>`;
}

function App() {
  useKeys({ n: () => go("/new"), t: () => void nextTheme(), "?": () => void showKeys() });
  if (trouble.value === "token") return html`<${NoToken} />`;
  return html`<a class="skip" href="#main">Skip to the page</a><div class="shell"><${Rail} />${view(place.value.path)}</div><${DialogPlace} /><${Notes} />
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
