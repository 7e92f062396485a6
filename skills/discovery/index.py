"""What the last scan saw, kept on disk so that the next start need only ask whether it still holds.

A JSON file: reading one cannot run code. One that is stale, broken or of another version counts as none.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

from skills import user_folders
from skills.discovery.entry import Entry
from skills.discovery.scan import Found, Tree
from skills.skill import Kind, Problem, Skill, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skills.discovery.locations import Location
    from skills.skill import Source

VERSION = 5
_KINDS = frozenset(get_args(Kind))
_STATES = frozenset(get_args(State))
_TEXT = frozenset({str})
_MAYBE = frozenset({str, type(None)})
_NUMBER = frozenset({int})
_TABLE = frozenset({dict})
# File systems take names of 255 bytes.
_LONGEST = 200


def cache_folder(workspace: Path) -> Path:
    """The folder in the user's cache that holds what is remembered of a workspace."""
    name = quote(os.fsencode(workspace.absolute()), safe="")
    if len(name) > _LONGEST:
        import hashlib  # not sooner: its import costs as much as reading a thousand skills

        name = hashlib.sha256(name.encode()).hexdigest()
    return user_folders.cache() / "skills" / name


def load(path: Path, locations: Sequence[Location]) -> tuple[Tree, list[Entry]] | None:
    """What was remembered of these locations; None where nothing usable is."""
    try:
        document = json.loads(path.read_bytes())
        if document["version"] != VERSION or document["locations"] != _key(locations):
            return None
        watched = document["watched"]
        _hold(watched.values(), _NUMBER)
        problems = [_problem(row) for row in document["problems"]]
        entries = _entries(document, locations)
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    files = [entry.found for entry in entries]
    watched.update((file.path, file.stamp) for file in files)
    return Tree(files, watched, problems), entries


def save(path: Path, locations: Sequence[Location], tree: Tree, entries: Sequence[Entry]) -> None:
    """Remember; a cache that cannot be written is done without."""
    files = {entry.found.path for entry in entries}
    document = {
        "version": VERSION,
        "locations": _key(locations),
        "watched": {path: mark for path, mark in tree.watched.items() if path not in files},
        "problems": [_plain(problem) for problem in tree.problems],
        **_columns(entries),
    }
    with contextlib.suppress(OSError, ValueError):
        write(path, json.dumps(document, separators=(",", ":")).encode())


def write(path: Path, data: bytes) -> None:
    """Replace a file whole or not at all."""
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".weft-")
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
    """Files, skills and faults as columns: thousands are read and checked column by column in half the time."""
    files = [list(column) for column in zip(*(entry.found for entry in entries), strict=True)] or [[], [], [], []]
    skills: list[list[Any]] = [[], [], [], [], [], [], [], []]
    faults = []
    for at, entry in enumerate(entries):
        for s in entry.skills:
            row = (at, s.name, s.description, s.kind, s.state, s.reason, s.model, s.extra)
            for column, value in zip(skills, row, strict=True):
                column.append(value)
        faults += [[at, _plain(problem, entry.found.path)] for problem in entry.problems]
    return {"files": files, "skills": skills, "faults": faults}


def _entries(document: Mapping[str, Any], locations: Sequence[Location]) -> list[Entry]:
    paths, numbers, marks, regular = document["files"]
    _hold(paths, _TEXT)
    _hold(numbers, _NUMBER)
    _hold(marks, _NUMBER)
    skills: list[tuple[Skill, ...]] = [()] * len(paths)
    for at, skill in _skills(document["skills"], paths, [locations[number].source for number in numbers], marks):
        skills[at] += (skill,)
    faults: list[tuple[Problem, ...]] = [()] * len(paths)
    for at, row in document["faults"]:
        faults[at] += (_problem(row, Path(paths[at])),)
    found = map(Found, paths, numbers, marks, map(bool, regular))
    return [Entry(*row) for row in zip(found, skills, faults, strict=True)]


def _skills(
    columns: Sequence[Sequence[Any]], files: Sequence[str], sources: Sequence[Source], marks: Sequence[int]
) -> Iterator[tuple[int, Skill]]:
    """Each skill, and the number of its file."""
    at, names, descriptions, kinds, states, reasons, models, extras = columns
    for column, types in ((at, _NUMBER), (names, _TEXT), (descriptions, _TEXT), (reasons, _MAYBE), (models, _MAYBE)):
        _hold(column, types)
    _hold(extras, _TABLE)
    if not (_KINDS.issuperset(kinds) and _STATES.issuperset(states)):
        raise ValueError(kinds)
    where = [files[i] for i in at], [sources[i] for i in at]
    mine = [marks[i] for i in at]
    made = map(Skill, names, descriptions, *where, kinds, states, reasons, models, extras, mine)
    return zip(at, made, strict=True)


def _hold(column: Iterable[Any], types: frozenset[Any]) -> None:
    """Raise unless all values are of these very types."""
    if not types.issuperset(map(type, column)):
        raise TypeError(types)


def _plain(problem: Problem, here: str = "") -> list[Any]:
    path = str(problem.path)
    said = problem.what, problem.remedy, problem.rule, problem.until
    return [None if path == here else path, problem.line, *said]


def _problem(row: list[Any], here: Path | None = None) -> Problem:
    path, line, what, remedy, rule, until = row
    if type(line) is not int:
        raise TypeError(line)
    _hold((what, remedy, rule, until), _TEXT)
    where = here if path is None and here is not None else Path(path)
    return Problem(where, line, what, remedy, rule, until=until)
