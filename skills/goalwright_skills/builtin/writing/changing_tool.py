"""What the tools that change files have in common: a call is checked, shown, made, and answered whatever happens."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files
from goalwright_skills.builtin.writing.file_call import FileCall
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import Context, Envelope, failure, time_since
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.builtin.writing.write_place import WritePlace


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
