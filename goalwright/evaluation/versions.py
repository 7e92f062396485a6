"""The variants of a skill that are compared: without and with it, or an old and the current version.

Each other version, from a folder, from git or with an edit, is kept in a folder that is named after the hash of its
files, so that a resumed evaluation finds the same one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright.evaluation.trials import Variant
from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.fingerprint import all_files
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.skill import Skill


FILE = "SKILL.md"
_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024**2
_SECONDS = 60
# Do not run programs that the repository configures, and fetch nothing.
_GIT_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")

Files = dict[str, tuple[bytes, bool]]


def find_skill(skills: WorkspaceSkills, name: str) -> Skill:
    """Find an active skill by name; raises InputError if there is none."""
    for skill in (active := skills.active()):
        if skill.name == name:
            return skill
    near = nearest_names(name, [skill.name for skill in active])
    raise InputError(f"there is no skill {name!r}; known skills: {near}", hint="use one of these names")


def files_of(folder: Path) -> Files:
    """Read the files of a skill by relative path, each with whether it is executable."""
    files: Files = {}
    total = 0
    for path in all_files(folder):
        if not untrusted_files.is_regular(path) or ".git" in path.relative_to(folder).parts:
            continue
        data = untrusted_files.read(path, _MOST_BYTES)
        total += len(data)
        if len(files) >= _MOST_FILES or total > _MOST_BYTES:
            raise InputError(f"{folder} is too large to compare", hint="move data out of the skill's folder")
        files[path.relative_to(folder).as_posix()] = (data, os.access(path, os.X_OK))
    return files


def old_files(skill: Skill, old: str) -> Files:
    """Read an old version of a skill from a folder, a SKILL.md, or a git commit, branch or tag."""
    path = Path(old)
    if path.is_dir():
        files = files_of(path)
    elif path.is_file():
        files = files_of(skill.base_dir) | {FILE: (untrusted_files.read(path), False)}
    else:
        files = _files_in_git(skill.base_dir, old)
    if FILE not in files:
        raise InputError(
            f"{old} has no {FILE} of {skill.name}", hint="name a skill's folder, its SKILL.md, or a commit"
        )
    return files


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version on disk: the skill is in `folder`; use `root` as `skills_dir`."""

    root: Path
    folder: Path


def kept(cache: Path, skill: Skill, files: Mapping[str, tuple[bytes, bool]], skills_dir: Path | None) -> KeptVersion:
    """Write files as a version of the skill, and link the other skills of `skills_dir` beside it."""
    digest = hashlib.sha256(skill.name.encode())
    subfolder = _subfolder(skill, skills_dir)
    if skills_dir is not None:
        digest.update(f"\0{skills_dir}\0{subfolder}".encode(errors="surrogateescape"))
    for path, (data, executable) in sorted(files.items()):
        digest.update(f"\0{path}\0{executable}\0{len(data)}\0".encode() + data)
    home = cache / "versions" / digest.hexdigest()[:32]
    for path, (data, executable) in files.items():
        target = home / subfolder / path
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise InputError(f"a file of {skill.name} is outside its folder: {path}", hint="remove it")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != data:
            target.write_bytes(data)
        target.chmod(0o755 if executable else 0o644)
    if skills_dir is not None and skill.base_dir != skills_dir:
        _link_others(home, skills_dir, subfolder, Path(os.path.realpath(skill.base_dir)))
    return KeptVersion(home, home / subfolder)


def _subfolder(skill: Skill, skills_dir: Path | None) -> Path:
    """Return the folder of a version below its root: as in `skills_dir`, so that the order of skills is kept."""
    if skills_dir is None or skill.base_dir == skills_dir:
        return Path(skill.name)
    if skill.base_dir.is_relative_to(skills_dir):
        return skill.base_dir.relative_to(skills_dir)
    subfolder = Path(skill.name)
    while os.path.lexists(skills_dir / subfolder):
        subfolder = "_" / subfolder
    return subfolder


def _link_others(home: Path, skills_dir: Path, subfolder: Path, skill_folder: Path) -> None:
    """Link the entries of `skills_dir` beside the subfolder, except other paths to the same skill."""
    target, source = home, skills_dir
    for part in subfolder.parts:
        for entry in source.iterdir() if source.is_dir() else ():
            if entry.name != part and not skill_folder.is_relative_to(os.path.realpath(entry)):
                with suppress(FileExistsError):
                    (target / entry.name).symlink_to(entry)
        target, source = target / part, source / part


def _files_in_git(folder: Path, ref: str) -> Files:
    """Read the files of a folder at a commit without running programs that the repository configures."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").decode().strip()
    listed = _git(folder, "ls-tree", "-r", "-z", "-l", commit, ".").decode(errors="surrogateescape")
    files: Files = {}
    total = 0
    for line in filter(None, listed.split("\0")):
        meta, _, path = line.partition("\t")
        mode, kind, blob, size = meta.split()
        if kind != "blob" or mode == "120000":
            continue
        total += int(size)
        if len(files) >= _MOST_FILES or total > _MOST_BYTES:
            raise InputError(f"{folder} is too large at {ref}", hint="name a folder instead of a commit")
        files[path] = (_git(folder, "cat-file", "blob", blob), mode == "100755")
    return files


def _git(folder: Path, *arguments: str) -> bytes:
    git = toolchain.find("git", "install git, or name a folder")
    env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    settings = [part for setting in _GIT_SETTINGS for part in ("-c", setting)]
    try:
        completed = subprocess.run(
            [git, *settings, *arguments],
            cwd=folder,
            env=env | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"git took longer than {_SECONDS} s in {folder}", hint="name a folder instead") from error
    if completed.returncode:
        errors = completed.stderr.decode(errors="replace").strip().splitlines()
        reason = errors[0] if errors else "there is no such commit, branch or tag"
        raise InputError(
            f"the old version is neither a path nor known to git: {reason}",
            hint="name a folder, a SKILL.md or a commit",
        )
    return completed.stdout


def skill_variants(skill: Skill, old: str | None, paths: Paths, settings: Settings) -> tuple[Variant, Variant]:
    """Return the variants without and with the skill, or with `old`, its old and its current version."""
    if old is not None:
        check_replaceable(skill)
        own_paths = paths.with_skills(settings.skills_dir)
        old_version = kept(own_paths.cache, skill, old_files(skill, old), own_paths.skills_dir)
        return version("old", skill.name, old_version), Variant("new", {}, (skill.name,))
    names = tuple(dict.fromkeys((*settings.skills_without, skill.name)))
    without = Variant("without", {"skills_without": names})
    return without, Variant("with", {}, (skill.name,))


def version(name: str, skill: str, kept: KeptVersion) -> Variant:
    """Return a variant with another version of the skill; all other skills are the same."""
    return Variant(name, {"skills_dir": str(kept.root)}, (skill,))


def check_replaceable(skill: Skill) -> None:
    """Raise if no other version of the skill can replace it."""
    if skill.source == "system":
        raise InputError(
            f"{skill.name} is in {skill.base_dir}, which takes precedence over every other version",
            hint="move it to .agents/skills first",
        )
