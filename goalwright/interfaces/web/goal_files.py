"""The files of a goal: named below the workspace, or uploaded.

A run gets copies of uploads in its own folder. The uploads remain drafts until the run has started: a plan made earlier
names the drafts, and its paths are replaced by those of the copies.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web.drafts import unknown
from goalwright_executor.results.artifacts import Artifacts
from goalwright_planner.plan.plan import Plan
from goalwright_skills import safe_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from goalwright.interfaces.web.drafts import Drafts

_UPLOAD = "upload:"


@dataclass(frozen=True, slots=True)
class GoalFiles:
    """The files of one request, with uploads by key.

    Uploads of the same name get numbers: `data.csv` and `data-2.csv`. `copies` maps each path by which a plan may name
    an upload to the run's copy.
    """

    workspace: Path
    drafts: Drafts
    paths: tuple[Path, ...]
    uploads: Mapping[str, Path]
    copies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, workspace: Path, drafts: Drafts, names: Sequence[str]) -> Self:
        """Return the files of these names; raise if a name is invalid or there is no such upload."""
        keys = dict.fromkeys(name.removeprefix(_UPLOAD) for name in names if name.startswith(_UPLOAD))
        upload_names = distinct([drafts.file(key).name for key in keys])
        uploads = {key: drafts.file(key, name) for key, name in zip(keys, upload_names, strict=True)}
        paths = (
            uploads[name.removeprefix(_UPLOAD)] if name.startswith(_UPLOAD) else inside(workspace, name)
            for name in names
        )
        return cls(workspace, drafts, tuple(dict.fromkeys(paths)), uploads)

    def copied(self, run_id: str) -> Self:
        """Copy the uploads into a run's folder, and return the files with these copies."""
        copies, names = dict[Path, Path](), dict[str, str]()
        for key, upload in self.uploads.items():
            copies[upload] = copy = self._folder(run_id) / "files" / upload.name
            try:
                content = upload.read_bytes()
                names |= {str(name): str(copy) for name in upload.parent.iterdir()}
            except FileNotFoundError as error:  # another run has taken it meanwhile
                raise unknown(key) from error
            safe_files.write(copy, content, below=self.workspace)
        return replace(self, paths=tuple(copies.get(path, path) for path in self.paths), copies=names)

    def named_in(self, plan: Plan) -> Plan:
        """Return the plan with the paths of uploads replaced by those of the run's copies."""
        names = self.copies
        if not names:
            return plan
        pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))

        def renamed(text: str) -> str:
            return pattern.sub(lambda match: names[match[0]], text)

        return Plan.from_dict(_with_texts(plan.to_dict(), renamed))

    @contextmanager
    def used_by(self, run_id: str) -> Iterator[None]:
        """Drop the uploads after the block has started the run; if that fails, remove the copies instead."""
        try:
            yield
        except Exception:
            if self.uploads:
                safe_files.remove_tree(self._folder(run_id))
            raise
        for key in self.uploads:
            self.drafts.forget(key)

    def _folder(self, run_id: str) -> Path:
        return Artifacts.of(self.workspace, run_id).folder.parent


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with all its strings changed, except keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with_texts(item, change) for key, item in value.items()}
    return [_with_texts(item, change) for item in value] if isinstance(value, list | tuple) else value


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names with numbers added to duplicates; upper and lower case count as equal."""
    reserved, taken = {name.casefold() for name in names}, set[str]()
    unique = []
    for name in names:
        path, free, number = PurePath(name), name, 1
        while free.casefold() in taken or (number > 1 and free.casefold() in reserved):
            number += 1
            free = f"{path.stem}-{number}{path.suffix}"
        taken.add(free.casefold())
        unique.append(free)
    return unique


def inside(workspace: Path, name: str) -> Path:
    """Return a path below the workspace, with links resolved; the file need not exist."""
    root = workspace.resolve()
    path = Path(os.path.realpath(root / name)) if name and "\0" not in name else root
    if path == root or not path.is_relative_to(root):
        raise InputError(f"{name[:200]!r} is not below the workspace", hint="name a file below it, or upload it")
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return path
    except OSError as error:
        raise InputError(f"{name[:200]!r} cannot be read: {error.strerror}", hint="name another file") from error
    return path
