"""`WriteFile`: writes a whole text file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.parameters import takes, text
from goalwright_skills.builtin.writing.changing_tool import ChangingTool
from goalwright_skills.builtin.writing.file_write import FileWrite
from goalwright_skills.builtin.writing.targets import PREFIX, Target, target_of
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.builtin.writing.write_place import WritePlace


WHERE = (
    f"A relative path goes to the run's artifacts, which the user gets with the answer. `{PREFIX}PATH` changes a file "
    "of the workspace, if the user allows it; they may be asked first."
)


class WriteFile(ChangingTool):
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

    def file_call(self, arguments: dict[str, Any], place: WritePlace) -> FileWrite:
        """One call of it."""
        return FileWrite(self, place, arguments)

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
