"""Caches the last scan on disk, so that the next start only has to check whether it is still valid.

The cache is JSON, so that reading it cannot run code. A stale or broken cache, or one of another version, is ignored.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

from goalwright_skills import user_folders
from goalwright_skills.discovery.scan import Entry, Found, Tree
from goalwright_skills.skill import Kind, Problem, Skill, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goalwright_skills.discovery.locations import Location
    from goalwright_skills.skill import Source

VERSION = 6
_KINDS = frozenset(get_args(Kind))
_STATES = frozenset(get_args(State))
_TEXT = frozenset({str})
_OPTIONAL_TEXT = frozenset({str, type(None)})
_NUMBER = frozenset({int})
_TABLE = frozenset({dict})
# File systems allow names of 255 bytes.
_NAME_LIMIT = 200


def cache_folder(workspace: Path) -> Path:
    """Return the folder in the user's cache for data about a workspace's skills."""
    name = quote(os.fsencode(workspace.absolute()), safe="")
    if len(name) > _NAME_LIMIT:
        import hashlib  # its import takes as long as reading a thousand skills

        name = hashlib.sha256(name.encode()).hexdigest()
    return user_folders.cache() / "skills" / name


def load(path: Path, locations: Sequence[Location]) -> tuple[Tree, list[Entry]] | None:
    """Return the cached scan of these locations, or None if there is no usable one."""
    try:
        document = json.loads(path.read_bytes())
        if document["version"] != VERSION or document["locations"] != _key(locations):
            return None
        watched = document["watched"]
        _check_types(watched.values(), _NUMBER)
        problems = [_problem(row) for row in document["problems"]]
        entries = _entries(document, locations)
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    files = [entry.found for entry in entries]
    watched.update((file.path, file.stamp) for file in files)
    return Tree(files, watched, problems), entries


def save(path: Path, locations: Sequence[Location], tree: Tree, entries: Sequence[Entry]) -> None:
    """Cache a scan; errors are ignored."""
    files = {entry.found.path for entry in entries}
    document = {
        "version": VERSION,
        "locations": _key(locations),
        "watched": {path: stamp for path, stamp in tree.watched.items() if path not in files},
        "problems": [_plain(problem) for problem in tree.problems],
        **_columns(entries),
    }
    with contextlib.suppress(OSError, ValueError):
        write(path, json.dumps(document, separators=(",", ":")).encode())


def write(path: Path, data: bytes) -> None:
    """Replace a file atomically."""
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".goalwright-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _key(locations: Sequence[Location]) -> list[list[Any]]:
    return [[str(location.path), location.source, location.single] for location in locations]


def _columns(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return files, skills and problems as columns, which halves the time of the type checks on load."""
    files = [list(column) for column in zip(*(entry.found for entry in entries), strict=True)] or [[], [], [], []]
    skills: list[list[Any]] = [[], [], [], [], [], [], [], []]
    faults = []
    for number, entry in enumerate(entries):
        for s in entry.skills:
            row = (number, s.name, s.description, s.kind, s.state, s.reason, s.model, s.extra)
            for column, value in zip(skills, row, strict=True):
                column.append(value)
        faults += [[number, _plain(problem, entry.found.path)] for problem in entry.problems]
    return {"files": files, "skills": skills, "faults": faults}


def _entries(document: Mapping[str, Any], locations: Sequence[Location]) -> list[Entry]:
    paths, location_numbers, stamps, regular = document["files"]
    _check_types(paths, _TEXT)
    _check_types(location_numbers, _NUMBER)
    _check_types(stamps, _NUMBER)
    skills: list[tuple[Skill, ...]] = [()] * len(paths)
    sources = [locations[number].source for number in location_numbers]
    for number, skill in _skills(document["skills"], paths, sources, stamps):
        skills[number] += (skill,)
    faults: list[tuple[Problem, ...]] = [()] * len(paths)
    for number, row in document["faults"]:
        faults[number] += (_problem(row, Path(paths[number])),)
    files = map(Found, paths, location_numbers, stamps, map(bool, regular))
    return [Entry(*row) for row in zip(files, skills, faults, strict=True)]


def _skills(
    columns: Sequence[Sequence[Any]], files: Sequence[str], sources: Sequence[Source], stamps: Sequence[int]
) -> Iterator[tuple[int, Skill]]:
    """Return each skill with the number of its file."""
    numbers, names, descriptions, kinds, states, reasons, models, extras = columns
    _check_types(numbers, _NUMBER)
    for column in (names, descriptions):
        _check_types(column, _TEXT)
    for column in (reasons, models):
        _check_types(column, _OPTIONAL_TEXT)
    _check_types(extras, _TABLE)
    if not (_KINDS.issuperset(kinds) and _STATES.issuperset(states)):
        raise ValueError(kinds)
    origins = [files[i] for i in numbers], [sources[i] for i in numbers]
    own_stamps = [stamps[i] for i in numbers]
    skills = map(Skill, names, descriptions, *origins, kinds, states, reasons, models, extras, own_stamps)
    return zip(numbers, skills, strict=True)


def _check_types(column: Iterable[Any], types: frozenset[Any]) -> None:
    """Raise unless every value has exactly one of these types."""
    if not types.issuperset(map(type, column)):
        raise TypeError(types)


def _plain(problem: Problem, here: str = "") -> list[Any]:
    path = str(problem.path)
    texts = problem.what, problem.remedy, problem.rule, problem.until
    return [None if path == here else path, problem.line, *texts]


def _problem(row: list[Any], here: Path | None = None) -> Problem:
    path, line, *texts = row
    if type(line) is not int:
        raise TypeError(line)
    _check_types(texts, _TEXT)
    what, remedy, rule, until = texts
    file = here if path is None and here is not None else Path(path)
    return Problem(file, line, what, remedy, rule, until=until)
