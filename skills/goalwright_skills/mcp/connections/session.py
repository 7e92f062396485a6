"""The session with one server: opened when first needed, held in a task of its own, opened again if it ends."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.confinement import Launch, choose
from goalwright_skills.mcp.connections.answers import ServerEnded, is_answer, is_disconnect, root_cause, timeout_error
from goalwright_skills.mcp.connections.behind_walls import Started, confined
from goalwright_skills.mcp.connections.redaction import Redaction
from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.mcp.authorisation.tokens import LoginNeeded, TokenFile
    from goalwright_skills.mcp.connections.callbacks import ClientCallbacks
    from goalwright_skills.mcp.connections.transport import Noise
    from goalwright_skills.mcp.entry import ServerLaunch

START_TIMEOUT = 30.0
RESTARTS = 3
_CLOSED = -32000


@dataclass(frozen=True, slots=True)
class ServerStart:
    """What a start depends on: whether it is `allowed`, asked each time, and the walls of confined servers."""

    allowed: Callable[[], bool] = lambda: True
    confinement: Callable[[], Confinement] = choose


@dataclass(slots=True)
class ServerSession:
    """Everything here runs in the pool's loop; `started` counts how often the server was."""

    launch: ServerLaunch
    environ: Mapping[str, str]
    start: ServerStart
    callbacks: ClientCallbacks
    login: TokenFile | None = None
    started: int = 0
    _client: Any = None
    _serving: asyncio.Task[None] | None = None
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _noise: Noise | None = None
    _auth: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the server is there."""
        return self._client is not None and self._serving is not None and not self._serving.done()

    @property
    def redaction(self) -> Redaction:
        """What hides the server's secrets."""
        return Redaction(self.launch, self.login)

    async def client(self) -> Any:
        """The package's client of the server, which is started if need be."""
        async with self._starting:
            if not self.is_open:
                await self._start()
            return self._client

    async def close(self) -> None:
        """End the server."""
        serving, self._serving, self._client = self._serving, None, None
        self._closing.set()
        if serving is not None:
            await asyncio.wait({serving}, timeout=10)
            if not serving.done():
                serving.cancel()
                await asyncio.wait({serving}, timeout=5)

    async def within(self, answer: Awaitable[Any], seconds: float | None) -> Any:
        """The answer of the server; every way in which it fails becomes a McpFault."""
        try:
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError as error:
            raise timeout_error(self.launch.name, seconds or 0) from error
        except McpFault:
            raise
        except Exception as error:  # the package and its transports raise many kinds
            if type(error).__module__.startswith("goalwright"):
                raise  # the run waits for a person
            raise await self._as_fault(error) from error

    async def _as_fault(self, error: Exception) -> McpFault:
        name = self.launch.name
        if (login := self._login_fault()) is not None:
            return login
        closed = getattr(error, "code", None) == _CLOSED and not is_answer(error)
        if closed or not self.is_open or is_disconnect(error):
            why, cut_off = self._why_not_there(error), self._noise is not None and self._noise.fault
            await self.close()
            kind = McpFault if cut_off else ServerEnded  # what it did once, it would do again
            return kind(f"the MCP server {name!r} {why}", hint="the next call restarts it")
        said = self.redaction.error(error)
        if type(error).__name__ == "ValidationError":
            return McpFault(f"the MCP server {name!r} broke the protocol: {said}", hint="tell its author")
        return McpFault(f"the MCP server {name!r} refused it: {said}", hint="check the arguments")

    async def _start(self) -> None:
        if self.started > RESTARTS:
            what = f"the MCP server {self.launch.name!r} has ended {self.started} times and will not be restarted"
            raise ServerEnded(what, hint="`goalwright mcp check` shows what is wrong")
        await self.close()
        if not await asyncio.to_thread(self.start.allowed):
            what = f"the MCP server {self.launch.name!r} is not started: its files have changed since you trusted it"
            raise McpFault(what, hint="review them, then pass --trust")
        await asyncio.to_thread(_load_package)  # which takes seconds, and not the server's
        self.started += 1
        self._closing = asyncio.Event()
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._serving = asyncio.ensure_future(self._serve(ready, self._closing))
        await asyncio.wait({ready, self._serving}, timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            self._client = ready.result()
            return
        late = f"did not answer within {START_TIMEOUT:g} s"
        why = self._why_not_started(self._serving.exception()) if self._serving.done() else late
        login = self._login_fault()
        self._serving.cancel()
        await self.close()
        if login is not None:
            self.started -= 1  # it was there
            raise login
        raise McpFault(f"the MCP server {self.launch.name!r} {why}", hint="`goalwright mcp check` tries it again")

    async def _serve(self, ready: asyncio.Future[Any], closing: asyncio.Event) -> None:
        """Hold the connection open until it is closed; all of it in one task, as anyio wants."""
        try:
            from mcp import Client

            from goalwright_skills.mcp.connections import http_transport, transport
        except ImportError as error:
            what = f"the MCP server {self.launch.name!r} needs the package mcp, which is not installed"
            raise McpFault(what, hint="pip install 'goalwright[mcp]'") from error
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
            said = self.callbacks
            async with Client(
                streams,
                cache=None,
                message_handler=said.notice,
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
        from goalwright_skills.mcp.authorisation.provider import StoredLogin

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
        return nullcontext(Started(Launch((launch.command, *launch.args)), env))

    def _login_fault(self) -> LoginNeeded | None:
        """That a login is needed, if that is why a request failed; asked once."""
        fault: LoginNeeded | None = getattr(self._auth, "fault", None)
        if fault is not None:
            self._auth.fault = None
        return fault

    def _why_not_started(self, error: BaseException | None) -> str:
        """Why a server could not be started, in words that follow its name."""
        first = root_cause(error)
        if is_answer(first) and not self.launch.url:
            return f"refused to start: {self.redaction.error(first)}"
        return self._why_not_there(error)

    def _why_not_there(self, error: BaseException | None) -> str:
        """Why a server is not there, in words that follow its name."""
        first, noise = root_cause(error), self._noise
        if isinstance(first, McpFault):
            return first.message.removeprefix(f"the MCP server {self.launch.name!r} ")
        if noise is not None and noise.fault:
            return f"{noise.fault}, and was ended"
        if isinstance(first, FileNotFoundError | PermissionError | NotADirectoryError):
            return f"cannot be started: {self.launch.command!r}: {first.strerror}"
        if self.launch.url:
            return f"cannot be reached: {self.redaction.error(first)}"
        said = self.redaction.text(noise.last_line) if noise is not None else ""
        return f"ended{f'; it said: {said}' if said else ' without a word'}"


def _load_package() -> None:
    with suppress(ImportError):  # said when it is used
        import mcp  # noqa: F401

        from goalwright_skills.mcp.connections import http_transport, transport  # noqa: F401
