"""Labelled goals with their expected skills, one JSON object per line.

{"goal": "Write release notes for 1.2", "expected": "release-notes"}
{"id": "q7", "goal": "Compare the two, then write it up", "expected": ["decision-memo", "writing-documentation"]}
{"goal": "What is your name?", "expected": null}
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_MOST_FAULTS = 20
EXAMPLE = '{"goal": "Write release notes", "expected": "release-notes"}, or null where no skill should be selected'


@dataclass(frozen=True, slots=True)
class LabelledGoal:
    """A goal and its expected skills; None if the line has no label.

    It is measured as part of its `set`, or of its `pool` without one.
    """

    id: str
    line: int
    goal: str
    expected: tuple[str, ...] | None
    pool: str = ""
    set: str = ""


class _Fault(ValueError):
    """A fault of a line."""


def read(path: Path, *, labelled: bool = True) -> list[LabelledGoal]:
    """Read the goals of a file; raises InputError if it is unreadable or a line is invalid."""
    try:
        return parse(untrusted_files.read_given(path), str(path), labelled=labelled)
    except OSError as error:
        raise InputError(
            f"the goal file {path} cannot be read: {error.strerror or error}",
            hint=f"name a file of lines such as {EXAMPLE}",
        ) from error


def parse(data: bytes, name: str, *, labelled: bool = True) -> list[LabelledGoal]:
    """Parse goals and report all invalid lines at once; unless `labelled`, a line may lack `expected`."""
    goals: list[LabelledGoal] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, line in _lines(data):
        try:
            goal = _goal(line, number, labelled=labelled)
        except _Fault as fault:
            faults.append(f"{name}:{number}: {fault}")
            continue
        first = seen.setdefault(goal.id, number)
        if first != number:
            faults.append(f"{name}:{number}: the id {goal.id!r} is also on line {first}; ids must be unique")
        goals.append(goal)
    if faults:
        hidden = len(faults) - _MOST_FAULTS
        shown = [*faults[:_MOST_FAULTS], *([f"and {hidden} more"] if hidden > 0 else [])]
        raise InputError(
            "\n  ".join(["the goals cannot be used:", *shown]), hint=f"fix these lines; a line is {EXAMPLE}"
        )
    if not goals:
        raise InputError(f"{name} has no goals", hint=f"write lines such as {EXAMPLE}")
    return goals


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, line


def _goal(line: bytes, number: int, *, labelled: bool) -> LabelledGoal:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _Fault("it is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise _Fault(f"it is not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # a number with too many digits, or nested too deep
        raise _Fault("it is not JSON that can be read") from error
    if not isinstance(row, dict):
        raise _Fault("it is not an object with 'goal' and 'expected'")
    goal = row.get("goal")
    if not isinstance(goal, str) or not goal.strip():
        raise _Fault("'goal' is missing or empty")
    if join_surrogates(goal) != goal:
        raise _Fault("the goal is not UTF-8 text")
    identity = row.get("id")
    if identity is not None and (isinstance(identity, bool) or not isinstance(identity, str | int) or identity == ""):
        raise _Fault("'id' must be a string or an integer")
    identity = f"line-{number}" if identity is None else str(identity)
    pool, name = (value if isinstance(value := row.get(key), str) else "" for key in ("pool", "set"))
    return LabelledGoal(identity, number, goal, _expected(row, labelled=labelled), pool, name)


def _expected(row: Mapping[str, Any], *, labelled: bool) -> tuple[str, ...] | None:
    if "expected" not in row:
        if labelled:
            raise _Fault("'expected' is missing: name the skills, or write null where none should be selected")
        return None
    value = row["expected"]
    names = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise _Fault("'expected' must be a skill's name, a list of names, or null")
    return tuple(dict.fromkeys(name.strip() for name in names))
