"""One MCP server of this process: what it offers, and its calls."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from goalwright_skills.mcp.connections import session
from goalwright_skills.mcp.connections.answers import CallAnswer, ServerEnded, ServerOffer, timeout_error
from goalwright_skills.mcp.connections.callbacks import AskedTogether, ClientCallbacks
from goalwright_skills.mcp.connections.redaction import Redaction
from goalwright_skills.mcp.connections.session import ServerSession
from goalwright_skills.mcp.tool_list import MOST_TOOLS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.connections.answers import CheckTools
    from goalwright_skills.mcp.connections.callbacks import CallUnderWay
    from goalwright_skills.mcp.connections.session import ServerStart
    from goalwright_skills.mcp.entry import ServerLaunch

_PAGES = 100


@dataclass(slots=True)
class ServerConnection:
    """A server as it is asked; everything here runs in the pool's loop."""

    launch: ServerLaunch
    environ: Mapping[str, str]
    start: ServerStart
    login: TokenFile | None = None
    _session: ServerSession = field(init=False)
    _callbacks: ClientCallbacks = field(init=False)
    _redaction: Redaction = field(init=False)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _checked_at: int = 0  # the start, counted, after which its list was checked
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        roots = (self.launch.folder.as_uri(),) if self.launch.folder.is_absolute() else ()
        self._redaction = Redaction(self.launch, self.login)
        self._callbacks = ClientCallbacks(self.launch.name, roots, self._redaction)
        self._session = ServerSession(self.launch, self.environ, self.start, self._callbacks, self.login)

    @property
    def is_open(self) -> bool:
        """Whether the server is there."""
        return self._session.is_open

    async def close(self) -> None:
        """End the server."""
        await self._session.close()

    async def offered(self) -> ServerOffer:
        """Everything that the server offers: tools, prompts, and whether it has resources."""
        client = await self._session.client()
        tools = await self._listed(client.list_tools, "tools")
        capabilities = client.server_capabilities
        has_prompts = getattr(capabilities, "prompts", None) is not None
        prompts = await self._listed(client.list_prompts, "prompts") if has_prompts else []
        return ServerOffer(tools, prompts[:MOST_TOOLS], getattr(capabilities, "resources", None) is not None)

    async def _listed(self, listing: Callable[..., Awaitable[Any]], name: str) -> list[dict[str, Any]]:
        async def rows() -> list[dict[str, Any]]:
            return [row async for row in _all(listing, name)]

        found: list[dict[str, Any]] = await self._session.within(rows(), session.START_TIMEOUT)
        return cast("list[dict[str, Any]]", self._redaction.value(found))

    async def call(self, tool: str, arguments: Mapping[str, Any], check: CheckTools, call: CallUnderWay) -> CallAnswer:
        """Call a tool; raises McpFault if the server does not answer it.

        A server that was started, or that says that its tools have changed, lists them first: `check` may refuse them.
        """
        client = await self._checked(check)

        async def called() -> CallAnswer:
            progress = self._callbacks.progress
            result = await client.call_tool(tool, dict(arguments), progress_callback=progress)
            return self._answer(map(_row, result.content), result.structured_content, is_error=result.is_error)

        return await self._asking(called, call)

    async def resources(self, check: CheckTools, call: CallUnderWay) -> CallAnswer:
        """The resources that a server lists, and the templates of others."""
        client = await self._checked(check)

        async def listed() -> CallAnswer:
            rows = [row async for row in _all(client.list_resources, "resources")]
            rows += [row async for row in _all(client.list_resource_templates, "resource_templates")]
            return self._answer((), {"resources": rows})

        return await self._asking(listed, call)

    async def read(self, uri: str, check: CheckTools, call: CallUnderWay) -> CallAnswer:
        """A resource, as the parts of an answer."""
        client = await self._checked(check)

        async def read() -> CallAnswer:
            result = await client.read_resource(uri, cache_mode="bypass")
            return self._answer({"type": "resource", "resource": _row(part)} for part in result.contents)

        return await self._asking(read, call)

    async def prompt(
        self, name: str, arguments: Mapping[str, str], check: CheckTools, call: CallUnderWay
    ) -> CallAnswer:
        """A prompt with its arguments filled in, as the parts of an answer."""
        client = await self._checked(check)

        async def got() -> CallAnswer:
            result = await client.get_prompt(name, dict(arguments))
            return self._answer(_row(message)["content"] for message in result.messages)

        return await self._asking(got, call)

    def _answer(self, content: Any, structured: Any = None, *, is_error: bool = False) -> CallAnswer:
        clean = self._redaction.value
        return CallAnswer(clean(tuple(content)), clean(structured), is_error)

    async def _checked(self, check: CheckTools) -> Any:
        """The client of a server whose tools were checked; one call checks, and those beside it wait for that."""
        async with self._checking:
            if not self.is_open or self._checked_at != self._session.started or self._callbacks.tools_changed:
                self._callbacks.tools_changed, self._checked_at = False, 0
                check(await self.offered())
                self._checked_at = self._session.started
            if not self.is_open:
                raise ServerEnded(f"the MCP server {self.launch.name!r} ended", hint="the next call restarts it")
            return await self._session.client()

    async def _asking(self, work: Callable[[], Awaitable[CallAnswer]], call: CallUnderWay) -> CallAnswer:
        """An answer that may need a person first; time in which it waits for them does not count."""
        within = self._session.within
        with suppress(AskedTogether):
            if not self._callbacks.has_asked:
                return cast("CallAnswer", await within(self._unless_stopped(work, call), None))
        async with self._turn:  # one at a time, so that it is certain who asks
            await self._callbacks.alone()
            call.begin_again()
            return cast("CallAnswer", await within(self._unless_stopped(work, call), None))

    async def _unless_stopped(self, work: Callable[[], Awaitable[CallAnswer]], call: CallUnderWay) -> CallAnswer:
        async def in_call() -> CallAnswer:
            with self._callbacks.call(call):
                return await work()

        clock = asyncio.get_running_loop().time
        began = clock()
        answer = asyncio.ensure_future(in_call())
        stopped = asyncio.ensure_future(call.stopped.wait())
        try:
            while not answer.done() and not stopped.done():
                left = self.launch.timeout + call.waited - (clock() - began)
                if call.asking:
                    left = 1.0
                elif left <= 0:
                    raise timeout_error(self.launch.name, self.launch.timeout)
                await asyncio.wait({answer, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if call.fault is not None:
                raise call.fault
            return await answer
        finally:
            for task in (answer, stopped):
                task.cancel()
            await asyncio.wait({answer, stopped}, timeout=5)


def _row(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value.model_dump(mode="json", by_alias=True, exclude_none=True))


async def _all(listing: Callable[..., Awaitable[Any]], name: str) -> AsyncIterator[dict[str, Any]]:
    """The rows of a list that comes in pages; bounded, as everything that a server says."""
    cursor, count = None, 0
    for _ in range(_PAGES):
        page = await listing(cursor=cursor, cache_mode="bypass")
        for row in getattr(page, name):
            yield _row(row)
            count += 1
        cursor = page.next_cursor
        if cursor is None or count > MOST_TOOLS:
            return


async def close_all(connections: list[ServerConnection]) -> None:
    """End all servers at once."""
    with suppress(Exception):
        await asyncio.gather(*(connection.close() for connection in connections), return_exceptions=True)
