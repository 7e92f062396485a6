"""Replaces skills by files for one run, to try a new version before installing it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright_skills.discovery import file_stamp
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.errors import InputError
from goalwright_skills.format import frontmatter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.skill import Skill


class SubstitutingRegistry(Registry):
    """A registry in which some names refer to other files."""

    def __init__(self, workspace: Path, files: Mapping[str, Path], **options: Any) -> None:
        super().__init__(workspace, **options)
        self._files = files

    def _settle(self) -> None:
        super()._settle()
        for name, path in self._files.items():
            if name not in self._active:
                raise InputError(
                    f"there is no skill {name!r} to replace by {path}",
                    hint="`goalwright skills list` shows all names",
                )
            self._active[name] = _replaced(self._active[name], path)
        self._rows = [self._active.get(row.name, row) if row.state == "active" else row for row in self._rows]


def skill_file(name: str, path: Path) -> Path:
    """Return the SKILL.md that a path names, as a file or by its folder."""
    file = (path / "SKILL.md" if path.is_dir() else path).absolute()
    if not file.is_file():
        raise InputError(
            f"the skill {name!r} cannot be replaced by {path}: there is no SKILL.md",
            hint="name a skill's folder or its SKILL.md",
        )
    return file


def _replaced(skill: Skill, path: Path) -> Skill:
    try:
        mark = file_stamp.kept(path.stat(), file_stamp.now())
        text = frontmatter.decode(read_all(path))
    except OSError as error:
        raise InputError(
            f"the skill {skill.name!r} cannot be replaced by {path}: {error.strerror or error}",
            hint="name a skill's folder or its SKILL.md",
        ) from error
    parsed = frontmatter.parse(text, path, folder=path.parent.name)
    if parsed.broken is not None:
        fault = f"the skill {skill.name!r} cannot be replaced by {path}: {parsed.broken}"
        raise InputError(fault, hint=parsed.broken.remedy)
    described = replace(skill, description=parsed.description, model=parsed.model, extra=parsed.extra)
    # The file's own stamp, so that caches notice an edit.
    return replace(described, file=str(path), stamp=mark)
