// The MCP servers with their states, and the command that trusts one: the page cannot trust servers.
import { about } from "../core/about.js";
import { attempt } from "../core/announce.js";
import { part, remove } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { counted } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "../core/icons.js";
import { McpLogin } from "../core/mcp_login.js";
import { useRead } from "../core/use_read.js";

/** @typedef {{ name: string, source: string, state: string, reason: string | null, file: string, starts: string, login: string, command: string | null, warnings: string[], variables: { name: string, goes_to: string }[], tools: { name: string, tool: string, description: string, read_only: boolean }[] }} Server */

const LOOKS = /** @type {Record<string, string>} */ ({ active: "good", untrusted: "ask", changed: "ask", login: "ask", broken: "bad" });

/** Empty if no server is configured. */
export function McpServers() {
  const { value, again } = useRead("/mcp");
  if (!value || (!value.servers.length && !value.warnings.length)) return null;
  const said = (/** @type {string} */ text) => value.servers.some((/** @type {Server} */ one) => one.reason && text.endsWith(one.reason));
  return html`<section aria-label="MCP servers" class="servers"><h2 class="sec">MCP servers</h2>
    ${value.warnings.filter((/** @type {string} */ one) => !said(one)).map((/** @type {string} */ one) => html`<div class="note st-partial">${one}</div>`)}
    <div class="panel">${value.servers.map((/** @type {Server} */ one) => html`<${ServerRow} key=${one.source + one.name} one=${one} again=${again} />`)}</div></section>`;
}

/** The login of a server, if it has or needs one. @param {{ one: Server, again: () => void }} props */
function LoginLine({ one, again }) {
  const leave = async () => (await attempt(() => remove(`/mcp/${part(one.name)}/login`))) && again();
  if (about.value?.read_only || (one.login === "none" && one.state !== "login")) return null;
  return html`<div class="bar">${one.login === "active" ? html`<span class="muted">You are logged in.</span><button type="button" class="btn small" onClick=${leave}>Log out</button>` : html`<span class="muted">${one.login === "expired" ? "The login has expired." : "It wants a login."}</span><${McpLogin} server=${one.name} onDone=${again} />`}</div>`;
}

/** @param {{ one: Server, again: () => void }} props */
const ServerRow = ({ one, again }) => html`<div class="server"><div class="bar"><b class="mono">${one.name}</b><span class="tag">${one.source === "user" ? "your own" : one.source}</span><span class="tag ${LOOKS[one.state] ?? ""}">${one.state}</span></div>
  <div class="mono muted starts">${one.starts}</div>
  ${one.reason && html`<div class="muted">${one.reason}</div>`}
  ${one.state === "untrusted" && html`<div class="muted">It is not confined: it can do whatever you can. Look at ${one.file}${one.variables.length ? html`; it takes ${one.variables.map((each, at) => html`${at ? ", " : ""}<code>${each.name}</code>`)} of your environment` : ""}.</div>`}
  <${LoginLine} one=${one} again=${again} />
  ${one.command && html`<div class="remedy"><code>${one.command}</code><button type="button" class="btn small" onClick=${() => copy(one.command ?? "")}><${Icon} name="copy" />Copy</button></div>`}
  ${one.warnings.map((text) => html`<div class="note st-partial">${text}</div>`)}
  ${one.tools.length > 0 && html`<details><summary>${counted(one.tools.length, "tool")}</summary><dl class="grid">${one.tools.map((tool) => html`<dt class="mono">${tool.tool}${tool.read_only ? "" : html` <span class="tag" title="It may change things: calls pass your approval policy">writes</span>`}</dt><dd>${tool.description}</dd>`)}</dl></details>`}</div>`;
