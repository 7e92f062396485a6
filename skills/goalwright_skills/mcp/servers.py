"""The MCP servers of a workspace: their states, their tools, and whether they are trusted."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright_skills.confinement import choose
from goalwright_skills.mcp import config, tool_list
from goalwright_skills.mcp.authorisation.tokens import LoginNeeded, TokenFile, login_key
from goalwright_skills.mcp.connections.pool import ServerAccess, ServerPool
from goalwright_skills.mcp.connections.session import ServerStart
from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.mcp.server_state import ServerState, ToolOffer, merge_offers
from goalwright_skills.mcp.trust import McpTrust, safe_key

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.mcp.authorisation.tokens import LoginState
    from goalwright_skills.mcp.connections.answers import CheckTools, ServerOffer
    from goalwright_skills.mcp.entry import ServerEntry, ServerLaunch
    from goalwright_skills.mcp.server_state import Status
    from goalwright_skills.mcp.tool_list import ListedTool, ToolList
    from goalwright_skills.programs.trust import Trust

_UNLISTED = "its tools are not listed yet: a run or `goalwright mcp refresh` lists them"
_UNTRUSTED = "you have not trusted it yet: review its entry, then trust it with `goalwright mcp check`"
_NEW_TOOLS = "you have not trusted its tools yet: review them, then trust them with `goalwright mcp check`"
_CHANGED = "its tools have changed since you trusted them: review them, then trust them with `goalwright mcp check`"


class McpServers:
    """The servers configured for a workspace and by its user; none starts before its entry is trusted."""

    def __init__(
        self,
        workspace: Path,
        user_file: Path,
        cache: Path,
        trust: Trust,
        environ: Mapping[str, str],
        confinement: Callable[[], Confinement] = choose,
        logins: Path | None = None,
        session: Mapping[str, Any] | None = None,
    ) -> None:
        self.workspace = workspace
        self._session = session
        self.pool = ServerPool(environ)
        self._user_file = user_file
        self._cache = cache
        self._trust = McpTrust(trust)
        self._environ = environ
        self._confinement = confinement
        self._logins = logins
        self._failed: dict[str, McpFault] = {}
        self._keys: dict[str, str] = {}
        self._listing = threading.Lock()

    @property
    def configured(self) -> bool:
        """Whether any servers are configured."""
        return bool(self._session) or (self.workspace / config.FILE).is_file() or self._user_file.is_file()

    def states(self, *, start: bool = False) -> tuple[list[ServerState], list[str]]:
        """Return the state of every server and warnings; `start` starts trusted servers with no recent tool list."""
        entries, warnings = config.read(self.workspace, self._user_file, self._session)
        with self._listing:
            return [self._state(entry, start=start) for entry in entries], warnings

    def checked(self) -> tuple[list[ServerState], list[str]]:
        """Return the state of every server and warnings; a server that failed in this process counts as broken."""
        states, warnings = self.states()
        faults = self._failed
        return [_failed_state(state, faults[state.key]) if state.key in faults else state for state in states], warnings

    def offer(self, *, start: bool = True) -> ToolOffer:
        """Return the tools and prompts that may be offered; `start` starts trusted servers with no recent tool list."""
        return merge_offers(*self.states(start=start)) if self.configured else ToolOffer()

    def find(self, name: str) -> ListedTool | None:
        """Return the tool of this name; None if it may not be called now."""
        return next((tool for tool in self.offer(start=False).tools if tool.name == name), None)

    def access(self, server: str) -> tuple[ServerAccess, CheckTools]:
        """Return the access to a trusted server, and a check that refuses it if its tools have changed."""
        state = next((state for state in self.states()[0] if state.entry.name == server), None)
        if state is None or state.state not in ("active", "login"):
            message = f"no MCP server {server!r} is configured and trusted here"
            raise McpFault(message, hint="go on without it; `goalwright mcp list` shows the servers")
        entry, key = state.entry, state.key

        def check(offered: ServerOffer) -> None:
            listed = self._keep(entry, key, offered)
            if not self._trust.trusts_list(entry, key, listed.digest):
                raise McpFault(f"the MCP server {entry.name!r} is not called: {_CHANGED}", hint="go on without it")

        launch = entry.launch(self.workspace, self._environ)
        return ServerAccess(key, launch, self._start(entry, key), self.login_file(entry)), check

    def login_file(self, entry: ServerEntry) -> TokenFile | None:
        """Return the file with the login of a server; None for a program, or without a folder for logins."""
        if self._logins is None or not entry.raw.get("url") or entry.fault:
            return None
        try:
            launch = entry.launch(self.workspace, self._environ)
        except McpFault:
            return None
        return TokenFile(self._logins / f"{login_key(launch, entry.source)}.json", entry.name)

    def login_state(self, entry: ServerEntry) -> LoginState:
        """Return the state of the stored login at a server."""
        file = self.login_file(entry)
        return file.state if file is not None else "none"

    def log_in(self, entry: ServerEntry, open_page: Callable[[str], Awaitable[None]], seconds: float) -> bool:
        """Log in at a trusted server; returns False if it needs no login, raises McpFault if the login fails."""
        with self._listing:
            state = self._state(entry, start=False)
        file = self.login_file(entry)
        if state.state in ("untrusted", "disabled", "broken") and not (state.state == "untrusted" and state.tools):
            raise McpFault(
                f"no login at the MCP server {entry.name!r}: {state.reason}", hint="`goalwright mcp list` shows it"
            )
        try:
            from goalwright_skills.mcp.authorisation.login import log_in
        except ImportError as error:
            message = f"the MCP server {entry.name!r} needs the package mcp, which is not installed"
            raise McpFault(message, hint="pip install 'goalwright[mcp]'") from error
        launch = entry.launch(self.workspace, self._environ)
        if file is None:
            raise McpFault(f"the MCP server {entry.name!r} is a program, which has no login", hint="set its variables")
        logged_in = asyncio.run(log_in(launch, file, open_page, seconds))
        self._failed.pop(state.key, None)
        self.pool.forget(state.key)
        return logged_in

    def _start(self, entry: ServerEntry, key: str) -> ServerStart:
        """Return the conditions of a start: the files of a workspace's server are hashed again just before it."""

        def allowed() -> bool:
            return entry.source == "user" or safe_key(entry, self.workspace, self._environ) == key

        return ServerStart(allowed, self._confinement)

    def refresh(self, entry: ServerEntry) -> ServerState:
        """Ask a trusted server for its tools now; an untrusted server is not started."""
        with self._listing:
            state = self._state(entry, start=False)
            if state.state in ("disabled", "untrusted") and not state.tools:
                return state
            self._failed.pop(state.key, None)
            try:
                self._fetch(entry, state.key, entry.launch(self.workspace, self._environ))
            except McpFault as fault:
                return _failed_state(state, fault)
            return self._state(entry, start=False)

    def untrusted(self, *, start: bool = False) -> list[ServerState]:
        """Return the servers whose entry or tools the user has to trust before they are used."""
        states = self.states(start=start)[0] if self.configured else []
        return [state for state in states if state.state in ("untrusted", "changed")]

    def trust_entry(self, state: ServerState) -> ServerState:
        """Trust an entry as it was shown, and list the tools of its server."""
        self._trust.trust_entry(state.entry, state.key)
        with self._listing:
            return self._state(state.entry, start=True)

    def trust_tools(self, state: ServerState) -> None:
        """Trust the tools and prompts of a server as they were listed."""
        listed = tool_list.load(self._cache, state.key)
        if listed is not None and (listed.tools, listed.prompts) == (state.tools, state.prompts):
            self._trust.trust_list(state.entry, state.key, listed.digest)

    def trust_all(self) -> None:
        """Trust every entry and every tool list as they are now."""
        for state in self.untrusted(start=True):
            listed = state if state.tools else self.trust_entry(state)
            if listed.state in ("untrusted", "changed"):
                self.trust_tools(listed)

    def held(self) -> AbstractContextManager[None]:
        """Keep servers running until the end of the block."""
        return self.pool.held()

    def _state(self, entry: ServerEntry, *, start: bool) -> ServerState:
        if entry.fault:
            return ServerState(entry, "broken", entry.fault)
        if entry.disabled:
            return ServerState(entry, "disabled", f"disabled in {entry.file}")
        return replace(self._enabled_state(entry, start=start), login=self.login_state(entry))

    def _enabled_state(self, entry: ServerEntry, *, start: bool) -> ServerState:
        key = self._key(entry)
        if key is None:
            return ServerState(entry, "broken", "the files that it names cannot be read, or there are too many")
        if not self._trust.trusts_entry(entry, key):
            return ServerState(entry, "untrusted", _UNTRUSTED, key=key)
        listed = tool_list.load(self._cache, key)
        warnings: tuple[str, ...] = ()
        try:
            launch = entry.launch(self.workspace, self._environ)
            if start and (listed is None or listed.is_old):
                listed = self._fetch(entry, key, launch)
        except LoginNeeded as fault:
            if listed is None:
                return ServerState(entry, "login", _reason(fault), key=key)
            warnings = (f"{_reason(fault)}; until then its last known tools are offered",)
        except McpFault as fault:
            if listed is None:
                return ServerState(entry, "broken", _reason(fault), key=key)
            warnings = (f"{fault.message}: using its last known tools",)
        return self._listed_state(entry, key, listed, warnings)

    def _key(self, entry: ServerEntry) -> str | None:
        """Return the hash of an entry and its files; while its server runs, the hash at its start."""
        identity = json.dumps([entry.name, entry.source, entry.raw], sort_keys=True)
        key = self._keys.get(identity)
        if key is None or not self.pool.is_open(key):  # a server may write into a folder that its entry names
            key = safe_key(entry, self.workspace, self._environ)
        if key is not None:
            self._keys[identity] = key
        return key

    def _listed_state(
        self, entry: ServerEntry, key: str, listed: ToolList | None, warnings: tuple[str, ...]
    ) -> ServerState:
        if listed is None:
            file = self.login_file(entry)
            if file is not None and file.state == "needed":
                return ServerState(entry, "login", f"it requires a login: goalwright mcp login {entry.name}", key=key)
            return ServerState(entry, "active", _UNLISTED, key=key)
        warnings = (*listed.warnings, *warnings)
        if self._trust.trusts_list(entry, key, listed.digest):
            active = ServerState(entry, "active", None, listed.tools, key, warnings, prompts=listed.prompts)
            return replace(active, resources=listed.resources)
        status: Status = "changed" if self._trust.has_list(key) else "untrusted"
        reason = _CHANGED if status == "changed" else _NEW_TOOLS
        return ServerState(entry, status, reason, listed.tools, key, warnings, prompts=listed.prompts)

    def _fetch(self, entry: ServerEntry, key: str, launch: ServerLaunch) -> ToolList:
        """Return the current tools of a server; a server that failed is not started again by this process."""
        if key in self._failed:
            raise self._failed[key]
        try:
            with self.pool.held():  # a run holds the pool longer and keeps the server
                access = ServerAccess(key, launch, self._start(entry, key), self.login_file(entry))
                offered = self.pool.offer(access)
        except McpFault as fault:
            self._failed[key] = fault
            raise
        return self._keep(entry, key, offered)

    def _keep(self, entry: ServerEntry, key: str, offered: ServerOffer) -> ToolList:
        listed = tool_list.tool_list(entry.name, offered.tools, offered.prompts, resources=offered.resources)
        tool_list.save(self._cache, key, listed)
        if entry.source == "user" and not self._trust.has_list(key):
            self._trust.trust_list(entry, key, listed.digest)
        return listed


def _failed_state(state: ServerState, fault: McpFault) -> ServerState:
    return replace(state, state="login" if isinstance(fault, LoginNeeded) else "broken", reason=_reason(fault))


def _reason(fault: McpFault) -> str:
    return f"{fault.message}; {fault.hint}" if fault.hint else fault.message
