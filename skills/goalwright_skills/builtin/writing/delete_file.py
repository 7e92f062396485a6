"""`DeleteFile`: deletes a file of the workspace. A run has it with `--write`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.parameters import takes, text
from goalwright_skills.builtin.writing.changing_tool import ChangingTool
from goalwright_skills.builtin.writing.file_removal import FileRemoval
from goalwright_skills.builtin.writing.targets import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.builtin.writing.write_place import WritePlace


class DeleteFile(ChangingTool):
    """Deletes a file of the workspace."""

    name = "DeleteFile"
    description = "Delete a workspace file."
    parameters: ClassVar[Mapping[str, Any]] = takes("path", path=text(f"{PREFIX}old.md"))

    def file_call(self, arguments: dict[str, Any], place: WritePlace) -> FileRemoval:
        """One call of it."""
        return FileRemoval(self, place, arguments)

    def elsewhere(self, _place: WritePlace) -> str:
        """What to do where the workspace may not be changed."""
        return "leave the file where it is, and say so"
