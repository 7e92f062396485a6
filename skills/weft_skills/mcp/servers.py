"""The MCP servers of a workspace: how each stands, what they offer, and their calls."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from weft_skills.confinement import choose
from weft_skills.errors import InputError
from weft_skills.mcp import config, tool_list
from weft_skills.mcp.connection import ServerStart
from weft_skills.mcp.entry import McpFault
from weft_skills.mcp.pool import ServerPool
from weft_skills.mcp.trust import McpTrust, safe_key
from weft_skills.text.nearest import nearest_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from weft_skills.confinement import Confinement
    from weft_skills.mcp.connection import CallAnswer
    from weft_skills.mcp.entry import ServerEntry, ServerLaunch
    from weft_skills.mcp.tool_list import ListedTool, ToolList
    from weft_skills.programs.trust import Trust

Standing = Literal["active", "untrusted", "changed", "disabled", "broken"]

_UNLISTED = "its tools are not listed yet: a run lists them, or `weft mcp refresh`"
_UNTRUSTED = "you have not trusted it yet: review its entry, then pass --trust"
_NEW_TOOLS = "you have not trusted its tools yet: review them, then pass --trust"
_CHANGED = "its tools have changed since you trusted them: review them, then pass --trust"


@dataclass(frozen=True, slots=True)
class ServerState:
    """How a server stands: whether its tools are offered, and if not, why. `key` is the hash of its entry."""

    entry: ServerEntry
    state: Standing
    reason: str | None = None
    tools: tuple[ListedTool, ...] = ()
    key: str = ""
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The server as `mcp list --json` prints it."""
        tools = [tool.name for tool in self.tools]
        row = {"name": self.entry.name, "source": self.entry.source, "state": self.state}
        return row | {"reason": self.reason, "tools": tools}


def named(states: Sequence[ServerState], names: Sequence[str]) -> list[ServerState]:
    """The servers of these names, or all if there are no names; raises if a name is unknown."""
    servers = [state.entry.name for state in states]
    for name in names:
        if name not in servers:
            what = f"there is no MCP server {name!r}; servers are: {nearest_names(name, servers)}"
            raise InputError(what, hint="`weft mcp list` shows them")
    return [state for state in states if not names or state.entry.name in names]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The tools of all servers, in the order of their files, and warnings."""

    tools: tuple[ListedTool, ...] = ()
    warnings: tuple[str, ...] = ()


class McpServers:
    """The servers that a workspace and its user have configured; nothing starts before its entry is trusted."""

    def __init__(
        self,
        workspace: Path,
        user_file: Path,
        cache: Path,
        answers: Trust,
        environ: Mapping[str, str],
        confinement: Callable[[], Confinement] = choose,
    ) -> None:
        self.workspace = workspace
        self.pool = ServerPool(environ)
        self._user_file = user_file
        self._cache = cache
        self._trust = McpTrust(answers)
        self._environ = environ
        self._confinement = confinement
        self._failed: dict[str, McpFault] = {}
        self._keys: dict[str, str] = {}
        self._listing = threading.Lock()

    @property
    def configured(self) -> bool:
        """Whether any file names servers."""
        return (self.workspace / config.FILE).is_file() or self._user_file.is_file()

    def states(self, *, start: bool = False) -> tuple[list[ServerState], list[str]]:
        """How every server stands, and warnings; with `start`, trusted ones whose list is missing or old are asked."""
        entries, warnings = config.read(self.workspace, self._user_file)
        with self._listing:
            return [self._state(entry, start=start) for entry in entries], warnings

    def checked(self) -> tuple[list[ServerState], list[str]]:
        """How every server stands, those that failed in this process included."""
        states, warnings = self.states()
        return [self._after_failure(state) for state in states], warnings

    def _after_failure(self, state: ServerState) -> ServerState:
        fault = self._failed.get(state.key)
        return state if fault is None else replace(state, state="broken", reason=_reason(fault))

    def offer(self, *, start: bool = True) -> ToolOffer:
        """The tools that may be offered; with `start`, as for a planner."""
        if not self.configured:
            return ToolOffer()
        states, warnings = self.states(start=start)
        found: dict[str, ListedTool] = {}
        for state in states:
            if state.state in ("untrusted", "changed") or (state.state == "broken" and not state.entry.fault):
                warnings.append(f"the tools of the MCP server {state.entry.name!r} are not used: {state.reason}")
            warnings += state.warnings
            for tool in state.tools if state.state == "active" else ():
                if tool.name in found:
                    other = found[tool.name].server
                    what = f"the tool {tool.tool!r} of the MCP server {tool.server!r} is not used"
                    warnings.append(f"{what}: {other!r} also has one called {tool.name}")
                found.setdefault(tool.name, tool)
        return ToolOffer(tuple(found.values()), tuple(warnings))

    def find(self, name: str) -> ListedTool | None:
        """The tool of this name, if it may be called now."""
        return next((tool for tool in self.offer(start=False).tools if tool.name == name), None)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallAnswer:
        """Call a tool, starting its server if need be; raises McpFault."""
        tool = self.find(name)
        if tool is None:
            what = f"no MCP server that is configured and trusted here has the tool {name}"
            raise McpFault(what, hint="go on without it; `weft mcp list` shows the servers")
        state = next(server for server in self.states()[0] if server.entry.name == tool.server)
        launch = state.entry.launch(self.workspace, self._environ)

        def check(rows: list[dict[str, Any]]) -> None:
            listed = self._keep(state.entry, state.key, rows)
            if not self._trust.trusts_list(state.entry, state.key, listed.digest):
                raise McpFault(
                    f"the MCP server {state.entry.name!r} is not called: {_CHANGED}", hint="go on without it"
                )

        start = self._start(state.entry, state.key)
        return await self.pool.call(state.key, launch, start, tool.tool, arguments, check)

    def _start(self, entry: ServerEntry, key: str) -> ServerStart:
        """What its start depends on: the files of a workspace's server are hashed again just before."""

        def allowed() -> bool:
            return entry.source == "user" or safe_key(entry, self.workspace, self._environ) == key

        return ServerStart(allowed, self._confinement)

    def refresh(self, entry: ServerEntry) -> ServerState:
        """Ask a trusted server for its tools now; one that is not trusted is left alone."""
        with self._listing:
            state = self._state(entry, start=False)
            if state.state in ("disabled", "untrusted") and not state.tools:
                return state
            self._failed.pop(state.key, None)
            try:
                self._fetch(entry, state.key, entry.launch(self.workspace, self._environ))
            except McpFault as fault:
                return replace(state, state="broken", reason=_reason(fault))
            return self._state(entry, start=False)

    def untrusted(self, *, start: bool = False) -> list[ServerState]:
        """The servers whose entry, or whose tools, the user has to trust before they are used."""
        states = self.states(start=start)[0] if self.configured else []
        return [state for state in states if state.state in ("untrusted", "changed")]

    def trust_entry(self, state: ServerState) -> ServerState:
        """Trust an entry as it was shown, and ask its server for its tools."""
        self._trust.trust_entry(state.entry, state.key)
        with self._listing:
            return self._state(state.entry, start=True)

    def trust_tools(self, state: ServerState) -> None:
        """Trust the tools of a server as they were listed."""
        listed = tool_list.load(self._cache, state.key)
        if listed is not None and listed.tools == state.tools:
            self._trust.trust_list(state.entry, state.key, listed.digest)

    def trust_all(self) -> None:
        """Trust every entry and every list as they are now."""
        for state in self.untrusted(start=True):
            listed = state if state.tools else self.trust_entry(state)
            if listed.state in ("untrusted", "changed"):
                self.trust_tools(listed)

    def held(self) -> AbstractContextManager[None]:
        """Keep servers that are started from now on until the end of the block."""
        return self.pool.held()

    def _state(self, entry: ServerEntry, *, start: bool) -> ServerState:
        if entry.fault:
            return ServerState(entry, "broken", entry.fault)
        if entry.disabled:
            return ServerState(entry, "disabled", f"disabled in {entry.file}")
        key = self._key(entry)
        if key is None:
            return ServerState(entry, "broken", "the files that it names cannot be read, or are too many")
        if not self._trust.trusts_entry(entry, key):
            return ServerState(entry, "untrusted", _UNTRUSTED, key=key)
        listed = tool_list.load(self._cache, key)
        warnings: tuple[str, ...] = ()
        try:
            launch = entry.launch(self.workspace, self._environ)
            if start and (listed is None or listed.is_old):
                listed = self._fetch(entry, key, launch)
        except McpFault as fault:
            if listed is None:
                return ServerState(entry, "broken", _reason(fault), key=key)
            warnings = (f"{fault.message}: using its last known tools",)
        return self._listed_state(entry, key, listed, warnings)

    def _key(self, entry: ServerEntry) -> str | None:
        """The hash of an entry and its files; while its server runs, that with which it was started."""
        identity = json.dumps([entry.name, entry.source, entry.raw], sort_keys=True)
        known = self._keys.get(identity)
        if known is None or not self.pool.is_open(known):  # a server may write into a folder that its entry names
            known = safe_key(entry, self.workspace, self._environ)
        if known is not None:
            self._keys[identity] = known
        return known

    def _listed_state(
        self, entry: ServerEntry, key: str, listed: ToolList | None, warnings: tuple[str, ...]
    ) -> ServerState:
        if listed is None:
            return ServerState(entry, "active", _UNLISTED, key=key)
        warnings = (*listed.warnings, *warnings)
        if self._trust.trusts_list(entry, key, listed.digest):
            return ServerState(entry, "active", None, listed.tools, key, warnings)
        changed = self._trust.has_list(key)
        state: Standing = "changed" if changed else "untrusted"
        return ServerState(entry, state, _CHANGED if changed else _NEW_TOOLS, listed.tools, key, warnings)

    def _fetch(self, entry: ServerEntry, key: str, launch: ServerLaunch) -> ToolList:
        """The tools that a server lists now; one that failed is not tried again by this process."""
        if key in self._failed:
            raise self._failed[key]
        try:
            with self.pool.held():  # a run holds it longer, and keeps the server
                rows = self.pool.tools(key, launch, self._start(entry, key))
        except McpFault as fault:
            self._failed[key] = fault
            raise
        return self._keep(entry, key, rows)

    def _keep(self, entry: ServerEntry, key: str, rows: list[dict[str, Any]]) -> ToolList:
        listed = tool_list.tool_list(entry.name, rows)
        tool_list.save(self._cache, key, listed)
        if entry.source == "user" and not self._trust.has_list(key):
            self._trust.trust_list(entry, key, listed.digest)
        return listed


def _reason(fault: McpFault) -> str:
    return f"{fault.message}; {fault.hint}" if fault.hint else fault.message
