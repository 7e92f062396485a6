"""`MoveFile`: moves a file of the workspace to another path. A run has it with `--write`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.parameters import takes, text
from goalwright_skills.builtin.writing.delete_file import DeleteFile
from goalwright_skills.builtin.writing.targets import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping


class MoveFile(DeleteFile):
    """Moves a file of the workspace."""

    name = "MoveFile"
    description = "Move a workspace file to a free path."
    parameters: ClassVar[Mapping[str, Any]] = takes(
        "path", "to", path=text(f"{PREFIX}a.md"), to=text(f"{PREFIX}b/a.md")
    )
