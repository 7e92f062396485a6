"""One MCP server of this process: started when first needed, listed, called, started again if it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from weft_skills.confinement import choose
from weft_skills.mcp.behind_walls import Started, confined
from weft_skills.mcp.callbacks import AskedTogether, ClientCallbacks
from weft_skills.mcp.entry import McpFault
from weft_skills.mcp.tool_list import MOST_TOOLS
from weft_skills.text.control import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping
    from contextlib import AbstractContextManager

    from weft_skills.confinement import Confinement
    from weft_skills.mcp.authorisation.tokens import LoginNeeded, TokenFile
    from weft_skills.mcp.callbacks import CallUnderWay
    from weft_skills.mcp.entry import ServerLaunch
    from weft_skills.mcp.transport import Noise


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
class ServerOffer:
    """What a server offers, as it says it: tools, prompts, and whether it has resources."""

    tools: list[dict[str, Any]]
    prompts: list[dict[str, Any]] = field(default_factory=list)
    resources: bool = False


CheckTools = Callable[[ServerOffer], None]


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
    login: TokenFile | None = None
    started: int = 0
    _client: Any = None
    _serving: asyncio.Task[None] | None = None
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_checked: bool = False
    _noise: Noise | None = None
    _auth: Any = None
    _callbacks: ClientCallbacks = field(init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        roots = (self.launch.folder.as_uri(),) if self.launch.folder.is_absolute() else ()
        self._callbacks = ClientCallbacks(self.launch.name, roots, self._hidden)

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

    async def offered(self) -> ServerOffer:
        """Everything that the server offers: tools, prompts, and whether it has resources."""
        rows = await self.tools()
        client = await self._connected()
        capabilities = client.server_capabilities
        prompts: list[dict[str, Any]] = []
        if getattr(capabilities, "prompts", None) is not None:
            page = await self._within(client.list_prompts(cache_mode="bypass"), START_TIMEOUT)
            prompts = [row.model_dump(mode="json", by_alias=True, exclude_none=True) for row in page.prompts]
        return ServerOffer(rows, prompts[:MOST_TOOLS], getattr(capabilities, "resources", None) is not None)

    async def call(self, tool: str, arguments: Mapping[str, Any], check: CheckTools, call: CallUnderWay) -> CallAnswer:
        """Call a tool; raises McpFault if the server does not answer it.

        A server that was started, or that says that its tools have changed, lists them first: `check` may refuse them.
        """
        client = await self._checked(check)

        async def called() -> CallAnswer:
            progress = self._callbacks.progress
            result = await client.call_tool(tool, dict(arguments), progress_callback=progress)
            content = tuple(block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content)
            return CallAnswer(self._clean_value(content), self._clean_value(result.structured_content), result.is_error)

        return await self._asking(called, call)

    async def resources(self, check: CheckTools, call: CallUnderWay) -> CallAnswer:
        """The resources that a server lists, and the templates of others."""
        client = await self._checked(check)

        async def listed() -> CallAnswer:
            rows = [row async for row in _all(client.list_resources, "resources")]
            rows += [row async for row in _all(client.list_resource_templates, "resource_templates")]
            return CallAnswer(structured=self._clean_value({"resources": rows}))

        return await self._asking(listed, call)

    async def read(self, uri: str, check: CheckTools, call: CallUnderWay) -> CallAnswer:
        """A resource, as the parts of an answer."""
        client = await self._checked(check)

        async def read() -> CallAnswer:
            result = await client.read_resource(uri, cache_mode="bypass")
            rows = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.contents]
            return CallAnswer(self._clean_value(tuple({"type": "resource", "resource": row} for row in rows)))

        return await self._asking(read, call)

    async def prompt(
        self, name: str, arguments: Mapping[str, str], check: CheckTools, call: CallUnderWay
    ) -> CallAnswer:
        """A prompt with its arguments filled in, as the parts of an answer."""
        client = await self._checked(check)

        async def got() -> CallAnswer:
            result = await client.get_prompt(name, dict(arguments))
            rows = [row.model_dump(mode="json", by_alias=True, exclude_none=True) for row in result.messages]
            return CallAnswer(self._clean_value(tuple(row["content"] for row in rows)))

        return await self._asking(got, call)

    async def _asking(self, work: Callable[[], Awaitable[CallAnswer]], call: CallUnderWay) -> CallAnswer:
        """An answer that may need a person first; time in which it waits for them does not count."""
        with suppress(AskedTogether):
            if not self._callbacks.has_asked:
                return cast("CallAnswer", await self._within(self._unless_stopped(work, call), None))
        async with self._turn:  # one at a time, so that it is certain who asks
            await self._callbacks.alone()
            call.begin_again()
            return cast("CallAnswer", await self._within(self._unless_stopped(work, call), None))

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
                    raise self._too_slow(self.launch.timeout)
                await asyncio.wait({answer, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if call.fault is not None:
                raise call.fault
            return await answer
        finally:
            for task in (answer, stopped):
                task.cancel()
            await asyncio.wait({answer, stopped}, timeout=5)

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
                check(await self.offered())
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
        await asyncio.to_thread(_load_package)  # which takes seconds, and not the server's
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
        login = self._login_fault()
        fault = self._fault(self._serving.exception()) if ended else f"did not answer within {START_TIMEOUT:g} s"
        self._serving.cancel()
        await self.close()
        if login is not None:
            self.started -= 1  # it was there
            raise login
        raise McpFault(f"the MCP server {self.launch.name!r} {fault}", hint="`weft mcp check` tries it again")

    async def _serve(self, ready: asyncio.Future[Any], closing: asyncio.Event) -> None:
        """Hold the connection open until it is closed; all of it in one task, as anyio wants."""
        try:
            from mcp import Client

            from weft_skills.mcp import http_transport, transport
        except ImportError as error:
            what = f"the MCP server {self.launch.name!r} needs the package mcp, which is not installed"
            raise McpFault(what, hint="pip install 'weft[mcp]'") from error
        logger = logging.getLogger("mcp")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # its messages are for its developers
        self._noise = noise = transport.Noise()
        with self._program(transport) as started:
            streams = (
                http_transport.http(self.launch, self._authorisation())
                if started is None
                else transport.stdio(self.launch, started, noise, closing.set)
            )
            said = self._callbacks
            async with Client(
                streams,
                cache=None,
                message_handler=self._on_message,
                elicitation_callback=said.elicit,
                list_roots_callback=said.list_roots,
                logging_callback=said.log,
                log_level="info",
            ) as client:
                ready.set_result(client)
                await closing.wait()

    def _authorisation(self) -> Any:
        """What adds the tokens of a login; an entry that has its own Authorization needs none."""
        if self.login is None or any(name.lower() == "authorization" for name in self.launch.headers):
            return None
        from weft_skills.mcp.authorisation.provider import StoredLogin

        self._auth = StoredLogin(self.launch, self.login)
        return self._auth

    def _program(self, transport: Any) -> AbstractContextManager[Started | None]:
        """What to start, behind walls if its entry says so; None if the server is at an address."""
        launch = self.launch
        if launch.url:
            return nullcontext()
        env = transport.environment(launch, self.environ)
        if launch.confined:
            return confined(launch, env, self.start.confinement())
        return nullcontext(Started((launch.command, *launch.args), env))

    async def _within(self, answer: Awaitable[Any], seconds: float | None) -> Any:
        """The answer of the server; every way in which it fails becomes a McpFault."""
        name = self.launch.name
        try:
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError as error:
            raise self._too_slow(seconds or 0) from error
        except McpFault:
            raise
        except Exception as error:  # the package and its transports raise many kinds
            if type(error).__module__.startswith("weft"):
                raise  # the run waits for a person
            if (login := self._login_fault()) is not None:
                raise login from error
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

    def _too_slow(self, seconds: float) -> NoAnswer:
        what = f"the MCP server {self.launch.name!r} did not answer within {seconds:g} s"
        return NoAnswer(what, hint="try a smaller request, or raise `timeout` (milliseconds) in its entry")

    def _login_fault(self) -> LoginNeeded | None:
        """That a login is needed, if that is why a request failed; asked once."""
        fault: LoginNeeded | None = getattr(self._auth, "fault", None)
        if fault is not None:
            self._auth.fault = None
        return fault

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
        for secret in (*self.launch.secrets, *(self.login.secrets if self.login is not None else ())):
            text = text.replace(secret, "***")
        return text

    def _clean_value(self, value: Any) -> Any:
        """A value without the tokens of the login: a server may repeat what it was sent."""
        secrets = self.login.secrets if self.login is not None else ()
        return _without(value, secrets) if secrets else value


def _load_package() -> None:
    with suppress(ImportError):  # said when it is used
        import mcp  # noqa: F401

        from weft_skills.mcp import http_transport, transport  # noqa: F401


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, "***")
            return value
        case dict():
            return {_without(key, secrets): _without(part, secrets) for key, part in value.items()}
        case list() | tuple():
            return type(value)(_without(part, secrets) for part in value)
    return value


async def _all(listing: Callable[..., Awaitable[Any]], name: str) -> AsyncIterator[dict[str, Any]]:
    """The rows of a list that comes in pages; bounded, as everything that a server says."""
    cursor, count = None, 0
    for _ in range(_PAGES):
        page = await listing(cursor=cursor, cache_mode="bypass")
        for row in getattr(page, name):
            yield row.model_dump(mode="json", by_alias=True, exclude_none=True)
            count += 1
        cursor = page.next_cursor
        if cursor is None or count > MOST_TOOLS:
            return


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
