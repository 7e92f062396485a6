"""Runs one command in the sandbox: in the run's artifacts, with a timeout, and without network unless allowed."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright_skills import hidden_paths, safe_files
from goalwright_skills.builtin.web.box_proxy import BoxProxy
from goalwright_skills.builtin.web.hosts import AllowedHost, resolve
from goalwright_skills.confinement import Box, Command
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs import process
from goalwright_skills.programs.environment import environment
from goalwright_skills.programs.executable import not_started, out_of_memory, scratch_folder, size_text, status_text
from goalwright_skills.tools.artifacts import Output, hashed_since, remove_new, stamps, with_artifacts
from goalwright_skills.tools.envelope import CallLog, Context, Envelope, failure, time_since

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from goalwright_skills.builtin.web.hosts import Resolve
    from goalwright_skills.programs.executable import ToolHost
    from goalwright_skills.tools.envelope import Code


SECONDS = 60.0
NEEDS_BUBBLEWRAP = "commands have no network here: hosts can be allowed only where bubblewrap works"
_SHOWN = 2_000  # characters of output quoted in an error
_MODULE = re.compile(r"^ModuleNotFoundError: No module named '([^']{1,100})'", re.MULTILINE)
_PACKAGE = re.compile(r"Cannot find (?:module|package) '([^']{1,100})'")


@dataclass(frozen=True, slots=True)
class BoxedRun:
    """Runs commands for one tool; `reads` are folders that they may read besides the workspace.

    A command has a timeout of `seconds`, by default 60, and reaches `hosts` by HTTP if the sandbox supports a proxy;
    `find` resolves host names.
    """

    tool: str
    host: ToolHost
    reads: tuple[Path, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    start: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    hosts: tuple[str, ...] = ()
    find: Resolve = resolve

    @property
    def limit(self) -> float:
        """The timeout in seconds."""
        return self.seconds or SECONDS

    @property
    def context(self) -> Context:
        """The context of the call."""
        return Context(str(self.host.workspace), dict(self.arguments))

    def failed(self, code: Code, message: str, data: Mapping[str, Any] | None = None) -> Envelope:
        """Return an error envelope."""
        return replace(failure(code, message, self.context, time_ms=time_since(self.start)), data=data or {})

    async def run(self, command: Callable[[Path], Command]) -> Envelope:
        """Run the command made for a scratch folder; every failure is an envelope, never an exception."""
        if self.host.confinement.refusal:
            return self.failed("ACCESS_DENIED", f"{self.tool} was not run: {self.host.confinement.refusal}")
        try:
            return await self._run(command)
        except (GoalwrightError, OSError) as error:
            return self.failed("EXECUTION_ERROR", f"{self.tool} cannot be started: {not_started(error)}")

    async def _run(self, command: Callable[[Path], Command]) -> Envelope:
        host, artifacts = self.host, self.host.artifacts
        assert artifacts is not None  # noqa: S101 - every run has artifacts
        safe_files.make_folder(artifacts, below=safe_files.anchor(artifacts, host.workspace))
        before = await asyncio.to_thread(stamps, artifacts, hidden=True)
        with scratch_folder(host.scratch) as scratch:
            ended, network = await self._run_with_network(command(scratch), scratch, artifacts)
        if ended.how == "full":
            await asyncio.to_thread(remove_new, artifacts, before)
            return self.failed("EXECUTION_ERROR", f"{self.tool} left {ended.stderr} — write fewer or smaller files")
        left = await hashed_since(artifacts, before)
        host.log(CallLog(self.tool, "", ended.stderr, ended.status, time.monotonic() - self.start))
        return self._envelope(ended, network | ({"artifacts": left} if left else {}))

    async def _run_with_network(
        self, command: Command, scratch: Path, artifacts: Path
    ) -> tuple[process.Ended, dict[str, Any]]:
        """Run the command with its network access; returns its end and the hosts that it reached or tried to reach."""
        if not self.hosts:
            return await self._run_in_box(command, scratch, artifacts), {}
        if not self.host.confinement.bridges:
            return await self._run_in_box(command, scratch, artifacts), {"network": {"off": NEEDS_BUBBLEWRAP}}
        async with BoxProxy([AllowedHost.of(host) for host in self.hosts], self.find) as proxy:
            ended = await self._run_in_box(command, scratch, artifacts, proxy.inner.fileno())
        network = {"reached": [*proxy.reached], "refused": [*proxy.refused]}
        return ended, {"network": network} if any(network.values()) else {}

    async def _run_in_box(
        self, command: Command, scratch: Path, artifacts: Path, bridge: int | None = None
    ) -> process.Ended:
        host = self.host
        shown = hidden_paths.unlinked(host.workspace, hidden_paths.shown_anyway(host.workspace, artifacts))
        readable = (host.workspace, *self.reads)
        limits = host.limits.for_timeout(self.limit)
        box = Box(artifacts, readable, (scratch, artifacts), False, limits, (*shown, *self.reads), host.views, bridge)
        env = environment(host.environ, (), scratch) | _run_variables(host.workspace, artifacts)
        launch = await asyncio.to_thread(host.confinement.launch, command, box)
        full = partial(host.disk.exceeded, (scratch, artifacts))
        live = LiveOutput(partial(host.show, self.tool))
        spec = process.ProcessSpec(launch, env, artifacts, self.limit, full=full, hear=live.hear)
        try:
            return await process.run(spec)
        finally:
            live.flush()

    def _envelope(self, ended: process.Ended, data: dict[str, Any]) -> Envelope:
        name, shown = self.tool, _output(ended)
        match ended.how:
            case "timeout":
                problem = f"{name} took longer than {self.limit:g} s and was stopped with all its processes"
                return self.failed("TIMEOUT", f"{problem} — do less at once{_quoted(shown)}", data)
            case "memory":
                problem = f"{name} used more than {size_text(self.host.limits.memory)} of memory and was stopped"
                return self.failed("EXECUTION_ERROR", f"{problem} — do less at once", data)
            case "flood":
                problem = f"{name} wrote more than {process.STDOUT_LIMIT // 1024**2} MB and was stopped"
                return self.failed("EXECUTION_ERROR", f"{problem} — write to a file instead", data)
        data = {"exit_status": ended.status} | data
        if ended.status != 0:
            return self.failed("EXECUTION_ERROR", f"{name} failed ({self._why(ended)}){_quoted(shown)}", data)
        host = self.host
        envelope = Output(name, shown).envelope(self.context, host.artifacts, time_since(self.start), host.disk)
        left = data.pop("artifacts", [])
        return with_artifacts(replace(envelope, data=data | dict(envelope.data)), left)

    def _why(self, ended: process.Ended) -> str:
        status = status_text(ended.status)
        if (module := _MODULE.search(ended.stderr)) is not None:
            return f"{status}: the Python module {module[1]!r} is not installed and cannot be installed here"
        if (package := _PACKAGE.search(ended.stderr)) is not None:
            return f"{status}: the Node package {package[1]!r} is not installed and cannot be installed here"
        if out_of_memory(ended.stderr):
            return f"{status}: the limit on memory is {size_text(self.host.limits.memory)} for a process"
        return status


def _run_variables(workspace: Path, artifacts: Path) -> dict[str, str]:
    return {"GOALWRIGHT_WORKSPACE": str(workspace), "GOALWRIGHT_ARTIFACTS": os.path.realpath(artifacts)}


def _output(ended: process.Ended) -> str:
    """Return the command's output, standard error below standard output."""
    parts = [ended.stdout.rstrip("\n"), f"[stderr]\n{ended.stderr.rstrip()}" if ended.stderr.strip() else ""]
    return "\n".join(filter(None, parts)) or "(no output)"


def _quoted(text: str) -> str:
    return "\n" + (text if len(text) <= _SHOWN else f"[…]\n{text[-_SHOWN:]}")


INTERVAL = 0.1
LONGEST = 4_000


class LiveOutput:
    """Collects output and shows it as text a few times a second; of a long part, only the end."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, data: bytes) -> None:
        """Add a chunk of output."""
        self._text = (self._text + self._decode(data))[-LONGEST:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self.flush)

    def flush(self) -> None:
        """Show the output since the last time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._text:
            text, self._text = self._text, ""
            self._show(text)
