// A login at an MCP server: started here, completed on the server's page, and polled here.
import { useEffect, useState } from "../vendor/hooks.js";
import { attempt, note } from "./announce.js";
import { get, part, post } from "./api.js";
import { html } from "./html.js";

/** Milliseconds between two checks of a login in progress. */
const LOOK = 1000;

/** @param {{ server: string, onDone: () => void }} props */
export function McpLogin({ server, onDone }) {
  const [url, setUrl] = useState("");
  const path = `/mcp/${part(server)}/login`;
  const begin = async () => {
    const begun = await attempt(() => post(path, {}));
    if (begun && /^https?:\/\//.test(begun.url ?? "")) setUrl(begun.url);
    else if (begun) note(`${server} wants no login.`);
  };
  useEffect(() => {
    if (!url) return;
    const timer = setInterval(async () => {
      const now = await get(path).catch(() => null);
      if (!now || now.under_way) return;
      clearInterval(timer);
      setUrl("");
      if (now.error) return note(`No login at ${server}`, { hint: now.error, bad: true });
      note(`Logged in at ${server}`);
      onDone();
    }, LOOK);
    return () => clearInterval(timer);
  }, [url]);
  return url ? html`<a class="btn small primary" href=${url} target="_blank" rel="noopener noreferrer">Open the login page</a><small class="muted" role="status">Waiting for you to log in there…</small>`
    : html`<button type="button" class="btn small primary" onClick=${begin}>Log in…</button>`;
}
