"""A whole login at an MCP server: found, registered, opened in a browser, and kept."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthFlowError

from goalwright_skills.mcp.authorisation.addresses import LoginAddresses
from goalwright_skills.mcp.authorisation.callback import Callback
from goalwright_skills.mcp.authorisation.provider import FreshLogin
from goalwright_skills.mcp.authorisation.tokens import LoginNeeded
from goalwright_skills.mcp.connections.http_transport import http
from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.entry import ServerLaunch

    OpenPage = Callable[[str], Awaitable[None]]

PATIENCE = 600.0
_SAID_LIMIT = 200


async def log_in(launch: ServerLaunch, file: TokenFile, open_page: OpenPage, seconds: float = PATIENCE) -> bool:
    """Log in at a server, and keep the tokens; False if it wants no login. Raises McpFault if it fails.

    `open_page` gets the address that a person has to open.
    """
    if not launch.url:
        raise McpFault(f"the MCP server {launch.name!r} is a program, which has no login", hint="set its variables")
    async with Callback(launch.oauth.callback_port) as callback:
        provider = FreshLogin(launch, file, callback, _opening(launch, callback, open_page))
        try:
            async with asyncio.timeout(seconds), Client(http(launch, provider), cache=None) as client:
                await client.list_tools(cache_mode="bypass")
        except TimeoutError as error:
            what = f"the login at the MCP server {launch.name!r} was not finished within {seconds:g} s"
            raise McpFault(what, hint="try it again") from error
        except Exception as error:  # the package and its transports raise many kinds
            if provider.logged_in:
                return True  # what it answers after that does not concern the login
            raise _fault(launch, provider.fault or error, provider) from error
        return provider.logged_in


def _opening(launch: ServerLaunch, callback: Callback, open_page: OpenPage) -> OpenPage:
    async def opening(url: str) -> None:
        await asyncio.to_thread(LoginAddresses(launch.url).check, url)
        given = parse_qs(urlsplit(url).query)
        callback.state = (given.get("state") or [secrets.token_urlsafe()])[-1]
        await open_page(url)

    return opening


def _fault(launch: ServerLaunch, error: BaseException, provider: FreshLogin) -> McpFault:
    """Why a login failed, in words without anything secret."""
    root = _root(error)
    if isinstance(root, LoginNeeded | McpFault):
        what, hint = root.message, root.hint or "try it again"
    elif isinstance(root, OAuthFlowError | httpx2.HTTPError):
        what, hint = _said(root, provider), "tell its author, or ask who runs it for a client id"
    else:
        what, hint = _said(root, provider), "`goalwright mcp check` shows whether it can be reached"
    return McpFault(f"no login at the MCP server {launch.name!r}: {what}", hint=hint)


def _said(error: BaseException, provider: FreshLogin) -> str:
    text = printable(str(error) or type(error).__name__)
    for secret in _secrets(provider):
        text = text.replace(secret, "***")
    return text[:_SAID_LIMIT]


def _secrets(provider: FreshLogin) -> list[str]:
    context: Any = provider.context
    tokens, client = context.current_tokens, context.client_info
    found = [tokens.access_token, tokens.refresh_token] if tokens else []
    return [secret for secret in (*found, client.client_secret if client else None) if secret]


def _root(error: BaseException) -> BaseException:
    """The first error in groups of errors, which anyio raises, or what made it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
