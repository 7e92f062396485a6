"""Goal files: validated whole before anything is spent, then streamed.

Lines of JSONL, text and CSV are never all in memory; validation keeps eight bytes of each id.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from goalwright.batch import goal_formats
from goalwright.batch.goal_formats import BadRow, GoalRow
from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import plural
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goalwright_planner.events import RecipeUse

Check = Callable[["BatchGoal"], str]
# Replaces the recipe of a goal with its plan.
Fill = Callable[["BatchGoal"], "BatchGoal"]

_VARIABLE = re.compile(r"<<\s*([A-Za-z_][\w-]*)\s*>>")
_MOST_FAULTS = 20
_MOST_SPANS = 1_000
_KEYS = ("id", "custom_id", "goal", "skills", "model", "vars", "plan", "recipe")
_MOST_UNUSED = 10


@dataclass(frozen=True, slots=True)
class BatchGoal:
    """One goal of a file; `plan` is a plan document to run instead of asking a model for one.

    `recipe` names a recipe with the `values` of its parameters; `recipe_use` is set once they are filled in.
    Only programs set `files` and `settings`, which override those of the batch, and `basis`: anything else that the
    result depends on.
    """

    id: str
    line: int
    text: str
    skills: tuple[str, ...] = ()
    model: str | None = None
    plan: Mapping[str, Any] | None = None
    files: tuple[Path, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    basis: Mapping[str, Any] = field(default_factory=dict)
    recipe: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    recipe_use: RecipeUse | None = None

    @property
    def content_hash(self) -> str:
        """A hash of the goal without its id, which shows that a goal has changed under an old id."""
        content: list[Any] = [self.text, list(self.skills), self.model, None if self.recipe else self.plan]
        if self.recipe:
            content.append([self.recipe, dict(self.values)])
        if self.files or self.settings:
            content += [[str(path) for path in self.files], {key: repr(value) for key, value in self.settings.items()}]
        if self.basis:
            content.append(self.basis)
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


class CheckedGoals(Protocol):
    """Validated goals; `unused` maps keys without a meaning to the line of their first use."""

    @property
    def name(self) -> str:
        """The source of the goals."""

    @property
    def count(self) -> int:
        """The number of goals."""

    @property
    def unused(self) -> Mapping[str, int]:
        """The ignored keys."""

    def __iter__(self) -> Iterator[BatchGoal]:
        """Yield the goals, every time the same."""


@dataclass(frozen=True, slots=True)
class GoalFile:
    """A validated goal file, which can be iterated repeatedly for its goals.

    `unused` maps keys without a meaning to the line of their first use.
    """

    path: Path
    name: str
    form: str
    count: int = 0
    unused: Mapping[str, int] = field(default_factory=dict)
    fill: Fill | None = None

    def __iter__(self) -> Iterator[BatchGoal]:
        for row in goal_formats.rows(self.path, self.form):
            if isinstance(row, GoalRow) and isinstance(goal := _goal(row, self.form, self.fill), BatchGoal):
                yield goal


@contextmanager
def opened(
    source: str | Path | Iterable[str | Mapping[str, Any]],
    form: str | None = None,
    check: Check | None = None,
    fill: Fill | None = None,
) -> Iterator[GoalFile]:
    """Open and validate a goal file (`-` is stdin) or goals in memory; all bad lines are reported at once.

    `check` finds faults that the file alone cannot show, such as a skill that does not exist. Without `fill`, goals
    cannot name recipes.
    """
    if not isinstance(source, str | Path):
        with _spooled() as spool:
            _write_goals(source, spool)
            yield _checked(Path(spool.name), "goals", "jsonl", check, fill)
        return
    name, path = str(source), Path(source)
    if name != "-" and (path.is_dir() or not path.exists()):
        raise InputError(f"no such goal file: {name}", hint="name a .jsonl, .txt, .csv or .yaml file, or -")
    if name != "-" and untrusted_files.is_regular(path):
        yield _checked(path, name, form or goal_formats.form_of(path), check, fill)
        return
    with _spooled() as spool:  # stdin and pipes can be read only once
        with _stream(name, path) as stream:
            shutil.copyfileobj(stream, spool)
        spool.flush()
        path = Path(spool.name)
        yield _checked(path, "stdin" if name == "-" else name, form or goal_formats.guess(path), check, fill)


def _stream(name: str, path: Path) -> AbstractContextManager[IO[bytes]]:
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return os.fdopen(untrusted_files.open_pipe(path), "rb")
    except OSError as error:
        raise InputError(f"the goal file {name} cannot be read: {error.strerror}", hint="name a file, or -") from error


def _spooled() -> Any:
    return tempfile.NamedTemporaryFile(prefix="goalwright-goals-", suffix=".jsonl")


def _write_goals(goals: Iterable[str | Mapping[str, Any]], spool: IO[bytes]) -> None:
    """Write goals in memory as JSON lines, so that they are validated and streamed like a file."""
    for number, goal in enumerate(goals, 1):
        try:
            row = {"goal": goal} if isinstance(goal, str) else dict(goal)
            spool.write(json.dumps(row).encode() + b"\n")
        except (TypeError, ValueError) as error:
            hint = "give texts, or mappings of plain values"
            raise InputError(f"goal {number} is not JSON: {error}", hint=hint) from error
    spool.flush()


def _checked(path: Path, name: str, form: str, check: Check | None, fill: Fill | None) -> GoalFile:
    survey = _Survey(check)
    for row in goal_formats.rows(path, form):
        survey.take(row, form, fill)
    if survey.faults or survey.more_lines:
        faults = "".join(f"\n  {fault}" for fault in survey.faults)
        if survey.more_lines:
            faults += f"\n  and {plural(len(survey.more_lines), 'line', 'lines')} {_listed(survey.more_lines)}"
        raise InputError(f"{name} cannot be run:{faults}", hint="fix these lines; nothing was run")
    if survey.count == 0:
        raise InputError(f"{name} has no goals", hint='a line is a goal, or {"id": "a", "goal": "…"}')
    return GoalFile(path, name, form, survey.count, survey.unused, fill)


@dataclass(slots=True)
class _Survey:
    """The result of validating a file: the first faults in full, and the line numbers of the others."""

    check: Check | None
    count: int = 0
    faults: list[str] = field(default_factory=list)
    more_lines: list[int] = field(default_factory=list)
    unused: dict[str, int] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)

    def take(self, row: GoalRow | BadRow, form: str, fill: Fill | None) -> None:
        """Validate one row."""
        goal = _goal(row, form, fill) if isinstance(row, GoalRow) else row
        fault = goal.fault if isinstance(goal, BadRow) else self._fault(goal)
        if fault and len(self.faults) < _MOST_FAULTS:
            self.faults.append(f"line {row.line}: {fault}")
        elif fault:
            self.more_lines.append(row.line)
        if isinstance(row, GoalRow) and isinstance(row.value, Mapping) and not row.value.get("recipe"):
            for key in map(str, row.value.keys() - _KEYS):
                if len(self.unused) < _MOST_UNUSED:
                    self.unused.setdefault(key, row.line)

    def _fault(self, goal: BatchGoal) -> str:
        self.count += 1
        id_hash = int.from_bytes(hashlib.blake2b(goal.id.encode(), digest_size=8).digest())
        if id_hash in self._seen:
            return f"duplicate id {goal.id!r}; ids must be unique"
        self._seen.add(id_hash)
        return self.check(goal) if self.check is not None else ""


def _listed(lines: Sequence[int]) -> str:
    """Format line numbers as spans: 3, 5 to 9, 12."""
    spans: list[list[int]] = []
    for line in lines:
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in spans]
    return ", ".join(shown[:_MOST_SPANS]) + (", …" if len(shown) > _MOST_SPANS else "")


def _goal(entry: GoalRow, form: str, fill: Fill | None) -> BatchGoal | BadRow:
    """Return the goal in a row, or all its faults."""
    line, row = entry.line, entry.value
    if not isinstance(row, Mapping):
        return BadRow(line, 'a goal is an object such as {"id": "a", "goal": "…"}')
    faults = list(_faults(row, recipes=fill is not None))
    variables: Mapping[str, Any] = row["vars"] if isinstance(row.get("vars"), Mapping) else {}
    text = row["goal"] if isinstance(row.get("goal"), str) else ""
    recipe = row.get("recipe") or ""
    if form != "text":
        missing = [name for name in dict.fromkeys(_VARIABLE.findall(text)) if name not in variables]
        faults += [f"the goal uses <<{name}>>, which is not in 'vars'" for name in missing]
    if faults:
        return BadRow(line, ", ".join(faults))
    name = _name(row)
    goal = BatchGoal(
        id=str(name) if name is not None else f"line-{line}" if entry.nth == 1 else f"line-{line}.{entry.nth}",
        line=line,
        text=filled(text, variables) if form != "text" else text,
        skills=tuple(row.get("skills") or ()),
        model=row.get("model") or None,
        plan=row.get("plan") or None,
        recipe=recipe,
        values=_values(row, variables) if recipe else {},
    )
    try:
        _ = goal.content_hash
    except (TypeError, ValueError) as error:
        return BadRow(line, f"it is not JSON or not UTF-8: {error}")
    try:
        return fill(goal) if fill is not None else goal
    except InputError as error:
        return BadRow(line, error.message)


def _values(row: Mapping[Any, Any], variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a recipe's parameters: all keys that are not a goal's own, without empty ones."""
    values = {**variables, **{str(key): value for key, value in row.items() if key not in _KEYS}}
    return {name: str(value) for name, value in values.items() if value is not None and value != ""}


def filled(text: str, variables: Mapping[str, Any]) -> str:
    """Replace the variables in a goal's text; unknown ones are kept."""
    return _VARIABLE.sub(lambda match: str(variables.get(match.group(1), match.group())), text)


def _name(row: Mapping[Any, Any]) -> Any:
    return row.get("custom_id") if row.get("id") is None else row["id"]


def _faults(row: Mapping[Any, Any], *, recipes: bool) -> Iterator[str]:
    goal, name, recipe = row.get("goal"), _name(row), row.get("recipe")
    if recipe and not isinstance(recipe, str):
        yield "'recipe' must be a name"
    elif recipe and not recipes:
        yield "a recipe cannot be used here"
    elif recipe and row.get("plan"):
        yield "'recipe' and 'plan' cannot be used together"
    if recipe and not goal:
        pass  # the recipe has the goal
    elif not isinstance(goal, str) or not goal.strip():
        yield "'goal' is missing or empty"
    elif join_surrogates(goal) != goal:
        yield "the goal is not UTF-8 text"
    if name == "":
        yield "'id' is empty"
    elif name is not None and (isinstance(name, bool) or not isinstance(name, str | int)):
        yield "'id' must be a string or an integer"
    elif name != join_surrogates(name):
        yield "'id' is not UTF-8 text"
    skills = row.get("skills")
    if skills is not None and not (isinstance(skills, list) and all(isinstance(name, str) for name in skills)):
        yield "'skills' must be a list of names"
    if row.get("model") is not None and not isinstance(row["model"], str):
        yield "'model' must be a string"
    for key in ("vars", "plan"):
        if row.get(key) is not None and not isinstance(row[key], Mapping):
            yield f"'{key}' must be an object"
