"""What the last scan saw, kept on disk so that the next start need only ask whether it still holds.

A JSON file: reading one cannot run code. One that is stale, broken or of another version counts as none.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from skills.entry import Entry
from skills.scan import Found, Tree
from skills.skill import Kind, Problem, Skill, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.locations import Location

VERSION = 3
_KINDS = get_args(Kind)
_STATES = get_args(State)


def cache_folder(workspace: Path) -> Path:
    """The folder in the user's cache that holds what is remembered of a workspace."""
    import hashlib

    import platformdirs

    digest = hashlib.sha256(os.fsencode(workspace.absolute())).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("weft")) / "skills" / digest


def load(path: Path, locations: Sequence[Location]) -> tuple[Tree, list[Entry]] | None:
    """What was remembered of these locations; None where nothing usable is."""
    try:
        document = json.loads(path.read_bytes())
        if document["version"] != VERSION or document["locations"] != _key(locations):
            return None
        watched = document["watched"]
        if not all(isinstance(mark, int) for mark in watched.values()):
            return None
        problems = [_problem(row) for row in document["problems"]]
        entries = [_entry(row, locations) for row in document["entries"]]
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    return Tree([entry.found for entry in entries], watched, problems), entries


def save(path: Path, locations: Sequence[Location], tree: Tree, entries: Sequence[Entry]) -> None:
    """Remember; a cache that cannot be written is done without."""
    document = {
        "version": VERSION,
        "locations": _key(locations),
        "watched": tree.watched,
        "problems": [_plain(problem) for problem in tree.problems],
        "entries": [_row(entry) for entry in entries],
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


def _row(entry: Entry) -> list[Any]:
    found = entry.found
    skills = [[s.name, s.description, s.kind, s.state, s.reason, s.model, s.extra] for s in entry.skills]
    problems = [_plain(problem, found.path) for problem in entry.problems]
    return [*found, skills, problems]


def _entry(row: list[Any], locations: Sequence[Location]) -> Entry:
    path, number, mark, regular, skills, problems = row
    if type(path) is not str or type(number) is not int or type(mark) is not int:
        raise TypeError(path)
    file = Path(path)
    folder = file.parent
    source = locations[number].source
    made = []
    for name, description, kind, state, reason, model, extra in skills:
        if not (kind in _KINDS and state in _STATES and type(extra) is dict):
            raise ValueError(kind)
        if not (type(name) is str and type(description) is str and _maybe(reason) and _maybe(model)):
            raise TypeError(name)
        made.append(Skill(name, description, file, folder, source, kind, state, reason, model, extra, mark))
    found = Found(path, number, mark, bool(regular))
    return Entry(found, tuple(made), tuple([_problem(row, file) for row in problems]) if problems else ())


def _plain(problem: Problem, here: str = "") -> list[Any]:
    path = str(problem.path)
    return [None if path == here else path, problem.line, problem.what, problem.remedy, problem.rule]


def _problem(row: list[Any], here: Path | None = None) -> Problem:
    path, line, what, remedy, rule = row
    if not (type(line) is int and type(what) is str and type(remedy) is str and type(rule) is str):
        raise TypeError(line)
    return Problem(here if path is None and here is not None else Path(path), line, what, remedy, rule)


def _maybe(value: Any) -> bool:
    return value is None or type(value) is str
