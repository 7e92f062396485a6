"""The methods that a client of the Agent Client Protocol calls; sessions are conversations in the journal."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import PROTOCOL_VERSION
from acp.exceptions import RequestError
from acp.helpers import update_available_commands
from acp.schema import (
    AgentCapabilities,
    AvailableCommand,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    SessionCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SetSessionModeResponse,
    SseMcpServer,
)

from goalwright.interfaces.acp import history, modes
from goalwright.interfaces.acp.modes import ModeStore
from goalwright.interfaces.acp.session import CONTINUE, Session
from goalwright.models.choice import ModelChoice
from goalwright.models.litellm.prices import unloaded_vision
from goalwright.runs.conversations.conversation import Conversation
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stored import records
from goalwright.version import __version__
from goalwright_executor.stores.errors import UnknownRun
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeVar

    from acp.interfaces import Client

    from goalwright.interfaces.acp.modes import ModeName
    from goalwright.models.open import OpenModel
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_executor.stores.row import ConversationSummary

    T = TypeVar("T")

_MAX_SESSIONS = 50


@dataclass(slots=True)
class _Workspace:
    """The workspace of sessions: its paths and settings, and a runtime for each mode, with a shared journal."""

    paths: Paths
    settings: Settings
    open_model: OpenModel | None
    goalwrights: dict[ModeName, Goalwright] = field(default_factory=dict)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def goalwright(self, mode: ModeName) -> Goalwright:
        with self._opening:
            if mode not in self.goalwrights:
                journal = next(iter(self.goalwrights.values())).journal if self.goalwrights else None
                settings = modes.settings_for(mode, self.settings)
                self.goalwrights[mode] = Goalwright(
                    self.paths.workspace, settings, open_model=self.open_model, paths=self.paths, journal=journal
                )
            return self.goalwrights[mode]

    def check(self, session: str) -> None:
        """Raise UnknownRun if the journal has no conversation with that id."""
        if all(row.conversation != session for row in _conversations(self.paths, self.settings)):
            message = f"there is no session {session!r:.100} of the folder {self.paths.workspace}"
            raise UnknownRun(message, hint="open the folder that the session belongs to")


class GoalwrightAgent:
    """The agent; `configure` returns the paths and settings of a folder, `open_model` replaces litellm's models."""

    def __init__(
        self, configure: Callable[[Path], tuple[Paths, Settings]], open_model: OpenModel | None = None
    ) -> None:
        self._configure = configure
        self._open_model = open_model
        self._client: Client | None = None
        self._sessions: dict[str, Session] = {}
        self._workspaces: list[_Workspace] = []
        self._loading = asyncio.Lock()
        self._continuing: set[asyncio.Task[Any]] = set()

    def on_connect(self, conn: Client) -> None:
        """Store the connection to the client."""
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Return the supported protocol version and the capabilities."""
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(
                    embedded_context=True, image=await asyncio.to_thread(self._sees_images), audio=False
                ),
                mcp_capabilities=McpCapabilities(http=True, sse=False),
                session_capabilities=SessionCapabilities(list=SessionListCapabilities()),
            ),
            agent_info=Implementation(name="goalwright", title="goalwright", version=__version__),
            auth_methods=[],
        )

    def _sees_images(self) -> bool:
        """Return whether a model of the current folder accepts images; no session exists yet."""
        try:
            _, settings = self._configure(Path.cwd())
            names = ModelChoice(settings).names
        except GoalwrightError:  # each session reports the error
            return False
        overrides = ((settings.sees(name), name) for name in names)
        return any(unloaded_vision(name) if override is None else override for override, name in overrides)

    async def authenticate(self, method_id: str, **_: Any) -> None:
        """Reject every login method: goalwright has none."""
        raise RequestError.invalid_params({"method": method_id})

    async def new_session(self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any) -> NewSessionResponse:
        """Create a conversation in a workspace."""
        workspace = await _as_protocol_errors(self._workspace(cwd, mcp_servers or []))
        conversation = Conversation.new(workspace.goalwright(modes.DEFAULT))
        session = self._open_session(conversation.id, workspace)
        return NewSessionResponse(session_id=session.id, modes=modes.state(session.mode))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Send the history of a conversation from the journal, and ask its open requests again."""
        workspace = await _as_protocol_errors(self._workspace(cwd, mcp_servers or []))
        await _as_protocol_errors(asyncio.to_thread(workspace.check, session_id))
        async with self._loading:
            if session_id in self._sessions:
                await self._sessions[session_id].close()
            session = self._open_session(session_id, workspace)
        for update in await asyncio.to_thread(lambda: list(history.updates_of(session.conversation))):
            await self._connected.session_update(session_id=session_id, update=update)
        await self._offer_to_continue(session)
        return LoadSessionResponse(modes=modes.state(session.mode))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> ListSessionsResponse:
        """Return the conversations of a workspace, newest first."""
        paths, settings = await _as_protocol_errors(asyncio.to_thread(self._configured, Path(cwd or ".")))
        rows = await _as_protocol_errors(asyncio.to_thread(_conversations, paths, settings, _MAX_SESSIONS))
        folder = str(paths.workspace)
        titles = (records.local_text(row.goal, row.first, paths)[:200] for row in rows)
        return ListSessionsResponse(
            sessions=[
                SessionInfo(session_id=row.conversation, cwd=folder, title=title)
                for row, title in zip(rows, titles, strict=True)
            ]
        )

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        """Change the mode of a session."""
        mode = modes.named(mode_id)
        if mode is None:
            raise RequestError.invalid_params({"mode": mode_id})
        self._session(session_id).set_mode(mode)
        return SetSessionModeResponse()

    async def prompt(self, prompt: Sequence[Any], session_id: str, **_: Any) -> PromptResponse:
        """Run a turn, and stream its answer as updates."""
        return PromptResponse(stop_reason=await _as_protocol_errors(self._session(session_id).prompt(prompt)))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the current turn of a session."""
        if session_id in self._sessions:
            self._sessions[session_id].cancel()

    async def close(self) -> list[str]:
        """Interrupt all turns, and return the ids of their sessions, which can be loaded again."""
        running = [session.id for session in self._sessions.values() if session.is_running]
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        for workspace in self._workspaces:
            for goalwright in workspace.goalwrights.values():
                await goalwright.close()
        return running

    @property
    def _connected(self) -> Client:
        assert self._client is not None  # noqa: S101 - the connection calls on_connect first
        return self._client

    async def _workspace(self, cwd: str, servers: Sequence[Any]) -> _Workspace:
        paths, settings = await asyncio.to_thread(self._configured, Path(cwd))
        paths = replace(paths, session_mcp=_mcp_document(servers))
        for workspace in self._workspaces:
            if (workspace.paths, workspace.settings) == (paths, settings):
                return workspace
        self._workspaces.append(_Workspace(paths, settings, self._open_model))
        return self._workspaces[-1]

    def _configured(self, folder: Path) -> tuple[Paths, Settings]:
        if not folder.is_dir():
            raise InputError(f"the folder {folder} does not exist", hint="open an existing folder")
        return self._configure(folder)

    def _open_session(self, session_id: str, workspace: _Workspace) -> Session:
        modes_store = ModeStore(workspace.paths.data / "acp")
        try:
            mode = modes_store.get(session_id)
        except ValueError:
            raise RequestError.resource_not_found(session_id[:100]) from None
        session = Session(session_id, self._connected, workspace.goalwright, modes_store, mode)
        self._sessions[session_id] = session
        return session

    def _session(self, session_id: str) -> Session:
        if session_id not in self._sessions:
            raise RequestError.resource_not_found(session_id)
        return self._sessions[session_id]

    async def _offer_to_continue(self, session: Session) -> None:
        """Ask the open requests of the last turn again; offer a command to continue an interrupted or failed turn."""
        if await asyncio.to_thread(session.waits):
            task = asyncio.ensure_future(session.resume())
            self._continuing.add(task)
            task.add_done_callback(partial(_discard, self._continuing))
            return
        last = await asyncio.to_thread(lambda: session.conversation.last)
        if last is not None and last.status not in ("done", "waiting"):
            command = AvailableCommand(
                name=CONTINUE.removeprefix("/"), description="Continue the interrupted or failed turn"
            )
            await self._connected.session_update(session_id=session.id, update=update_available_commands([command]))


def _conversations(paths: Paths, settings: Settings, limit: int | None = None) -> list[ConversationSummary]:
    """Return the conversations of a workspace, newest first, without creating a journal."""
    try:
        with closing(records.recorded_runs(paths, settings)) as store:
            return list(store.conversations(limit))
    except UnknownRun:
        return []


def _mcp_document(servers: Sequence[Any]) -> dict[str, Any] | None:
    """Return the MCP servers of a client in the form of `.mcp.json`; None if there are none."""
    rows = {server.name: row for server in servers if (row := _server_entry(server)) is not None}
    return {"mcpServers": rows} if rows else None


def _server_entry(server: Any) -> dict[str, Any] | None:
    if isinstance(server, McpServerStdio):
        env = {variable.name: variable.value for variable in server.env}
        return {"command": server.command, "args": list(server.args), "env": env}
    if isinstance(server, HttpMcpServer | SseMcpServer):
        headers = {header.name: header.value for header in server.headers}
        return {"type": server.type, "url": server.url, "headers": headers}
    return None


def _discard(running: set[asyncio.Task[Any]], task: asyncio.Task[Any]) -> None:
    running.discard(task)
    if not task.cancelled():
        task.exception()  # the failure is recorded in the journal


async def _as_protocol_errors(work: Awaitable[T]) -> T:
    """Await the result of a request; GoalwrightError becomes a protocol error with its message and hint."""
    try:
        return await work
    except GoalwrightError as error:
        code = -32602 if isinstance(error, InputError) else -32603
        raise RequestError(code, f"{error.message}; {error.hint}" if error.hint else error.message) from error
