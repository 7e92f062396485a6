"""Adds, imports and deletes the skills of a workspace; skills of other sources are read-only."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.discovery.locations import WORKSPACE
from goalwright_skills.errors import InputError
from goalwright_skills.format import frontmatter
from goalwright_skills.manage import archive
from goalwright_skills.manage.edit import home_of, own
from goalwright_skills.manage.suspicion import Suspicion, examine
from goalwright_skills.skill import fits, slug

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.skill import Problem, Skill

_BODY = """
# {title}

Describe here, step by step, how to do it, what the result looks like, and give an example.

$ARGUMENTS
"""


class Exists(InputError):
    """A skill with that id already exists; `replaceable` if the user can confirm its replacement."""

    code = "EXISTS"

    def __init__(self, message: str, *, hint: str = "", replaceable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.replaceable = replaceable


class SeveralSkills(archive.ArchiveRefused):
    """The source contains several skills, so that one must be named."""


@dataclass(frozen=True, slots=True)
class Staged:
    """An unpacked skill that is ready to be moved into the workspace."""

    id: str
    name: str
    description: str
    folder: Path
    target: Path
    files: tuple[str, ...]
    problems: tuple[Problem, ...]
    distrust: tuple[Suspicion, ...]

    @property
    def exists(self) -> bool:
        """Whether a skill with that id already exists, whose replacement needs a confirmation."""
        return os.path.lexists(self.target)

    def commit(self, *, replace: bool = False) -> Path:
        """Move it into place; with `replace`, an existing skill is replaced."""
        if self.exists and not replace:
            hint = "confirm the replacement, or choose another name"
            raise Exists(f"skill {self.id!r} already exists: {self.target}", hint=hint, replaceable=True)
        safe_files.make_folder(self.target.parent, below=safe_files.nearest(self.target.parents[2]))
        with _aside(self.target):
            self.folder.rename(self.target)
        return self.target


def add(workspace: Path, name: str, description: str, title: str = "") -> Path:
    """Create a minimal skill and return its SKILL.md; `title` is its heading."""
    if not fits(name):
        suggestion = slug(name)
        hint = f"use {suggestion!r}" if suggestion else "use lower-case letters, digits and hyphens"
        raise InputError(f"{name!r} is not a valid skill name", hint=hint)
    description = " ".join(description.split())
    if not description:
        raise InputError("the description is empty", hint="describe what the skill does and when to use it")
    folder = workspace.absolute() / WORKSPACE / name
    if os.path.lexists(folder):
        raise Exists(f"skill {name!r} already exists: {folder}", hint="edit its SKILL.md, or choose another name")
    title = " ".join(title.split()) or name.replace("-", " ").capitalize()
    text = frontmatter.compose({"name": name, "description": description}, _BODY.format(title=title))
    with _scratch(workspace) as scratch:
        draft = scratch / name
        draft.mkdir()
        (draft / "SKILL.md").write_text(text, encoding="utf-8")
        safe_files.make_folder(folder.parent, below=safe_files.nearest(workspace.absolute()))
        draft.rename(folder)
    return folder / "SKILL.md"


@contextlib.contextmanager
def stage(
    source: Path,
    workspace: Path,
    *,
    id: str | None = None,  # noqa: A002 (the flag's name)
    at: PurePosixPath | None = None,
    name: str = "",
) -> Iterator[Staged]:
    """Unpack a source for import; the files are removed unless they are committed. `at` is the skill's folder in it.

    Errors name the source by `name`, or else by its path.
    """
    if id is not None and not fits(id):
        hint = f"use {slug(id)!r}" if slug(id) else "use letters and digits"
        raise InputError(f"{id!r} is not a valid skill name", hint=hint)
    if not source.exists():
        raise InputError(
            f"{source} does not exist", hint="give a folder, an archive or the address of a git repository"
        )
    with archive.members(source, name=name) as files:
        top = at if at is not None else _top(name or str(source), files)
        kept = [member for member in files if member.path.is_relative_to(top)]
        moved = [archive.Member(m.path.relative_to(top), m.open, m.executable) for m in kept]
        packed = source.stat().st_size if source.is_file() else 0
        with _scratch(workspace) as scratch:
            folder = scratch / "skill"
            folder.mkdir()
            archive.unpack(moved, folder, packed)
            listed = tuple(sorted(member.path.as_posix() for member in moved))
            yield _staged(folder, workspace, id, listed)


def copy(registry: Registry, skill: Skill) -> Path:
    """Copy a skill of another source into the workspace, where it shadows the original; returns its folder."""
    if skill.path.name != "SKILL.md" or skill.base_dir == registry.workspace:
        raise InputError(f"skill {skill.name!r} cannot be copied", hint=f"see {skill.path}")
    with stage(skill.base_dir, registry.workspace) as staged:
        folder = staged.commit()
    registry.scan()
    return folder


def skills_in(source: Path) -> list[PurePosixPath]:
    """Return the folders of all skills in a source; a skill inside another skill's folder belongs to that skill."""
    with archive.members(source) as files:
        folders = sorted({member.path.parent for member in files if member.path.name == "SKILL.md"})
    return [path for path in folders if not any(path != other and path.is_relative_to(other) for other in folders)]


def delete(registry: Registry, name: str) -> Path:
    """Delete the folder of the workspace's skill or tool; the caller asks for confirmation."""
    skill = own(registry, name)
    folder, home = skill.base_dir, home_of(registry, skill)
    if folder.is_symlink():
        folder.unlink()
    elif home is None or not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(home)):
        raise InputError(f"{folder} is behind a link that leads outside", hint="delete its folder yourself")
    else:
        with _scratch(registry.workspace) as scratch:
            folder.rename(scratch / "deleted")
    registry.scan()
    return folder


def files(skill: Skill, limit: int = 5_000) -> list[tuple[str, int]]:
    """Return a skill's files, relative to its folder, with their sizes."""
    sizes: list[tuple[str, int]] = []
    for parent, folders, names in os.walk(skill.base_dir):
        folders[:] = sorted(set(folders) - {".git", "__pycache__"})
        for name in sorted(names):
            path = Path(parent) / name
            with contextlib.suppress(OSError):
                sizes.append((path.relative_to(skill.base_dir).as_posix(), path.lstat().st_size))
            if len(sizes) >= limit:
                return sizes
    return sizes


def _top(source: str, members: list[archive.Member]) -> PurePosixPath:
    """Return the folder within the source that contains its SKILL.md."""
    tops = sorted(
        (m.path.parent for m in members if m.path.name == "SKILL.md"),
        key=lambda path: (len(path.parts), str(path)),
    )
    if not tops:
        raise archive.ArchiveRefused(
            f"{source} contains no SKILL.md: nothing was imported", hint="give the folder that contains it"
        )
    level = [path for path in tops if len(path.parts) == len(tops[0].parts)]
    if len(level) > 1:
        names = ", ".join(str(path) for path in level[:5])
        raise SeveralSkills(f"{source} contains {len(level)} skills ({names})", hint="import all of them, or name one")
    return tops[0]


def _staged(folder: Path, workspace: Path, id: str | None, listed: tuple[str, ...]) -> Staged:  # noqa: A002
    path = folder / "SKILL.md"
    text = frontmatter.decode(untrusted_files.read(path))
    parsed = frontmatter.parse(text, path)
    if parsed.broken is not None:
        broken = parsed.broken
        raise archive.ArchiveRefused(f"its SKILL.md is broken: line {broken.line}: {broken.what}", hint=broken.remedy)
    name = id or parsed.name
    if name != parsed.name:
        text = _renamed(text, name)
        path.write_text(text, encoding="utf-8", newline="")
        parsed = frontmatter.parse(text, path)
    target = workspace.absolute() / WORKSPACE / name
    distrust = tuple(examine(folder))
    return Staged(name, parsed.name, parsed.description, folder, target, listed, parsed.problems, distrust)


def _renamed(text: str, name: str) -> str:
    """Change the name in a SKILL.md; the old name would shadow another skill or be shadowed."""
    text = text.replace("\r\n", "\n")
    block = frontmatter.split(text).block
    renamed, replacements = re.subn(r"^ *name *:.*$", f"name: {name}", block, count=1, flags=re.MULTILINE)
    return text.replace(block, renamed if replacements else f"name: {name}\n{block}", 1)


@contextlib.contextmanager
def _scratch(workspace: Path) -> Iterator[Path]:
    """Create a temporary folder on the skills' file system that no scan searches, and remove it afterwards."""
    base = workspace.absolute() / ".agents"
    is_new = not base.exists()
    safe_files.make_folder(base, below=safe_files.nearest(workspace.absolute()))
    scratch = Path(tempfile.mkdtemp(prefix=".goalwright-", dir=base))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if is_new:
            with contextlib.suppress(OSError):
                base.rmdir()


@contextlib.contextmanager
def _aside(target: Path) -> Iterator[None]:
    """Move an existing target aside; it is restored if the change fails and deleted otherwise."""
    if not os.path.lexists(target):
        yield
        return
    aside = Path(tempfile.mkdtemp(prefix=".goalwright-", dir=target.parent.parent)) / "old"
    target.rename(aside)
    try:
        yield
    except BaseException:
        aside.rename(target)
        raise
    finally:
        if aside.is_symlink():
            aside.unlink()
        shutil.rmtree(aside.parent, ignore_errors=True)
