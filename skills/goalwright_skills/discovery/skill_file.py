"""Reads SKILL.md and skill.yaml files at discovery, and a whole SKILL.md when a task needs it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.discovery.scan import Entry
from goalwright_skills.format import frontmatter
from goalwright_skills.skill import Problem, Skill, slug

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright_skills.discovery.locations import Location
    from goalwright_skills.discovery.scan import Found
    from goalwright_skills.skill import State

FILE_LIMIT = untrusted_files.LARGEST
_FIRST_READ = 4 * 1024
_HEAD_LIMIT = 4 * frontmatter.FRONTMATTER_LIMIT


def context(found: Found, location: Location) -> Entry:
    """Return the entry of a SKILL.md, without reading its body."""
    path = Path(found.path)
    folder = "" if location.single else path.parent.name
    try:
        parsed = frontmatter.parse(frontmatter.decode(_head(found)), path, folder=folder)
    except OSError as error:
        message = f"it cannot be read ({error.strerror or error})"
        problem = Problem(path, 1, message, "make it a readable text file", "unreadable")
        parsed = frontmatter.Parsed(slug(path.parent.name), "", "", problems=(problem,), broken=problem)
    skill = Skill(
        name=parsed.name,
        description=parsed.description,
        file=found.path,
        source=location.source,
        state="active" if parsed.broken is None else "broken",
        reason=None if parsed.broken is None else parsed.broken.reason,
        model=parsed.model,
        extra=parsed.extra,
        stamp=found.stamp,
    )
    return Entry(found, (skill,), parsed.problems)


def read_all(path: Path | str) -> bytes:
    """Return the bytes of a regular file of at most `FILE_LIMIT`; raises OSError for anything else."""
    return untrusted_files.read(path, FILE_LIMIT)


def _head(found: Found) -> bytes:
    """Return the start of the file, up to the end of its frontmatter."""
    if not found.regular:
        raise OSError(errno.EINVAL, "it is not a regular file")
    descriptor = untrusted_files.open_regular(found.path, FILE_LIMIT)
    try:
        data = os.read(descriptor, _FIRST_READ)
        end = data.find(b"\n---\n", 3) if data.startswith((b"---", b"\xef\xbb\xbf---")) else -1
        if end > 0:
            return data[: end + 5]
        if len(data) == _FIRST_READ:
            while len(data) < _HEAD_LIMIT and (chunk := os.read(descriptor, _HEAD_LIMIT - len(data))):
                data += chunk
        return data
    finally:
        os.close(descriptor)


def executable(found: Found, location: Location) -> Entry:
    """Return the entry of a skill.yaml: its tools, and a broken row for each tool that cannot be offered."""
    from goalwright_skills.programs import manifest, manifest_file  # imports a YAML parser, which few workspaces need

    path = Path(found.path)
    try:
        tools, problems = manifest_file.read(path.parent)
    except OSError as error:
        unreadable = Problem(path, 1, f"it cannot be read ({error.strerror or error})", "make it a readable text file")
        tools, problems = [], [unreadable]

    def row(name: str, description: str, state: State, reason: str | None) -> Skill:
        return Skill(name, description, found.path, location.source, "executable", state, reason, stamp=found.stamp)

    rows = [row(tool.name, tool.description, "active", None) for tool in tools]
    offered = {tool.name for tool in tools}
    broken: dict[str, Problem] = {}
    for problem in problems:
        broken.setdefault(problem.tool or manifest.domain(path.parent), problem)
    rows += [row(name, "", "broken", fault.reason) for name, fault in broken.items() if name not in offered]
    return Entry(found, tuple(rows), tuple(problems))


READERS: Mapping[str, Callable[[Found, Location], Entry]] = {"SKILL.md": context, "skill.yaml": executable}
