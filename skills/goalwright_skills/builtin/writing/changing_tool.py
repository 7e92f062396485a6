"""The base classes of the tools that change files and of their calls: a call is checked, previewed and made once."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from goalwright_skills import safe_files
from goalwright_skills.builtin.writing.changes import sha256
from goalwright_skills.builtin.writing.targets import SIZE_LIMIT, Target
from goalwright_skills.text.untrusted import join_surrogates, spelled_out
from goalwright_skills.tools.current_call import current_call
from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import Context, Envelope, failure, time_since
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Self

    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.builtin.writing.file_change import FileChange
    from goalwright_skills.builtin.writing.write_place import WritePlace


_SHOWN = 20_000


class ChangesFiles(Protocol):
    """A tool that changes files."""

    @property
    def name(self) -> str:
        """The tool's name."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters as a JSON schema of type object."""

    def elsewhere(self, place: WritePlace) -> str:
        """Return what to do if the workspace may not be changed."""


class FileCall(ABC):
    """One call that changes the files `targets`; the first is its main file."""

    def __init__(self, tool: ChangesFiles, place: WritePlace, arguments: dict[str, Any], *targets: Target) -> None:
        self.place, self.arguments, self.targets = place, arguments, targets
        self.digest = sha256(json.dumps([tool.name, arguments], sort_keys=True, default=str).encode())
        self.key = current_call() or hashlib.sha256(f"{place.task}\0{self.digest}".encode()).hexdigest()[:32]
        for target in targets:
            if target.in_workspace and place.writes == "deny":
                problem = "this run may not change files of the workspace (workspace_writes)"
                raise ToolFault("ACCESS_DENIED", f"{problem} — {tool.elsewhere(place)}")
            if target.file.is_dir() and not target.file.is_symlink():
                raise ToolFault("IS_DIRECTORY", f"{target.name} is a folder — name a file in it")

    @property
    def target(self) -> Target:
        """The main file of the call."""
        return self.targets[0]

    @abstractmethod
    def check_content(self) -> None:
        """Raise if the content of the files prevents the call."""

    @abstractmethod
    def change(self) -> tuple[str, dict[str, Any]]:
        """Make the change; returns the text and data of the envelope."""

    @abstractmethod
    def diff(self) -> str:
        """Return the diff of the proposed change, which is stored until the call is made."""

    def check(self) -> None:
        """Raise if the call cannot be made, before a person is asked."""
        self.check_place()
        self.check_content()

    def check_place(self) -> None:
        """Raise if another task changed a file, or if a path is not writable."""
        self._refuse_rivals()
        for target in self.targets:
            root = self.place.workspace if target.in_workspace else target.root
            for above in target.file.parents:
                if above.is_dir():
                    if not os.access(above, os.W_OK | os.X_OK):
                        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))
                    break
                if os.path.lexists(above):
                    raise ToolFault("INVALID_PARAM", f"{above} is not a folder — write another path")
                if above == root:
                    break
            if target.in_workspace:
                safe_files.refuse_links(target.file, below=root)

    def make(self) -> tuple[str, dict[str, Any]]:
        """Make the change, unless a task that may run at the same time changed the same files."""
        claims = self.place.claims
        with claims.lock:
            self._refuse_rivals()
            result = self.change()
            for target in self.targets:
                claims.take(target.name, self.place.task)
        return result

    def _refuse_rivals(self) -> None:
        place = self.place
        for target in self.targets:
            rival = place.claims.rival(target.name, place.task, place.before)
            if rival is not None:
                problem = f"{target.name} was written by task {rival!r}, which may run at the same time as this one"
                raise ToolFault("CONFLICT", f"{problem} — write another path")

    def proposed(self) -> FileChange | None:
        """Return the change that was proposed for this call."""
        return self.place.changes.find(self.key, self.digest)

    def current(self, target: Target, below: Path) -> bytes | None:
        """Return a file's content; None if it does not exist."""
        content = safe_files.read(target.file, below=below, limit=SIZE_LIMIT)
        if content is not None and len(content) > SIZE_LIMIT:
            raise ToolFault("INVALID_PARAM", f"{target.name} has more than 10 MB — use another file")
        return content


def refuse_unknown(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise ToolFault if a call has an unknown parameter."""
    if unknown := arguments.keys() - parameters["properties"].keys():
        names = ", ".join(parameters["properties"])
        raise ToolFault("INVALID_PARAM", f"unknown parameter: {min(unknown)} — the parameters are: {names}")


def displayed(text: str) -> str:
    """Return a diff for display: control characters spelled out, and not too long."""
    text = spelled_out(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\n[… {len(text):,} characters in all]"


class ChangingTool(ABC):
    """A tool that changes files where its task may write; planners have no place to write."""

    name: str

    def __init__(self, place: WritePlace | None) -> None:
        self._place = place

    @classmethod
    def of(cls, run: ToolContext) -> Self:
        """Return the tool of one task."""
        return cls(run.writing)

    @abstractmethod
    def file_call(self, arguments: dict[str, Any], place: WritePlace) -> FileCall:
        """Return one call of the tool; raises ToolFault if it cannot be made."""

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Return the effects; a repeated call finds its change already made."""
        try:
            call = self._call(arguments)
            call.check()
        except (ToolFault, safe_files.UnsafePath, OSError):
            return READ_ONLY  # nothing will change, so nobody needs to be asked
        return Effects("workspace" if call.target.in_workspace else "artifacts", idempotent=True)

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """Return the diff of the call."""
        try:
            return self._call(arguments).diff()
        except (ToolFault, safe_files.UnsafePath, safe_files.Changed, OSError) as error:
            return f"{self.name} {arguments.get('path')}: {error}"

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Make the change; every error has a reason and a next step."""
        return await asyncio.to_thread(self._answer, arguments)

    def refusal(self, arguments: Mapping[str, Any]) -> Envelope | None:
        """Return the error of a call that would fail, so that nobody is asked to allow it."""
        envelope = self._answer(arguments, self._checked)
        return envelope if envelope.error is not None else None

    def _checked(self, call: FileCall) -> tuple[str, dict[str, Any]]:
        call.check()
        return "", {}

    def _call(self, arguments: Mapping[str, Any]) -> FileCall:
        assert self._place is not None  # noqa: S101 - only planners see a tool without a place
        return self.file_call(join_surrogates(dict(arguments)), self._place)

    def _answer(
        self,
        arguments: Mapping[str, Any],
        action: Callable[[FileCall], tuple[str, dict[str, Any]]] = FileCall.make,
    ) -> Envelope:
        start, place = time.monotonic(), self._place
        context = Context(str(place.workspace) if place else "", dict(arguments))
        try:
            call = self._call(arguments)
            context = Context(context.cwd, context.params_input, str(call.target.file))
            text, data = action(call)
        except ToolFault as fault:
            return failure(fault.code, fault.message, context, time_ms=time_since(start))
        except safe_files.Changed as error:
            problem = f"{error.message}, so it was not changed — read it again, then retry"
            return failure("CONFLICT", problem, context, time_ms=time_since(start))
        except safe_files.UnsafePath as error:
            return failure("ACCESS_DENIED", f"{error.message} — use another path", context, time_ms=time_since(start))
        except PermissionError as error:
            problem = f"the operating system denies access: {error} — use another path"
            return failure("PERMISSION_DENIED", problem, context, time_ms=time_since(start))
        except OSError as error:
            problem = f"the file cannot be written: {error.strerror or error} — use another path"
            return failure("EXECUTION_ERROR", problem, context, time_ms=time_since(start))
        return Envelope("success", text, context, data, time_ms=time_since(start))
