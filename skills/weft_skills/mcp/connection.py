"""One MCP server of this process: started when first needed, listed, called, started again if it ends."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft_skills.confinement import choose
from weft_skills.mcp.behind_walls import Started, confined
from weft_skills.mcp.entry import McpFault
from weft_skills.mcp.tool_list import MOST_TOOLS
from weft_skills.text.control import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager

    from weft_skills.confinement import Confinement
    from weft_skills.mcp.entry import ServerLaunch
    from weft_skills.mcp.transport import Noise

    CheckTools = Callable[[list[dict[str, Any]]], None]

START_TIMEOUT = 30.0
RESTARTS = 3
_PAGES = 100
_CLOSED = -32000


class ServerEnded(McpFault):
    """The server ended, or its connection broke, while a call was under way."""

    code = "MCP_ENDED"


class NoAnswer(McpFault):
    """The server did not answer in time."""

    code = "TIMEOUT"


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a server answered to a call, as plain JSON values."""

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ServerStart:
    """What a start depends on: whether it is `allowed`, asked each time, and the walls of confined servers."""

    allowed: Callable[[], bool] = lambda: True
    confinement: Callable[[], Confinement] = choose


@dataclass(slots=True)
class ServerConnection:
    """A server and its session; everything here runs in the pool's loop. `started` counts how often it was."""

    launch: ServerLaunch
    environ: Mapping[str, str]
    start: ServerStart
    started: int = 0
    _client: Any = None
    _serving: asyncio.Task[None] | None = None
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_checked: bool = False
    _noise: Noise | None = None

    async def tools(self) -> list[dict[str, Any]]:
        """The server's tools as it lists them."""
        client, rows, cursor = await self._connected(), [], None
        for _ in range(_PAGES):
            page = await self._within(client.list_tools(cursor=cursor, cache_mode="bypass"), START_TIMEOUT)
            rows += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(rows) > MOST_TOOLS:
                break
        return rows

    async def call(self, tool: str, arguments: Mapping[str, Any], check: CheckTools) -> CallAnswer:
        """Call a tool; raises McpFault if the server does not answer it.

        A server that was started, or that says that its tools have changed, lists them first: `check` may refuse them.
        """
        client = await self._checked(check)
        result = await self._within(client.call_tool(tool, dict(arguments)), self.launch.timeout)
        content = tuple(block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content)
        return CallAnswer(content, result.structured_content, result.is_error)

    async def close(self) -> None:
        """End the server."""
        serving, self._serving, self._client = self._serving, None, None
        self._closing.set()
        if serving is not None:
            await asyncio.wait({serving}, timeout=10)
            if not serving.done():
                serving.cancel()
                await asyncio.wait({serving}, timeout=5)

    @property
    def is_open(self) -> bool:
        """Whether the server is there."""
        return self._client is not None and self._serving is not None and not self._serving.done()

    async def _checked(self, check: CheckTools) -> Any:
        """The session of a server whose tools were checked; one call checks, and those beside it wait for that."""
        async with self._checking:
            if not self.is_open or not self._is_checked:
                check(await self.tools())
                self._is_checked = True
            if self._client is None:
                raise ServerEnded(f"the MCP server {self.launch.name!r} ended", hint="the next call restarts it")
            return self._client

    async def _on_message(self, message: object) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            self._is_checked = False

    async def _connected(self) -> Any:
        async with self._starting:
            if not self.is_open:
                await self._start()
            return self._client

    async def _start(self) -> None:
        if self.started > RESTARTS:
            what = f"the MCP server {self.launch.name!r} has ended {self.started} times and will not be restarted"
            raise ServerEnded(what, hint="`weft mcp check` shows what is wrong")
        await self.close()
        if not await asyncio.to_thread(self.start.allowed):
            what = f"the MCP server {self.launch.name!r} is not started: its files have changed since you trusted it"
            raise McpFault(what, hint="review them, then pass --trust")
        self.started += 1
        self._is_checked = False
        self._closing = asyncio.Event()
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._serving = asyncio.ensure_future(self._serve(ready, self._closing))
        await asyncio.wait({ready, self._serving}, timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            self._client = ready.result()
            return
        ended = self._serving.done()
        fault = self._fault(self._serving.exception()) if ended else f"did not answer within {START_TIMEOUT:g} s"
        self._serving.cancel()
        await self.close()
        raise McpFault(f"the MCP server {self.launch.name!r} {fault}", hint="`weft mcp check` tries it again")

    async def _serve(self, ready: asyncio.Future[Any], closing: asyncio.Event) -> None:
        """Hold the connection open until it is closed; all of it in one task, as anyio wants."""
        try:
            from mcp import Client

            from weft_skills.mcp import transport
        except ImportError as error:
            what = f"the MCP server {self.launch.name!r} needs the package mcp, which is not installed"
            raise McpFault(what, hint="pip install 'weft[mcp]'") from error
        logger = logging.getLogger("mcp")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # its messages are for its developers
        self._noise = noise = transport.Noise()
        with self._program(transport) as started:
            streams = (
                transport.http(self.launch)
                if started is None
                else transport.stdio(self.launch, started, noise, closing.set)
            )
            async with Client(streams, cache=None, message_handler=self._on_message) as client:
                ready.set_result(client)
                await closing.wait()

    def _program(self, transport: Any) -> AbstractContextManager[Started | None]:
        """What to start, behind walls if its entry says so; None if the server is at an address."""
        launch = self.launch
        if launch.url:
            return nullcontext()
        env = transport.environment(launch, self.environ)
        if launch.confined:
            return confined(launch, env, self.start.confinement())
        return nullcontext(Started((launch.command, *launch.args), env))

    async def _within(self, answer: Awaitable[Any], seconds: float) -> Any:
        """The answer of the server; every way in which it fails becomes a McpFault."""
        name = self.launch.name
        try:
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError as error:
            what = f"the MCP server {name!r} did not answer within {seconds:g} s"
            hint = "try a smaller request, or raise `timeout` (milliseconds) in its entry"
            raise NoAnswer(what, hint=hint) from error
        except McpFault:
            raise
        except Exception as error:  # the package and its transports raise many kinds
            if getattr(error, "code", None) == _CLOSED or not self.is_open or _is_broken(error):
                fault, cut_off = self._fault(error), self._noise is not None and self._noise.fault
                await self.close()
                kind = McpFault if cut_off else ServerEnded  # what it did once, it would do again
                raise kind(f"the MCP server {name!r} {fault}", hint="the next call restarts it") from error
            if type(error).__name__ == "ValidationError":
                what = f"the MCP server {name!r} broke the protocol: {self._clean(error)}"
                raise McpFault(what, hint="tell its author") from error
            what = f"the MCP server {name!r} refused it: {self._clean(error)}"
            raise McpFault(what, hint="check the arguments") from error

    def _fault(self, error: BaseException | None) -> str:
        """Why a server is not there, in words that follow its name."""
        root = _root(error)
        if isinstance(root, McpFault):
            return root.message.removeprefix(f"the MCP server {self.launch.name!r} ")
        noise = self._noise
        if noise is not None and noise.fault:
            return f"{noise.fault}, and was ended"
        if isinstance(root, FileNotFoundError | PermissionError | NotADirectoryError):
            return f"cannot be started: {self.launch.command!r}: {root.strerror}"
        said = self._hidden(noise.last_line) if noise is not None else ""
        if self.launch.url:
            return f"cannot be reached: {self._clean(root)}"
        return f"ended{f'; it said: {said}' if said else ' without a word'}"

    def _clean(self, error: BaseException | None) -> str:
        return self._hidden(printable(str(error or "") or type(error).__name__))[:300]

    def _hidden(self, text: str) -> str:
        for secret in self.launch.secrets:
            text = text.replace(secret, "***")
        return text


def _root(error: BaseException | None) -> BaseException | None:
    """The first error in groups of errors, which anyio raises."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_broken(error: Exception) -> bool:
    return type(_root(error)).__name__ in ("ClosedResourceError", "BrokenResourceError", "EndOfStream")


async def close_all(connections: list[ServerConnection]) -> None:
    """End all servers at once."""
    with suppress(Exception):
        await asyncio.gather(*(connection.close() for connection in connections), return_exceptions=True)
