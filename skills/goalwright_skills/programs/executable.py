"""A program as a tool: checked arguments in, one confined process, an envelope out."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import hidden_paths, safe_files
from goalwright_skills.confinement import Box, ResourceLimits, Views
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs import process, protocol, runtimes
from goalwright_skills.programs.environment import environment
from goalwright_skills.programs.protocol import Garbled, ProgramAnswer
from goalwright_skills.text.formatting import clip
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.artifacts import Output, hashed_since, remove_new, stamps, with_artifacts
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.envelope import (
    TEXT_LIMIT,
    CallLog,
    Code,
    Context,
    Envelope,
    failure,
    no_log,
    tail,
    time_since,
)
from goalwright_skills.tools.parameter import check_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.programs.build_cache import BuildCache
    from goalwright_skills.programs.manifest import Manifest


def _no_output(_tool: str, _text: str) -> None:
    """Drop the output."""


def _trust_all(_folder: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ToolHost:
    """The environment of tools: folders, sandbox, limits and callbacks; `trusted` is asked at each call."""

    workspace: Path
    scratch: Path
    confinement: Confinement
    build_cache: BuildCache
    artifacts: Path | None = None
    trusted: Callable[[Path], bool] = _trust_all
    log: Callable[[CallLog], None] = no_log
    show: Callable[[str, str], None] = _no_output  # called with a tool's name and each part of its output
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    views: Views = field(default_factory=Views)
    disk: DiskLimits = field(default_factory=DiskLimits)


_Visible = tuple[tuple["Path", ...], tuple["Path", ...]]


class ExecutableTool:
    """One tool of a `skill.yaml`, ready to be called."""

    def __init__(self, manifest: Manifest, host: ToolHost) -> None:
        self.manifest = manifest
        self.host = host
        self._visible: dict[bool, _Visible] = {}

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.manifest.name

    @property
    def description(self) -> str:
        """What the tool does and, if its author says so, when to use it and when not."""
        docs = self.manifest.docs
        parts = [self.manifest.description]
        if docs.when_to_use:
            parts.append("Use it when: " + "; ".join(docs.when_to_use))
        if docs.when_not_to_use:
            parts.append("Do not use it when: " + "; ".join(docs.when_not_to_use))
        return "\n".join(parts)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters as a JSON schema of type object."""
        return self.manifest.schema

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Run the tool once; every failure is an envelope, never an exception."""
        arguments = join_surrogates(dict(arguments))
        call = _Call(self, arguments)
        complete, faults = check_arguments(self.manifest.parameters, arguments)
        if faults:
            return call.failed("INVALID_PARAM", "; ".join(faults))
        return await self._run(call, complete)

    async def probe(self, arguments: Mapping[str, Any]) -> tuple[Envelope, ProgramAnswer | Garbled | None]:
        """Run the tool without validating the arguments; also returns its own answer, or None if it did not run."""
        call = _Call(self, arguments)
        envelope = await self._run(call, dict(arguments))
        return envelope, call.answer

    async def _run(self, call: _Call, inputs: dict[str, Any]) -> Envelope:
        refusal = self._refusal()
        if refusal:
            return call.failed("ACCESS_DENIED", refusal)
        try:
            return await call.run(inputs)
        except (GoalwrightError, OSError) as error:
            return call.failed("EXECUTION_ERROR", f"{self.name} cannot be started: {not_started(error)}")

    def visible(self) -> _Visible:
        """Return the readable paths, and the visible exceptions among hidden paths; computed once per run."""
        artifacts = self.host.artifacts
        key = artifacts is not None and artifacts.exists()  # another tool may create the folder later
        if key not in self._visible:
            self._visible[key] = self._find_visible()
        return self._visible[key]

    def _find_visible(self) -> _Visible:
        workspace, folder, entry = self.host.workspace, self.manifest.folder, self.manifest.entry_path
        own = hidden_paths.skill_parts(folder, workspace)
        shown = hidden_paths.unlinked(workspace, hidden_paths.shown_anyway(workspace, self.host.artifacts))
        if entry.resolve().is_relative_to(folder.resolve()):
            shown = (*shown, entry)
        if own != (folder,):  # the folder may be at a hidden path of the workspace
            shown = (*shown, *hidden_paths.unlinked(folder, own))
            own = (*own, entry)
        return (workspace, *(path for path in own if path.exists())), shown

    def _refusal(self) -> str:
        try:
            trusted = self.host.trusted(self.manifest.folder)
        except (GoalwrightError, OSError) as error:
            return f"{self.name} cannot be checked for trust: {error} — repair the folder {self.manifest.folder}"
        if not trusted:
            return (
                f"{self.name} comes with this workspace and is not trusted yet: {self.manifest.folder} — "
                "the user has to review and trust its program first"
            )
        if self.host.confinement.refusal:
            return f"{self.name} was not run: {self.host.confinement.refusal}"
        return ""


class _Call:
    """One call: its arguments, its start time, and its envelope."""

    def __init__(self, tool: ExecutableTool, arguments: Mapping[str, Any]) -> None:
        self.tool, self.manifest, self.host = tool, tool.manifest, tool.host
        self.context = Context(str(self.host.workspace), dict(arguments))
        self.start = time.monotonic()
        self.answer: ProgramAnswer | Garbled | None = None

    def failed(self, code: Code, message: str) -> Envelope:
        return failure(code, message, self.context, time_ms=time_since(self.start))

    async def run(self, inputs: dict[str, Any]) -> Envelope:
        manifest, host = self.manifest, self.host
        command = await runtimes.prepare(manifest, host.build_cache, host.workspace)
        kept = host.artifacts if manifest.writes else None
        before = stamps(kept, hidden=True)
        with scratch_folder(host.scratch) as scratch:
            writable, extra = self._grants(scratch)
            limits = host.limits.for_timeout(manifest.timeout)
            readable, shown = self.tool.visible()
            box = Box(host.workspace, readable, writable, manifest.network, limits, shown, host.views)
            env = environment(host.environ, manifest.env, scratch) | extra
            line = protocol.request(inputs)
            if host.views.knows(readable):
                launch = host.confinement.launch(command, box)
            else:  # scanning a large workspace takes a moment
                launch = await asyncio.to_thread(host.confinement.launch, command, box)
            full = partial(host.disk.exceeded, writable)
            job = process.ProcessSpec(launch, env, host.workspace, manifest.timeout, line, full)
            ended = await process.run(job)
        if ended.how == "full":
            await asyncio.to_thread(remove_new, kept, before)
            return self.failed(
                "EXECUTION_ERROR", f"{self.tool.name} left {ended.stderr} — write fewer or smaller files"
            )
        envelope = self._envelope(ended)
        return with_artifacts(envelope, await hashed_since(kept, before))

    def _grants(self, scratch: Path) -> tuple[tuple[Path, ...], dict[str, str]]:
        extra = {"GOALWRIGHT_TOOL": self.manifest.name, "GOALWRIGHT_WORKSPACE": str(self.host.workspace)}
        artifacts = self.host.artifacts
        if not self.manifest.writes or artifacts is None:
            return (scratch,), extra
        safe_files.make_folder(artifacts, below=safe_files.anchor(artifacts, self.host.workspace))
        return (scratch, artifacts), extra | {"GOALWRIGHT_ARTIFACTS": str(artifacts.resolve())}

    def _envelope(self, ended: process.Ended) -> Envelope:
        answer = self.answer = protocol.parse(ended.stdout)
        seconds = time.monotonic() - self.start
        self.host.log(CallLog(self.manifest.name, tail(answer.log), ended.stderr, ended.status, seconds))
        name = self.manifest.name
        match ended.how, answer:
            case "timeout", _:
                problem = f"{name} took longer than {self.manifest.timeout:g} s and was stopped"
                next_step = f"ask for less at once, or raise `timeout` in {self.manifest.path}"
                return self.failed("TIMEOUT", f"{problem} — {next_step}")
            case "memory", _:
                problem = f"{name} used more than {size_text(self.host.limits.memory)} of memory and was stopped"
                return self.failed("EXECUTION_ERROR", f"{problem} — ask for less at once")
            case "flood", _:
                problem = f"{name} wrote more than {process.STDOUT_LIMIT // 1024**2} MB and was stopped"
                return self.failed("EXECUTION_ERROR", f"{problem} — ask for less at once")
            case _, ProgramAnswer(error=error) if error:
                return self.failed("EXECUTION_ERROR", clip(error, TEXT_LIMIT))  # models read it too
            case "exit", _ if ended.status != 0:
                problem = f"{name} crashed ({status_text(ended.status)})"
                if out_of_memory(ended.stderr):
                    problem += f": the limit on memory is {size_text(self.host.limits.memory)} for a process"
                return self.failed("EXECUTION_ERROR", f"{problem} — {_ADVICE}")
            case _, Garbled(what=what):
                return self.failed("EXECUTION_ERROR", f"{name} broke its protocol: {what} — {_ADVICE}")
            case _, ProgramAnswer():
                output = Output(name, answer.text, answer.value)
                return output.envelope(self.context, self.host.artifacts, time_since(self.start), self.host.disk)
        raise AssertionError(ended)


_ADVICE = "try other arguments; if it fails again, its stderr in the run's trace says where"


_OUT_OF_MEMORY = ("MemoryError", "Cannot allocate memory", "out of memory", "bad_alloc", "OutOfMemory")


def not_started(error: GoalwrightError | OSError) -> str:
    """Return why a program cannot be started, and what to do."""
    if isinstance(error, OSError):
        return f"{error.strerror or error} — run `goalwright doctor`"
    return f"{error.message} — {error.hint}" if error.hint else error.message


def out_of_memory(stderr: str) -> bool:
    """Return whether a program's error output reports a lack of memory."""
    return any(words in stderr for words in _OUT_OF_MEMORY)


def size_text(count: int) -> str:
    """Format a number of bytes."""
    return f"{count / 1024**3:g} GB" if count >= 1024**3 else f"{count // 1024**2} MB"


def status_text(status: int) -> str:
    """Describe an exit status."""
    if status < 0 or status > 128:
        number = -status if status < 0 else status - 128
        return f"signal {number}, possibly a limit on memory, CPU time or processes"
    return f"exit status {status}"


def _is_own(folder: Path) -> bool:
    """Return whether a folder belongs to this user, is no link, and nobody else can write to it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISDIR(status.st_mode) and is_mine and not (os.name == "posix" and status.st_mode & 0o022)


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield a folder for one call; it is removed afterwards with its content.

    Its parent has a predictable name in a folder that everybody may write to. If another user created the parent, they
    could replace its content, so it is not used.
    """
    with contextlib.suppress(OSError):  # something else has this name
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    base = parent if _is_own(parent) else parent.parent
    folder = Path(tempfile.mkdtemp(prefix="goalwright-call-", dir=base)).resolve()
    try:
        yield folder
    finally:
        safe_files.remove_tree(folder)
