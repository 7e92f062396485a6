// The page: takes the token, follows the address, and shows the view that it names.
import { render } from "./vendor/preact.js";
import { useState } from "./vendor/hooks.js";
import { about, readAbout } from "./core/about.js";
import { Notes } from "./core/announce.js";
import { takeToken, trouble, useToken } from "./core/api.js";
import { DialogPlace } from "./core/dialog.js";
import { html } from "./core/html.js";
import { Icon, Sign, Weave } from "./core/icons.js";
import { listenKeys, showKeys, useKeys } from "./core/keys.js";
import { go, listen, place } from "./core/router.js";
import { choice, followTheme, nextTheme } from "./core/theme.js";
import { NewGoal } from "./goal/new_goal.js";
import { PlanEditor } from "./goal/plan_editor.js";
import { Runs } from "./pages/runs.js";
import { RunPage } from "./run/run_page.js";

const LINKS = [["/runs", "Runs", "runs", ""], ["/new", "New goal", "plus", ""]];

/** The view of an address. @param {string} path */
function view(path) {
  const [, first = "", second = ""] = path.split("/");
  if (first === "runs" && second) return html`<${RunPage} key=${second} id=${second} />`;
  switch (first) {
    case "": case "runs": return html`<${Runs} />`;
    case "new": return html`<${NewGoal} />`;
    case "plan": return html`<${PlanEditor} />`;
    default: return html`<main id="main"><header class="top"><div class="title"><h1>Not here</h1></div></header><div class="empty"><${Weave} /><h2>There is no page ${path}</h2><a class="btn" href="/runs">All runs</a></div></main>`;
  }
}

const Rail = () => {
  const now = `/${place.value.path.split("/")[1] || "runs"}`;
  return html`<nav class="rail" aria-label="Main"><a class="brand" href="/runs"><${Sign} />weft</a><div class="where cut" title=${about.value?.workspace ?? ""}>${about.value?.name ?? "…"}${about.value?.read_only ? " · read-only" : ""}</div>
    ${LINKS.map(([href, name, icon, extra]) => html`<a class="link ${extra}" key=${href} href=${href} aria-current=${now === href || (href === "/new" && now === "/plan") ? "page" : undefined}><${Icon} name=${icon} />${name}</a>`)}
    <div class="end"><button type="button" class="link wide" onClick=${nextTheme}><${Icon} name=${{ light: "sun", dark: "moon" }[choice.value] ?? "auto"} />${{ light: "Light", dark: "Dark" }[choice.value] ?? "Automatic"}<kbd>t</kbd></button>
      <button type="button" class="link wide" onClick=${showKeys}><${Icon} name="menu" />Keys<kbd>?</kbd></button></div></nav>`;
};

function NoToken() {
  const [text, setText] = useState("");
  const use = (/** @type {Event} */ event) => {
    event.preventDefault();
    useToken(text.includes("token=") ? text.split("token=")[1] : text);
    location.reload();
  };
  return html`<main class="empty" id="main"><${Weave} /><h2>This page needs its token</h2><p>Open the address that <code>weft serve</code> printed: the token is in it, and is another one after each start.</p>
    <form class="bar" onSubmit=${use}><input class="field" aria-label="Token or address" placeholder="Or paste the address here" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /><button class="btn primary" type="submit">Open</button></form></main>`;
}

function App() {
  useKeys({ n: () => go("/new"), t: () => void nextTheme(), "?": () => void showKeys() });
  if (trouble.value === "token") return html`<${NoToken} />`;
  return html`<a class="skip" href="#main">Skip to the page</a><div class="shell"><${Rail} />${view(place.value.path)}</div><${DialogPlace} /><${Notes} />
    ${trouble.value === "lost" && html`<div class="banner" role="alert">The server does not answer. Trying again…</div>`}`;
}

takeToken();
listen();
listenKeys();
followTheme();
readAbout().catch(() => {});
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
