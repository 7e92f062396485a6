"""The session with one server: started when first needed, held in a task of its own, restarted if it ends."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.confinement import Launch, choose
from goalwright_skills.mcp.connections.answers import ServerEnded, is_answer, is_disconnect, root_cause, timeout_error
from goalwright_skills.mcp.connections.behind_walls import Started, confined
from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.mcp.authorisation.tokens import LoginNeeded, TokenFile
    from goalwright_skills.mcp.connections.callbacks import ClientCallbacks
    from goalwright_skills.mcp.connections.transport import OtherOutput
    from goalwright_skills.mcp.entry import ServerLaunch

START_TIMEOUT = 30.0
MAX_RESTARTS = 3
_CLOSED = -32000


@dataclass(frozen=True, slots=True)
class ServerStart:
    """The conditions of a start: `allowed` is called each time, `confinement` only for confined servers."""

    allowed: Callable[[], bool] = lambda: True
    confinement: Callable[[], Confinement] = choose


@dataclass(slots=True)
class ServerSession:
    """The session with a server, in the pool's loop; `started` counts its starts."""

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
    _output: OtherOutput | None = None
    _auth: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the server is connected."""
        return self._client is not None and self._serving is not None and not self._serving.done()

    async def client(self) -> Any:
        """Return the client of the server, which is started if needed."""
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
        """Await an answer of the server; every failure becomes a McpFault."""
        try:
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError as error:
            raise timeout_error(self.launch.name, seconds or 0) from error
        except McpFault:
            raise
        except Exception as error:  # the package and its transports raise many kinds
            if type(error).__module__.startswith("goalwright"):
                raise  # the run must wait for a person
            raise await self._fault(error) from error

    async def _fault(self, error: Exception) -> McpFault:
        name = self.launch.name
        if (login := self._login_fault()) is not None:
            return login
        closed = getattr(error, "code", None) == _CLOSED and not is_answer(error)
        if closed or not self.is_open or is_disconnect(error):
            reason, was_cut_off = self._disconnect_reason(error), self._output is not None and self._output.fault
            await self.close()
            fault_type = McpFault if was_cut_off else ServerEnded  # a retry would be cut off again
            return fault_type(f"the MCP server {name!r} {reason}", hint="the next call restarts it")
        text = self.callbacks.redaction.error(error)
        if type(error).__name__ == "ValidationError":
            return McpFault(f"the MCP server {name!r} broke the protocol: {text}", hint="report it to its author")
        return McpFault(f"the MCP server {name!r} refused the request: {text}", hint="check the arguments")

    async def _start(self) -> None:
        if self.started > MAX_RESTARTS:
            message = f"the MCP server {self.launch.name!r} has ended {self.started} times and will not be restarted"
            raise ServerEnded(message, hint="`goalwright mcp check` shows the problem")
        await self.close()
        if not await asyncio.to_thread(self.start.allowed):
            message = f"the MCP server {self.launch.name!r} is not started: its files have changed since you trusted it"
            raise McpFault(message, hint="review them, then trust the server again with `goalwright mcp check`")
        await asyncio.to_thread(_load_package)  # the import takes seconds, which do not count for the server
        self.started += 1
        self._closing = asyncio.Event()
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._serving = asyncio.ensure_future(self._serve(ready, self._closing))
        await asyncio.wait({ready, self._serving}, timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            self._client = ready.result()
            return
        reason = f"did not answer within {START_TIMEOUT:g} s"
        if self._serving.done():
            reason = self._start_failure(self._serving.exception())
        login = self._login_fault()
        self._serving.cancel()
        await self.close()
        if login is not None:
            self.started -= 1  # it answered, so this was no failed start
            raise login
        raise McpFault(f"the MCP server {self.launch.name!r} {reason}", hint="`goalwright mcp check` tries again")

    async def _serve(self, ready: asyncio.Future[Any], closing: asyncio.Event) -> None:
        """Hold the connection open until it is closed, all in one task as anyio requires."""
        try:
            from mcp import Client

            from goalwright_skills.mcp.connections import http_transport, transport
        except ImportError as error:
            message = f"the MCP server {self.launch.name!r} needs the package mcp, which is not installed"
            raise McpFault(message, hint="pip install 'goalwright[mcp]'") from error
        logger = logging.getLogger("mcp")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # its messages are not for users
        self._output = output = transport.OtherOutput()
        with self._program(transport) as started:
            streams = (
                http_transport.http(self.launch, self._authorisation())
                if started is None
                else transport.stdio(self.launch, started, output, closing.set)
            )
            callbacks = self.callbacks
            async with Client(
                streams,
                cache=None,
                message_handler=callbacks.notice,
                elicitation_callback=callbacks.elicit,
                list_roots_callback=callbacks.list_roots,
                logging_callback=callbacks.log,
                log_level="info",
            ) as client:
                ready.set_result(client)
                await closing.wait()

    def _authorisation(self) -> Any:
        """Return the authorisation by a stored login; None if the entry has its own Authorization header."""
        if self.login is None or any(name.lower() == "authorization" for name in self.launch.headers):
            return None
        from goalwright_skills.mcp.authorisation.provider import StoredLogin

        self._auth = StoredLogin(self.launch, self.login)
        return self._auth

    def _program(self, transport: Any) -> AbstractContextManager[Started | None]:
        """Return the command to start, confined if the entry says so; None for a server at a URL."""
        launch = self.launch
        if launch.url:
            return nullcontext()
        env = transport.environment(launch, self.environ)
        if launch.confined:
            return confined(launch, env, self.start.confinement())
        return nullcontext(Started(Launch((launch.command, *launch.args)), env))

    def _login_fault(self) -> LoginNeeded | None:
        """Return, once, the fault that a request failed because a login is needed."""
        fault: LoginNeeded | None = getattr(self._auth, "fault", None)
        if fault is not None:
            self._auth.fault = None
        return fault

    def _start_failure(self, error: BaseException | None) -> str:
        """Return why the server could not be started, as a phrase that follows its name."""
        first = root_cause(error)
        if is_answer(first) and not self.launch.url:
            return f"refused to start: {self.callbacks.redaction.error(first)}"
        return self._disconnect_reason(error)

    def _disconnect_reason(self, error: BaseException | None) -> str:
        """Return why the server is not connected, as a phrase that follows its name."""
        first, output = root_cause(error), self._output
        if isinstance(first, McpFault):
            return first.message.removeprefix(f"the MCP server {self.launch.name!r} ")
        if output is not None and output.fault:
            return f"{output.fault}, and was ended"
        if isinstance(first, FileNotFoundError | PermissionError | NotADirectoryError):
            return f"cannot be started: {self.launch.command!r}: {first.strerror}"
        if self.launch.url:
            return f"cannot be reached: {self.callbacks.redaction.error(first)}"
        line = self.callbacks.redaction.text(output.last_line) if output is not None else ""
        return f"ended; its last output: {line}" if line else "ended without any output"


def _load_package() -> None:
    with suppress(ImportError):  # reported when it is used
        import mcp  # noqa: F401

        from goalwright_skills.mcp.connections import http_transport, transport  # noqa: F401
