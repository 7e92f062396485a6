"""Adding, importing, editing and deleting the skills of a workspace; skills of other sources are read-only."""

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
    """A skill with that id already exists."""

    code = "EXISTS"


@dataclass(frozen=True, slots=True)
class Staged:
    """An unpacked skill that is ready to be moved among the workspace's skills."""

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
        """Whether a skill with that id already exists, so that replacing it needs a confirmation."""
        return os.path.lexists(self.target)

    def commit(self, *, replace: bool = False) -> Path:
        """Move it into place; with `replace` also over an existing skill."""
        if self.exists and not replace:
            hint = "confirm with --yes, or choose another name with --id"
            raise Exists(f"skill {self.id!r} already exists: {self.target}", hint=hint)
        safe_files.make_folder(self.target.parent, below=safe_files.nearest(self.target.parents[2]))
        with _aside(self.target):
            self.folder.rename(self.target)
        return self.target


def add(workspace: Path, name: str, description: str, title: str = "") -> Path:
    """Create a minimal skill and return its SKILL.md; `title` is its heading."""
    if not fits(name):
        better = slug(name)
        hint = f"use {better!r}" if better else "use lower-case letters, digits and hyphens"
        raise InputError(f"{name!r} is not a valid skill name", hint=hint)
    description = " ".join(description.split())
    if not description:
        raise InputError(
            "the description is empty", hint="use --description to say what the skill does and when to use it"
        )
    folder = workspace.absolute() / WORKSPACE / name
    if os.path.lexists(folder):
        raise Exists(f"skill {name!r} already exists: {folder}", hint="edit its SKILL.md, or choose another name")
    title = " ".join(title.split()) or name.replace("-", " ").capitalize()
    text = frontmatter.compose({"name": name, "description": description}, _BODY.format(title=title))
    with _scratch(workspace) as scratch:
        made = scratch / name
        made.mkdir()
        (made / "SKILL.md").write_text(text, encoding="utf-8")
        safe_files.make_folder(folder.parent, below=safe_files.nearest(workspace.absolute()))
        made.rename(folder)
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
    """Unpack a source for import; it is removed again unless it is committed. `at` is the skill's folder in it.

    Errors call the source by its name, if it has one that the user knows better than its path.
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
    """Copy a skill of another source among the workspace's own, where the copy takes its place; returns its folder."""
    if skill.path.name != "SKILL.md" or skill.base_dir == registry.workspace:
        raise InputError(f"skill {skill.name!r} cannot be copied", hint=f"see {skill.path}")
    with stage(skill.base_dir, registry.workspace) as staged:
        folder = staged.commit()
    registry.scan()
    return folder


def skills_in(source: Path) -> list[PurePosixPath]:
    """The folders of all skills in a source; one inside another skill's folder belongs to that skill."""
    with archive.members(source) as files:
        found = sorted({member.path.parent for member in files if member.path.name == "SKILL.md"})
    return [path for path in found if not any(path != other and path.is_relative_to(other) for other in found)]


def delete(registry: Registry, name: str) -> Path:
    """Delete the folder of the workspace's skill or tool; the caller has asked for confirmation."""
    folder, home = (found := own(registry, name)).base_dir, home_of(registry, found)
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
    """A skill's files, relative to its folder, with their sizes."""
    found: list[tuple[str, int]] = []
    for here, folders, names in os.walk(skill.base_dir):
        folders[:] = sorted(set(folders) - {".git", "__pycache__"})
        for name in sorted(names):
            path = Path(here) / name
            with contextlib.suppress(OSError):
                found.append((path.relative_to(skill.base_dir).as_posix(), path.lstat().st_size))
            if len(found) >= limit:
                return found
    return found


def _top(source: str, found: list[archive.Member]) -> PurePosixPath:
    """The folder within the source that contains its SKILL.md."""
    tops = sorted(
        (m.path.parent for m in found if m.path.name == "SKILL.md"),
        key=lambda path: (len(path.parts), str(path)),
    )
    if not tops:
        raise archive.ArchiveRefused(
            f"{source} contains no SKILL.md: nothing was imported", hint="give the folder that contains it"
        )
    level = [path for path in tops if len(path.parts) == len(tops[0].parts)]
    if len(level) > 1:
        names = ", ".join(str(path) for path in level[:5])
        what = f"{source} contains {len(level)} skills ({names})"
        raise archive.ArchiveRefused(what, hint="import all of them with --all, or one of them")
    return tops[0]


def _staged(folder: Path, workspace: Path, wanted: str | None, listed: tuple[str, ...]) -> Staged:
    path = folder / "SKILL.md"
    text = frontmatter.decode(untrusted_files.read(path))
    parsed = frontmatter.parse(text, path)
    if parsed.broken is not None:
        broken = parsed.broken
        raise archive.ArchiveRefused(f"its SKILL.md is broken: line {broken.line}: {broken.what}", hint=broken.remedy)
    name = wanted or parsed.name
    if name != parsed.name:
        text = _renamed(text, name)
        path.write_text(text, encoding="utf-8", newline="")
        parsed = frontmatter.parse(text, path)
    target = workspace.absolute() / WORKSPACE / name
    distrust = tuple(examine(folder))
    return Staged(name, parsed.name, parsed.description, folder, target, listed, parsed.problems, distrust)


def _renamed(text: str, name: str) -> str:
    """A SKILL.md's text with another name; the old name would shadow another skill or be shadowed."""
    text = text.replace("\r\n", "\n")
    block = frontmatter.split(text).block
    named, found = re.subn(r"^ *name *:.*$", f"name: {name}", block, count=1, flags=re.MULTILINE)
    return text.replace(block, named if found else f"name: {name}\n{block}", 1)


@contextlib.contextmanager
def _scratch(workspace: Path) -> Iterator[Path]:
    """A temporary folder on the skills' file system where no scan looks; removed afterwards."""
    base = workspace.absolute() / ".agents"
    made = not base.exists()
    safe_files.make_folder(base, below=safe_files.nearest(workspace.absolute()))
    scratch = Path(tempfile.mkdtemp(prefix=".goalwright-", dir=base))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if made:
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
