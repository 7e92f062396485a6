"""What the last scan saw, kept on disk so that the next start need only ask whether it still holds.

A JSON file: reading one cannot run code. One that is stale, broken or of another version counts as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from skills.entry import Entry
from skills.scan import Found, Tree
from skills.skill import Kind, Problem, Skill, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.locations import Location

VERSION = 1
_KINDS = get_args(Kind)
_STATES = get_args(State)


def cache_folder(workspace: Path) -> Path:
    """The folder in the user's cache that holds what is remembered of a workspace."""
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
        if not all(isinstance(mark, str) for mark in watched.values()):
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
    problems = [_plain(problem) for problem in entry.problems]
    return [found.path, found.location, found.stamp, found.regular, skills, problems]


def _entry(row: list[Any], locations: Sequence[Location]) -> Entry:
    path, number, mark, regular, skills, problems = row
    found = Found(_text(path), number, _text(mark), bool(regular))
    file = Path(path)
    folder = file.parent
    source = locations[number].source
    made = []
    for name, description, kind, state, reason, model, extra in skills:
        if kind not in _KINDS or state not in _STATES or not isinstance(extra, dict):
            raise ValueError(kind)
        described = _text(name), _text(description), file, folder, source
        made.append(Skill(*described, kind, state, _maybe(reason), _maybe(model), extra, mark))
    return Entry(found, tuple(made), tuple(_problem(row) for row in problems))


def _plain(problem: Problem) -> list[Any]:
    return [str(problem.path), problem.line, problem.what, problem.remedy, problem.rule]


def _problem(row: list[Any]) -> Problem:
    path, line, what, remedy, rule = row
    return Problem(Path(path), int(line), _text(what), _text(remedy), _text(rule))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


def _maybe(value: Any) -> str | None:
    return None if value is None else _text(value)
