"""`goalwright mcp login` and `goalwright mcp logout`."""

from __future__ import annotations

import asyncio
import webbrowser
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.mcp.servers import open_tools
from goalwright.interfaces.cli.hints import hint_for
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_skills.mcp.servers import McpServers

PATIENCE = 600.0


@click.command()
@click.argument("name")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=PATIENCE,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait.",
)
@options.common
def login(name: str, workspace: Path, mode: OutputMode, *, no_browser: bool, timeout: float) -> int:
    """Log in to a server in your browser.

    The tokens are stored in your data folder, in a file that only you can read, and sent to that server only.

    \b
    Examples:
      goalwright mcp login github
      goalwright mcp login github --no-browser

    Exit status: 0 logged in, 1 the login failed, 2 there is no server of that name.
    """
    from goalwright_skills.mcp.entry import McpFault
    from goalwright_skills.mcp.server_state import select

    tools = open_tools(workspace)
    try:
        state = select(tools.mcp.states()[0], [name])[0]
        log_in(tools.mcp, name, browser=not no_browser, seconds=timeout)
    except McpFault as fault:
        return output.say_error(fault.message, hint_for(fault), code=fault.code, status=1, as_json=mode.as_json)
    finally:
        tools.close()
    if mode.as_json:
        output.print_json({"name": state.entry.name, "login": tools.mcp.login_state(state.entry)})
    return 0


@click.command()
@click.argument("name")
@options.common
def logout(name: str, workspace: Path, mode: OutputMode) -> int:
    """Forget the login to a server.

    \b
    Examples:
      goalwright mcp logout github

    Exit status: 0 forgotten, 2 there is no server of that name.
    """
    from goalwright_skills.mcp.server_state import select

    servers = open_tools(workspace).mcp
    state = select(servers.states()[0], [name])[0]
    file = servers.login_file(state.entry)
    had = file is not None and file.remove()
    if mode.as_json:
        output.print_json({"name": state.entry.name, "login": "none"})
    elif not mode.quiet:
        message = "Forgot the login to" if had else "There was no login to"
        output.say(f"{message} the MCP server {state.entry.name!r}.")
    return 0


def log_in(servers: McpServers, name: str, *, browser: bool = True, seconds: float = PATIENCE) -> None:
    """Log in to a server, printing the address to open; raises McpFault if it fails."""
    from goalwright_skills.mcp.server_state import select

    async def opened(url: str) -> None:
        is_open = browser and await asyncio.to_thread(webbrowser.open, url)
        output.say(f"{'Your browser opens' if is_open else 'Open'} this address to log in:\n  {url}")

    entry = select(servers.states()[0], [name])[0].entry
    done = servers.log_in(entry, opened, seconds)
    output.say(f"Logged in to the MCP server {name!r}." if done else f"The MCP server {name!r} needs no login.")
