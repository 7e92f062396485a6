"""A complete login at an MCP server: discovery, registration, the browser, and the stored tokens."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthFlowError

from goalwright_skills.mcp.authorisation.addresses import LoginAddresses
from goalwright_skills.mcp.authorisation.callback import Callback
from goalwright_skills.mcp.authorisation.provider import FreshLogin
from goalwright_skills.mcp.connections.answers import root_cause
from goalwright_skills.mcp.connections.http_transport import http
from goalwright_skills.mcp.connections.redaction import Redaction
from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.entry import ServerLaunch

    OpenPage = Callable[[str], Awaitable[None]]

TIMEOUT = 600.0


async def log_in(launch: ServerLaunch, file: TokenFile, open_page: OpenPage, seconds: float = TIMEOUT) -> bool:
    """Log in at a server and store the tokens; returns False if it needs no login, raises McpFault if that fails.

    `open_page` receives the URL that a person has to open.
    """
    async with Callback(launch.oauth.callback_port) as callback:
        provider = FreshLogin(launch, file, callback, _checked_open(launch, callback, open_page))
        try:
            async with asyncio.timeout(seconds), Client(http(launch, provider), cache=None) as client:
                await client.list_tools(cache_mode="bypass")
        except TimeoutError as error:
            message = f"the login at the MCP server {launch.name!r} was not finished within {seconds:g} s"
            raise McpFault(message, hint="try it again") from error
        except Exception as error:  # the package and its transports raise many kinds
            if provider.logged_in:
                return True  # later failures do not concern the login
            raise _fault(launch, provider.fault or error, Redaction(launch, file)) from error
        return provider.logged_in


def _checked_open(launch: ServerLaunch, callback: Callback, open_page: OpenPage) -> OpenPage:
    async def check_and_open(url: str) -> None:
        await asyncio.to_thread(LoginAddresses(launch.url).check, url)
        query = parse_qs(urlsplit(url).query)
        callback.state = (query.get("state") or [secrets.token_urlsafe()])[-1]
        await open_page(url)

    return check_and_open


def _fault(launch: ServerLaunch, error: BaseException, redaction: Redaction) -> McpFault:
    """Return why a login failed, without secrets."""
    cause = root_cause(error)
    if isinstance(cause, McpFault):
        reason, hint = cause.message, cause.hint or "try it again"
    elif isinstance(cause, OAuthFlowError | httpx2.HTTPError):
        reason, hint = redaction.error(cause), "report it to its author, or ask its operator for a client id"
    else:
        reason, hint = redaction.error(cause), "`goalwright mcp check` shows whether it can be reached"
    return McpFault(f"no login at the MCP server {launch.name!r}: {reason}", hint=hint)
