"""One MCP server of this process: its tools and the calls to it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from goalwright_skills.mcp.connections import session
from goalwright_skills.mcp.connections.answers import CallAnswer, ServerEnded, ServerOffer, timeout_error
from goalwright_skills.mcp.connections.callbacks import AmbiguousQuestion, ClientCallbacks
from goalwright_skills.mcp.connections.redaction import Redaction
from goalwright_skills.mcp.connections.session import ServerSession
from goalwright_skills.mcp.tool_list import MAX_TOOLS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.connections.answers import CheckTools
    from goalwright_skills.mcp.connections.callbacks import PendingCall
    from goalwright_skills.mcp.connections.session import ServerStart
    from goalwright_skills.mcp.entry import ServerLaunch

_MAX_PAGES = 100


@dataclass(slots=True)
class ServerConnection:
    """The connection to a server; everything here runs in the pool's loop."""

    launch: ServerLaunch
    environ: Mapping[str, str]
    start: ServerStart
    login: TokenFile | None = None
    _session: ServerSession = field(init=False)
    _callbacks: ClientCallbacks = field(init=False)
    _redaction: Redaction = field(init=False)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _checked_start: int = 0  # the number of the start after which the tool list was checked
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        roots = (self.launch.folder.as_uri(),) if self.launch.folder.is_absolute() else ()
        self._redaction = Redaction(self.launch, self.login)
        self._callbacks = ClientCallbacks(self.launch.name, roots, self._redaction)
        self._session = ServerSession(self.launch, self.environ, self.start, self._callbacks, self.login)

    @property
    def is_open(self) -> bool:
        """Whether the server is connected."""
        return self._session.is_open

    async def close(self) -> None:
        """End the server."""
        await self._session.close()

    async def offer(self) -> ServerOffer:
        """Return the tools and prompts of the server, and whether it has resources."""
        client = await self._session.client()
        tools = await self._list(client.list_tools, "tools")
        capabilities = client.server_capabilities
        has_prompts = getattr(capabilities, "prompts", None) is not None
        prompts = await self._list(client.list_prompts, "prompts") if has_prompts else []
        return ServerOffer(tools, prompts[:MAX_TOOLS], getattr(capabilities, "resources", None) is not None)

    async def _list(self, listing: Callable[..., Awaitable[Any]], name: str) -> list[dict[str, Any]]:
        async def rows() -> list[dict[str, Any]]:
            return [row async for row in _pages(listing, name)]

        answer: list[dict[str, Any]] = await self._session.within(rows(), session.START_TIMEOUT)
        return cast("list[dict[str, Any]]", self._redaction.value(answer))

    async def call(self, tool: str, arguments: Mapping[str, Any], check: CheckTools, call: PendingCall) -> CallAnswer:
        """Call a tool; raises McpFault if the server does not answer it.

        After a start or a notification of changed tools, the server lists them first, and `check` may refuse them.
        """
        client = await self._checked(check)

        async def request() -> CallAnswer:
            progress = self._callbacks.progress
            result = await client.call_tool(tool, dict(arguments), progress_callback=progress)
            return self._answer(map(_row, result.content), result.structured_content, is_error=result.is_error)

        return await self._ask(request, call)

    async def resources(self, check: CheckTools, call: PendingCall) -> CallAnswer:
        """List the resources of the server, and its resource templates."""
        client = await self._checked(check)

        async def request() -> CallAnswer:
            rows = [row async for row in _pages(client.list_resources, "resources")]
            rows += [row async for row in _pages(client.list_resource_templates, "resource_templates")]
            return self._answer((), {"resources": rows})

        return await self._ask(request, call)

    async def read(self, uri: str, check: CheckTools, call: PendingCall) -> CallAnswer:
        """Read a resource."""
        client = await self._checked(check)

        async def request() -> CallAnswer:
            result = await client.read_resource(uri, cache_mode="bypass")
            return self._answer({"type": "resource", "resource": _row(part)} for part in result.contents)

        return await self._ask(request, call)

    async def prompt(self, name: str, arguments: Mapping[str, str], check: CheckTools, call: PendingCall) -> CallAnswer:
        """Load a prompt with its arguments filled in."""
        client = await self._checked(check)

        async def request() -> CallAnswer:
            result = await client.get_prompt(name, dict(arguments))
            return self._answer(_row(message)["content"] for message in result.messages)

        return await self._ask(request, call)

    def _answer(self, content: Any, structured: Any = None, *, is_error: bool = False) -> CallAnswer:
        clean = self._redaction.value
        return CallAnswer(clean(tuple(content)), clean(structured), is_error)

    async def _checked(self, check: CheckTools) -> Any:
        """Return the client after its tools were checked; concurrent calls wait for one check."""
        async with self._checking:
            if not self.is_open or self._checked_start != self._session.started or self._callbacks.tools_changed:
                self._callbacks.tools_changed, self._checked_start = False, 0
                check(await self.offer())
                self._checked_start = self._session.started
            if not self.is_open:
                raise ServerEnded(f"the MCP server {self.launch.name!r} ended", hint="the next call restarts it")
            return await self._session.client()

    async def _ask(self, request: Callable[[], Awaitable[CallAnswer]], call: PendingCall) -> CallAnswer:
        """Send a request that may ask the person a question; the time until they answer does not count."""
        within = self._session.within
        with suppress(AmbiguousQuestion):
            if not self._callbacks.has_asked:
                return cast("CallAnswer", await within(self._unless_stopped(request, call), None))
        async with self._turn:  # one call at a time, so that its questions belong to it
            await self._callbacks.wait_until_idle()
            call.reset()
            return cast("CallAnswer", await within(self._unless_stopped(request, call), None))

    async def _unless_stopped(self, request: Callable[[], Awaitable[CallAnswer]], call: PendingCall) -> CallAnswer:
        async def in_call() -> CallAnswer:
            with self._callbacks.call(call):
                return await request()

        clock = asyncio.get_running_loop().time
        start = clock()
        answer = asyncio.ensure_future(in_call())
        stopped = asyncio.ensure_future(call.stopped.wait())
        try:
            while not answer.done() and not stopped.done():
                remaining = self.launch.timeout + call.waited - (clock() - start)
                if call.asking:
                    remaining = 1.0
                elif remaining <= 0:
                    raise timeout_error(self.launch.name, self.launch.timeout)
                await asyncio.wait({answer, stopped}, timeout=remaining, return_when=asyncio.FIRST_COMPLETED)
            if call.fault is not None:
                raise call.fault
            return await answer
        finally:
            for task in (answer, stopped):
                task.cancel()
            await asyncio.wait({answer, stopped}, timeout=5)


def _row(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value.model_dump(mode="json", by_alias=True, exclude_none=True))


async def _pages(listing: Callable[..., Awaitable[Any]], name: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the rows of a paged list, up to a limit."""
    cursor, count = None, 0
    for _ in range(_MAX_PAGES):
        page = await listing(cursor=cursor, cache_mode="bypass")
        for row in getattr(page, name):
            yield _row(row)
            count += 1
        cursor = page.next_cursor
        if cursor is None or count > MAX_TOOLS:
            return


async def close_all(connections: list[ServerConnection]) -> None:
    """End all servers at once."""
    with suppress(Exception):
        await asyncio.gather(*(connection.close() for connection in connections), return_exceptions=True)
