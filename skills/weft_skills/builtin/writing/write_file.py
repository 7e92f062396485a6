"""`WriteFile`: writes a whole text file."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, ClassVar

from weft_skills import safe_files
from weft_skills.builtin.parameters import takes, text
from weft_skills.builtin.writing.file_write import FileWrite
from weft_skills.builtin.writing.targets import PREFIX, Target, target_of
from weft_skills.text.surrogates import join_surrogates
from weft_skills.tools.effects import READ_ONLY, Effects
from weft_skills.tools.envelope import Context, Envelope, failure, time_since
from weft_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft_skills.builtin.tool_context import ToolContext
    from weft_skills.builtin.writing.write_place import WritePlace


WHERE = (
    f"A relative path goes to the run's artifacts, which the user gets with the answer. `{PREFIX}PATH` changes a file "
    "of the workspace, if the user allows it; they may be asked first."
)


class WriteFile:
    """Writes a whole text file."""

    name = "WriteFile"
    description = f"Write a text file, whole; a file that exists is replaced. {WHERE}"
    edits = False
    parameters: ClassVar[Mapping[str, Any]] = takes(
        "path",
        "content",
        path=text(f"The file, such as report.md or {PREFIX}src/app.py."),
        content=text("Its whole text, 10 MB at most."),
    )

    def __init__(self, place: WritePlace | None) -> None:
        self._place = place

    @classmethod
    def of(cls, run: ToolContext) -> WriteFile:
        """The tool of one task."""
        return cls(run.writing)

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """What it writes, if it can: repeated, it finds the file as it wrote it."""
        try:
            writing = self._call(arguments)
            writing.check()
        except (ToolFault, safe_files.UnsafePath, OSError):
            return READ_ONLY  # nothing will be written, so nobody needs to be asked
        return Effects("workspace" if writing.target.in_workspace else "artifacts", idempotent=True)

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """The difference that it makes."""
        try:
            return self._call(arguments).diff()
        except (ToolFault, safe_files.UnsafePath, safe_files.Changed, OSError) as error:
            return f"{self.name} {arguments.get('path')}: {error}"

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Write it; every error says why it failed and what to do next."""
        return await asyncio.to_thread(self._answer, arguments)

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """The file that a call writes."""
        return target_of(arguments.get("path"), place.workspace, place.artifacts)

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """What the file is to hold, by what it holds, and what to say of it; empty for the usual words."""
        old = None
        if before is not None and (target.in_workspace or self.edits):
            try:
                old = before.decode()
            except UnicodeDecodeError as error:
                what = f"{target.name} is not a text file in UTF-8 — write another file"
                raise ToolFault("BINARY_FILE", what) from error
        return self.new_text(arguments, old, target).encode(), ""

    def elsewhere(self, _place: WritePlace) -> str:
        """What to write where the workspace may not be written."""
        return "write a relative path: it goes to the run's artifacts"

    def new_text(self, arguments: Mapping[str, Any], _old: str | None, _target: Target) -> str:
        """What a text file is to hold."""
        content = arguments.get("content")
        if not isinstance(content, str):
            raise ToolFault("INVALID_PARAM", f"content must be a text, not {content!r:.80} — give the whole text")
        return content

    def _call(self, arguments: Mapping[str, Any]) -> FileWrite:
        assert self._place is not None  # noqa: S101 - only a planner sees a tool without a place
        return FileWrite(self, self._place, join_surrogates(dict(arguments)))

    def refusal(self, arguments: Mapping[str, Any]) -> Envelope | None:
        """The answer to a call that will be refused, so that nobody is asked to allow it."""
        envelope = self._answer(arguments, self._checked)
        return envelope if envelope.error is not None else None

    def _checked(self, writing: FileWrite) -> tuple[str, dict[str, Any]]:
        writing.check()
        return "", {}

    def _answer(
        self,
        arguments: Mapping[str, Any],
        act: Callable[[FileWrite], tuple[str, dict[str, Any]]] = FileWrite.make,
    ) -> Envelope:
        start, place = time.monotonic(), self._place
        context = Context(str(place.workspace) if place else "", dict(arguments))
        try:
            writing = self._call(arguments)
            context = Context(context.cwd, context.params_input, str(writing.target.file))
            text, data = act(writing)
        except ToolFault as fault:
            return failure(fault.code, fault.message, context, time_ms=time_since(start))
        except safe_files.Changed as error:
            what = f"{error.message}, and is left as it is — read it again, then write again"
            return failure("CONFLICT", what, context, time_ms=time_since(start))
        except safe_files.UnsafePath as error:
            return failure("ACCESS_DENIED", f"{error.message} — write another path", context, time_ms=time_since(start))
        except PermissionError as error:
            what = f"the operating system denies it: {error} — write another path"
            return failure("PERMISSION_DENIED", what, context, time_ms=time_since(start))
        except OSError as error:
            what = f"it cannot be written: {error.strerror or error} — write another path"
            return failure("EXECUTION_ERROR", what, context, time_ms=time_since(start))
        return Envelope("success", text, context, data, time_ms=time_since(start))
