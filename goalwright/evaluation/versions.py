"""Other versions of a skill: from a folder, from git, or with an edit; each is kept in a folder of its own.

The folder's name is the hash of its files, so that an evaluation that is resumed finds the same one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.fingerprint import all_files
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.skill import Skill

FILE = "SKILL.md"
_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024**2
_SECONDS = 60
# Nothing that a repository's own settings name is started, and nothing is fetched.
_FIXED = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")

Files = dict[str, tuple[bytes, bool]]


def find_skill(skills: WorkspaceSkills, name: str) -> Skill:
    """The active skill of that name; raises InputError if there is none."""
    for skill in (active := skills.active()):
        if skill.name == name:
            return skill
    near = nearest_names(name, [skill.name for skill in active])
    raise InputError(f"there is no skill {name!r}; known skills: {near}", hint="use one of these names")


def files_of(folder: Path) -> Files:
    """The files of a skill, by their paths in it, each with whether it can be executed."""
    found: Files = {}
    total = 0
    for path in all_files(folder):
        if not untrusted_files.is_regular(path) or ".git" in path.relative_to(folder).parts:
            continue
        data = untrusted_files.read(path, _MOST_BYTES)
        total += len(data)
        if len(found) >= _MOST_FILES or total > _MOST_BYTES:
            raise InputError(f"{folder} is too large to compare", hint="move data out of the skill's folder")
        found[path.relative_to(folder).as_posix()] = (data, os.access(path, os.X_OK))
    return found


def old_files(skill: Skill, old: str) -> Files:
    """The files of another version: a folder, a SKILL.md, or a commit, branch or tag of git."""
    path = Path(old)
    if path.is_dir():
        found = files_of(path)
    elif path.is_file():
        found = files_of(skill.base_dir) | {FILE: (untrusted_files.read(path), False)}
    else:
        found = _in_git(skill.base_dir, old)
    if FILE not in found:
        raise InputError(
            f"{old} has no {FILE} of {skill.name}", hint="name a skill's folder, its SKILL.md, or a commit"
        )
    return found


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version on disk: the skill is in `folder`, and `root` is to be used as `skills_dir`."""

    root: Path
    folder: Path


def kept(cache: Path, skill: Skill, files: Mapping[str, tuple[bytes, bool]], skills_dir: Path | None) -> KeptVersion:
    """Write these files as a version of the skill; the other skills of `skills_dir` are linked beside it."""
    digest = hashlib.sha256(skill.name.encode())
    place = _place(skill, skills_dir)
    if skills_dir is not None:
        digest.update(f"\0{skills_dir}\0{place}".encode(errors="surrogateescape"))
    for path, (data, runs) in sorted(files.items()):
        digest.update(f"\0{path}\0{runs}\0{len(data)}\0".encode() + data)
    home = cache / "versions" / digest.hexdigest()[:32]
    for path, (data, runs) in files.items():
        target = home / place / path
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise InputError(f"a file of {skill.name} leads out of its folder: {path}", hint="remove it")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != data:
            target.write_bytes(data)
        target.chmod(0o755 if runs else 0o644)
    if skills_dir is not None and skill.base_dir != skills_dir:
        _link_others(home, skills_dir, place, Path(os.path.realpath(skill.base_dir)))
    return KeptVersion(home, home / place)


def _place(skill: Skill, skills_dir: Path | None) -> Path:
    """Where a version is below its root: where the skill is in `skills_dir`, so that all skills keep their order."""
    if skills_dir is None or skill.base_dir == skills_dir:
        return Path(skill.name)
    if skill.base_dir.is_relative_to(skills_dir):
        return skill.base_dir.relative_to(skills_dir)
    place = Path(skill.name)
    while os.path.lexists(skills_dir / place):
        place = "_" / place
    return place


def _link_others(home: Path, skills_dir: Path, place: Path, real: Path) -> None:
    """Link what is in `skills_dir` beside a place in it; not what leads to the skill by another way."""
    here, there = home, skills_dir
    for part in place.parts:
        for entry in there.iterdir() if there.is_dir() else ():
            if entry.name != part and not real.is_relative_to(os.path.realpath(entry)):
                with suppress(FileExistsError):
                    (here / entry.name).symlink_to(entry)
        here, there = here / part, there / part


def _in_git(folder: Path, ref: str) -> Files:
    """The files of a folder at a commit, read without running anything that the repository names."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").decode().strip()
    listed = _git(folder, "ls-tree", "-r", "-z", "-l", commit, ".").decode(errors="surrogateescape")
    found: Files = {}
    total = 0
    for line in filter(None, listed.split("\0")):
        meta, _, path = line.partition("\t")
        mode, kind, blob, size = meta.split()
        if kind != "blob" or mode == "120000":
            continue
        total += int(size)
        if len(found) >= _MOST_FILES or total > _MOST_BYTES:
            raise InputError(f"{folder} is too large at {ref}", hint="name a folder with --old instead")
        found[path] = (_git(folder, "cat-file", "blob", blob), mode == "100755")
    return found


def _git(folder: Path, *arguments: str) -> bytes:
    git = toolchain.find("git", "install git, or name a folder")
    env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    settings = [part for setting in _FIXED for part in ("-c", setting)]
    try:
        done = subprocess.run(
            [git, *settings, *arguments],
            cwd=folder,
            env=env | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"git took longer than {_SECONDS} s in {folder}", hint="name a folder instead") from error
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        what = why[0] if why else "there is no such commit, branch or tag"
        raise InputError(
            f"--old is neither a path nor known to git: {what}", hint="name a folder, a SKILL.md or a commit"
        )
    return done.stdout
