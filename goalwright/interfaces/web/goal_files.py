"""The files that a request gives with a goal: named below the workspace, or uploaded.

A run works with copies of uploads in its own folder. They are kept as drafts until it has begun: a plan that is made
before names the drafts, and the copies when it is run.
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
    """The files of one request, where they are now; `uploads` are those that were uploaded, by their keys.

    Uploads of the same name get numbers: `data.csv` and `data-2.csv`. `copies` are those that a run has of them, by all
    names that a plan may have for them.
    """

    workspace: Path
    drafts: Drafts
    paths: tuple[Path, ...]
    uploads: Mapping[str, Path]
    copies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, workspace: Path, drafts: Drafts, names: Sequence[str]) -> Self:
        """The files of these names; raises if one cannot be a file, or is no upload."""
        keys = dict.fromkeys(name.removeprefix(_UPLOAD) for name in names if name.startswith(_UPLOAD))
        named = zip(keys, distinct([drafts.file(key).name for key in keys]), strict=True)
        uploads = {key: drafts.file(key, name) for key, name in named}
        paths = (
            uploads[name.removeprefix(_UPLOAD)] if name.startswith(_UPLOAD) else inside(workspace, name)
            for name in names
        )
        return cls(workspace, drafts, tuple(dict.fromkeys(paths)), uploads)

    def copied(self, run_id: str) -> Self:
        """The files as a run has them: uploads are copied into its folder."""
        copies, names = dict[Path, Path](), dict[str, str]()
        for key, upload in self.uploads.items():
            copies[upload] = copy = self._folder(run_id) / "files" / upload.name
            try:
                content = upload.read_bytes()
                names |= {str(name): str(copy) for name in upload.parent.iterdir()}
            except FileNotFoundError as error:  # another run has begun with it meanwhile
                raise unknown(key) from error
            safe_files.write(copy, content, below=self.workspace)
        return replace(self, paths=tuple(copies.get(path, path) for path in self.paths), copies=names)

    def named_in(self, plan: Plan) -> Plan:
        """The plan, with the names of the run's copies for the uploads that it was made for."""
        names = self.copies
        if not names:
            return plan
        pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))

        def renamed(text: str) -> str:
            return pattern.sub(lambda found: names[found[0]], text)

        return Plan.from_dict(_with_texts(plan.to_dict(), renamed))

    @contextmanager
    def used_by(self, run_id: str) -> Iterator[None]:
        """Drop the uploads once the block has begun the run; if it could not, the copies are removed instead."""
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
    """A JSON value with all its strings changed, except keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with_texts(one, change) for key, one in value.items()}
    return [_with_texts(one, change) for one in value] if isinstance(value, list | tuple) else value


def distinct(names: Sequence[str]) -> list[str]:
    """File names that differ, also where upper and lower case do not count: one that is taken gets a number."""
    given, taken = {name.casefold() for name in names}, set[str]()
    found = []
    for name in names:
        path, free, number = PurePath(name), name, 1
        while free.casefold() in taken or (number > 1 and free.casefold() in given):
            number += 1
            free = f"{path.stem}-{number}{path.suffix}"
        taken.add(free.casefold())
        found.append(free)
    return found


def inside(workspace: Path, name: str) -> Path:
    """A path below the workspace, links resolved; whether there is a file is not looked at."""
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
