// The navigation rail. On a phone its first links are at the bottom, and the others behind "More".
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { about } from "./about.js";
import { asking, readAsking } from "./asking.js";
import { count } from "./format.js";
import { classes, html } from "./html.js";
import { Icon, Sign } from "./icons.js";
import { showKeys } from "./keys.js";
import { place } from "./router.js";
import { choice, nextTheme } from "./theme.js";

/** Pages without a link of their own, with the link they belong to. */
const BELOW = /** @type {Record<string, string>} */ ({ "/plan": "/new", "/compare": "/runs", "/replay": "/runs", "/doctor": "/settings" });

/** @typedef {{ href: string, name: string, icon: string, later: boolean }} Place `later`: behind "More" on a phone */

/** The links in the HTML of the page. @param {ParentNode} page @returns {Place[]} */
export const placesOf = (page) => [...page.querySelectorAll("nav [data-icon]")].map((link) => ({ href: link.getAttribute("href") ?? "", name: link.textContent ?? "", icon: /** @type {HTMLElement} */ (link).dataset.icon ?? "", later: link.classList.contains("later") }));

/** @param {Place & { now: string, number?: number }} props */
const Link = ({ href, name, icon, later, now, number = 0 }) => html`<a class=${classes("link", later && "later")} href=${href} aria-current=${now === href ? "page" : undefined}><${Icon} name=${icon} />${name}${number > 0 && html`<span class="count st-waiting">${count(number)}<span class="sr"> wait for you</span></span>`}</a>`;

/** @param {{ places: Place[] }} props */
export function Rail({ places }) {
  const first = `/${place.value.path.split("/")[1] || "runs"}`;
  const now = BELOW[first] ?? first;
  const waiting = asking.value?.length ?? 0;
  const [open, setOpen] = useState(false);
  const more = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const hidden = places.some((one) => one.later && one.href === now) || now === "/settings";
  useEffect(() => {
    readAsking();
    setOpen(false);
  }, [first]);
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    setOpen(false);
    more.current?.focus();
  };
  return html`<nav class=${classes("rail", open && "open")} aria-label="Main" onKeyDown=${key}><a class="brand" href="/runs"><${Sign} />goalwright</a><div class="where cut" title=${about.value?.workspace ?? ""}>${about.value?.name ?? "…"}${about.value?.read_only ? " · read-only" : ""}</div>
    ${places.map((one) => html`<${Link} key=${one.href} ...${one} now=${now} number=${one.href === "/approvals" ? waiting : 0} />`)}
    <div class="end"><${Link} href="/settings" name="Settings" icon="settings" later=${true} now=${now} /><button type="button" class="link later" onClick=${nextTheme}><${Icon} name=${{ light: "sun", dark: "moon" }[choice.value] ?? "auto"} />${{ light: "Light", dark: "Dark" }[choice.value] ?? "Automatic"}<kbd>t</kbd></button>
      <button type="button" class="link wide" onClick=${showKeys}><${Icon} name="menu" />Keys<kbd>?</kbd></button></div>
    <button type="button" class="link more" ref=${more} aria-expanded=${open ? "true" : "false"} aria-current=${hidden && !open ? "true" : undefined} onClick=${() => setOpen(!open)}><${Icon} name=${open ? "close" : "menu"} />More</button></nav>`;
}
