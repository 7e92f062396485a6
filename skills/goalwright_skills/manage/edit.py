"""Reads and writes single files of a skill, never through a link and never outside its folder."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.discovery.locations import PROJECT, WORKSPACE
from goalwright_skills.errors import InputError, UnknownSkill

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.skill import Skill

LARGEST = 1_000_000
_PRIVATE = frozenset({".git"})


class UnknownFile(InputError):
    """The skill has no such file."""

    code = "NOT_FOUND"


class FileChanged(InputError):
    """The file is not the one that was read before."""

    code = "FILE_CHANGED"


@dataclass(frozen=True, slots=True)
class SkillText:
    """A file's text, and the hash of its bytes, which a later write needs to detect changes."""

    text: str
    sha256: str


def read(skill: Skill, path: str) -> SkillText:
    """Return the text of a skill's file."""
    file = skill.base_dir.joinpath(*_parts(path))
    safe_files.refuse_links(file, below=skill.base_dir)
    if not file.is_file():
        raise UnknownFile(f"skill {skill.name!r} has no file {path!r}", hint="name one of the skill's files")
    if file.stat().st_size > LARGEST:
        raise InputError(f"{file} has more than {LARGEST:,} bytes", hint="open it with another program")
    data = untrusted_files.read(file, LARGEST)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text", hint="open it with another program") from error
    if "\0" in text:
        raise InputError(f"{file} is a binary file", hint="open it with another program")
    return SkillText(text, hashlib.sha256(data).hexdigest())


def write(registry: Registry, name: str, path: str, text: str, seen: str, *, project: bool = False) -> SkillText:
    """Replace or create a file of a workspace's skill.

    `seen` is the hash with which the file was read, or empty for a new file. Here and below, `project` also allows
    changes to skills among the project's files.
    """
    if "\0" in text or len(text.encode()) > LARGEST:
        raise InputError(f"{path}: only text of up to {LARGEST:,} bytes is written", hint="use another program")
    _, file, home = _own_file(registry, name, path, seen, project=project)
    safe_files.write(file, text, below=home, executable=_is_executable(file))
    registry.scan()
    return SkillText(text, hashlib.sha256(text.encode()).hexdigest())


def remove(registry: Registry, name: str, path: str, seen: str, *, project: bool = False) -> None:
    """Delete a file of a workspace's skill; its SKILL.md or skill.yaml cannot be deleted."""
    skill, file, home = _own_file(registry, name, path, seen, project=project)
    _refuse_main(skill, file)
    safe_files.remove_if(file, untrusted_files.read(file), below=home)
    registry.scan()


def rename(registry: Registry, name: str, path: str, to: str, seen: str, *, project: bool = False) -> None:
    """Move a file of a workspace's skill to a free path in its folder."""
    skill, file, home = _own_file(registry, name, path, seen, project=project)
    _refuse_main(skill, file)
    _, target, _ = _own_file(registry, name, to, "", project=project)
    data = untrusted_files.read(file)
    safe_files.write(target, data, below=home, executable=_is_executable(file))
    safe_files.remove_if(file, data, below=home)
    registry.scan()


def own(registry: Registry, name: str, *, alone: bool = True, project: bool = False) -> Skill:
    """Return the workspace's own skill or tool, by its name or the name of a tool's folder; raises if there is none.

    With `alone`, its folder must not contain other skills, as for deletion. With `project`, skills among the project's
    files count too.
    """
    rows = registry.list_skills(all=True)
    named = [row for row in rows if row.name == name]
    named = named or [row for row in rows if row.kind == "executable" and row.base_dir.name == name]
    owned = [row for row in named if home_of(registry, row) or (project and project_home(registry, row))]
    skill = next((row for row in owned if row.state == "active"), owned[0] if owned else None)
    if skill is None and named:
        hide = f"hide it with SKILL_{name.upper().replace('-', '_')}_ENABLED=false"
        raise InputError(
            f"skill {name!r} is read-only, since its source is {named[0].source}: {named[0].path}",
            hint=hide if named[0].source == "bundled" else f"delete its folder yourself, or {hide}",
        )
    if skill is None:
        raise UnknownSkill(f"there is no skill {name!r} in this workspace", hint="`goalwright skills list` shows all")
    if not alone:
        return skill
    folder = skill.base_dir
    inner = {row.name for row in rows if row.base_dir != folder and row.path.is_relative_to(folder)}
    if folder == home_of(registry, skill) or inner:
        names = ", ".join(sorted(inner)[:5]) or "all other skills"
        raise InputError(f"{folder} also contains {names}", hint="delete those first, or the file yourself")
    return skill


def home_of(registry: Registry, skill: Skill) -> Path | None:
    """Return the folder of a skill or tool that the user added, imported or created; None for all others."""
    if skill.source == "workspace":
        return registry.workspace / WORKSPACE
    tools = registry.workspace / "skills"
    return tools if skill.base_dir.is_relative_to(tools) and (skill.base_dir / "skill.yaml").is_file() else None


def project_home(registry: Registry, skill: Skill) -> Path | None:
    """Return the folder of the project's skills that contains a skill; None for all others."""
    folders = [registry.workspace / name for name in PROJECT] if skill.source == "project" else []
    return next((folder for folder in folders if skill.base_dir.is_relative_to(folder)), None)


def _own_file(registry: Registry, name: str, path: str, seen: str, *, project: bool) -> tuple[Skill, Path, Path]:
    """Return a skill of the workspace, a file in its folder that still has the hash `seen`, and the skills' folder."""
    skill = own(registry, name, alone=False, project=project)
    home = (project and project_home(registry, skill)) or registry.workspace / WORKSPACE
    if not skill.base_dir.is_relative_to(home):
        raise InputError(f"skill {name!r} is not in {home}", hint=f"edit {skill.base_dir} with another program")
    file = skill.base_dir.joinpath(*_parts(path))
    safe_files.refuse_links(file, below=home)
    if _hash(file) != seen:
        raise FileChanged(f"{file} has changed since it was read", hint="read it again, then repeat your change")
    return skill, file, home


def _refuse_main(skill: Skill, file: Path) -> None:
    if file in (skill.file, skill.base_dir / "SKILL.md"):
        raise InputError(f"{file.name} makes {skill.name!r} a skill", hint="delete the skill instead")
    if not file.is_file():
        raise UnknownFile(f"skill {skill.name!r} has no file {file.name!r}", hint="name one of the skill's files")


def _is_executable(file: Path) -> bool:
    return file.exists() and bool(file.stat().st_mode & stat.S_IXUSR)


def _parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path inside a skill's folder."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or any(part in ("..", ".") or "\\" in part or "\0" in part for part in parts):
        raise InputError(f"{path!r} is not a path inside the skill's folder", hint="name it relative to that folder")
    if _PRIVATE & set(parts):
        raise InputError(f"{path!r} belongs to git", hint="use git")
    return parts


def _hash(file: Path) -> str:
    """Return the hash of a file's bytes, or an empty string if there is no file."""
    if not os.path.lexists(file):
        return ""
    if not file.is_file():
        raise InputError(f"{file} is not a file", hint="name a file")
    return hashlib.sha256(untrusted_files.read(file)).hexdigest()
