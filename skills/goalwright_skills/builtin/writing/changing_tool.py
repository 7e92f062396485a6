"""What the tools that change files have in common: a call is checked, shown, made, and answered whatever happens."""

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
        """The name by which it is called."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters as a JSON schema of type object."""

    def elsewhere(self, place: WritePlace) -> str:
        """What to do where the workspace may not be changed."""


class FileCall(ABC):
    """One call that changes the files `targets`, of which the first is the one that it is about."""

    def __init__(self, tool: ChangesFiles, place: WritePlace, arguments: dict[str, Any], *targets: Target) -> None:
        self.place, self.arguments, self.targets = place, arguments, targets
        self.digest = sha256(json.dumps([tool.name, arguments], sort_keys=True, default=str).encode())
        self.key = current_call() or hashlib.sha256(f"{place.task}\0{self.digest}".encode()).hexdigest()[:32]
        for target in targets:
            if target.in_workspace and place.writes == "deny":
                what = "writing into the workspace is not allowed in this run, which takes --write"
                raise ToolFault("ACCESS_DENIED", f"{what} — {tool.elsewhere(place)}")
            if target.file.is_dir() and not target.file.is_symlink():
                raise ToolFault("IS_DIRECTORY", f"{target.name} is a folder — name a file in it")

    @property
    def target(self) -> Target:
        """The file that the call is about."""
        return self.targets[0]

    @abstractmethod
    def check_content(self) -> None:
        """Raise if what the files hold keeps the call from being made."""

    @abstractmethod
    def change(self) -> tuple[str, dict[str, Any]]:
        """Make the change; the text and the data of the answer."""

    @abstractmethod
    def diff(self) -> str:
        """The difference to be made, which is kept until the call is made."""

    def check(self) -> None:
        """Raise what would keep it from being made, before anybody is asked."""
        self.check_place()
        self.check_content()

    def check_place(self) -> None:
        """Raise if another task changed a file, or if none can be written there."""
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
        """Make the change, unless another task that is not in order with this one changed the same files."""
        claims = self.place.claims
        with claims.lock:
            self._refuse_rivals()
            done = self.change()
            for target in self.targets:
                claims.take(target.name, self.place.task)
        return done

    def _refuse_rivals(self) -> None:
        place = self.place
        for target in self.targets:
            rival = place.claims.rival(target.name, place.task, place.before)
            if rival is not None:
                what = f"{target.name} was written by task {rival!r}, which runs beside this one"
                raise ToolFault("CONFLICT", f"{what} — write another path")

    def known(self) -> FileChange | None:
        """The change that was proposed for this very call."""
        return self.place.changes.find(self.key, self.digest)

    def current(self, target: Target, below: Path) -> bytes | None:
        """What a file holds; None if there is none."""
        found = safe_files.read(target.file, below=below, limit=SIZE_LIMIT)
        if found is not None and len(found) > SIZE_LIMIT:
            raise ToolFault("INVALID_PARAM", f"{target.name} has more than 10 MB — take another file")
        return found


def refuse_unknown(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise ToolFault if a call has a parameter that its tool does not have."""
    if unknown := arguments.keys() - parameters["properties"].keys():
        known = ", ".join(parameters["properties"])
        raise ToolFault("INVALID_PARAM", f"unknown parameter: {min(unknown)} — the parameters are: {known}")


def shown(text: str) -> str:
    """A difference as a person is shown it: nothing hidden in it, and not too long."""
    text = spelled_out(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\n[… {len(text):,} characters in all]"


class ChangingTool(ABC):
    """A tool that changes files where its task may write; a planner sees it without a place."""

    name: str

    def __init__(self, place: WritePlace | None) -> None:
        self._place = place

    @classmethod
    def of(cls, run: ToolContext) -> Self:
        """The tool of one task."""
        return cls(run.writing)

    @abstractmethod
    def file_call(self, arguments: dict[str, Any], place: WritePlace) -> FileCall:
        """One call of it; raises ToolFault if it cannot be made."""

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """What it changes, if it can: repeated, it finds the files as it left them."""
        try:
            changing = self._call(arguments)
            changing.check()
        except (ToolFault, safe_files.UnsafePath, OSError):
            return READ_ONLY  # nothing will be changed, so nobody needs to be asked
        return Effects("workspace" if changing.target.in_workspace else "artifacts", idempotent=True)

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """The difference that it makes."""
        try:
            return self._call(arguments).diff()
        except (ToolFault, safe_files.UnsafePath, safe_files.Changed, OSError) as error:
            return f"{self.name} {arguments.get('path')}: {error}"

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Make the change; every error says why it failed and what to do next."""
        return await asyncio.to_thread(self._answer, arguments)

    def refusal(self, arguments: Mapping[str, Any]) -> Envelope | None:
        """The answer to a call that will be refused, so that nobody is asked to allow it."""
        envelope = self._answer(arguments, self._checked)
        return envelope if envelope.error is not None else None

    def _checked(self, changing: FileCall) -> tuple[str, dict[str, Any]]:
        changing.check()
        return "", {}

    def _call(self, arguments: Mapping[str, Any]) -> FileCall:
        assert self._place is not None  # noqa: S101 - only a planner sees a tool without a place
        return self.file_call(join_surrogates(dict(arguments)), self._place)

    def _answer(
        self,
        arguments: Mapping[str, Any],
        act: Callable[[FileCall], tuple[str, dict[str, Any]]] = FileCall.make,
    ) -> Envelope:
        start, place = time.monotonic(), self._place
        context = Context(str(place.workspace) if place else "", dict(arguments))
        try:
            changing = self._call(arguments)
            context = Context(context.cwd, context.params_input, str(changing.target.file))
            text, data = act(changing)
        except ToolFault as fault:
            return failure(fault.code, fault.message, context, time_ms=time_since(start))
        except safe_files.Changed as error:
            what = f"{error.message}, and is left as it is — read it again, then try again"
            return failure("CONFLICT", what, context, time_ms=time_since(start))
        except safe_files.UnsafePath as error:
            return failure("ACCESS_DENIED", f"{error.message} — take another path", context, time_ms=time_since(start))
        except PermissionError as error:
            what = f"the operating system denies it: {error} — take another path"
            return failure("PERMISSION_DENIED", what, context, time_ms=time_since(start))
        except OSError as error:
            what = f"it cannot be written: {error.strerror or error} — take another path"
            return failure("EXECUTION_ERROR", what, context, time_ms=time_since(start))
        return Envelope("success", text, context, data, time_ms=time_since(start))
