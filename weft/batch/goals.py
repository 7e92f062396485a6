"""Goal files: JSONL, plain text, CSV or YAML, checked whole before anything is spent, then streamed.

Lines are never all in memory; what is kept of each while a file is checked is eight bytes of its id.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from skills.errors import InputError
from skills.surrogates import mended

Check = Callable[["BatchGoal"], str]

_VARIABLE = re.compile(r"<<\s*([A-Za-z_][\w-]*)\s*>>")
_MOST_FAULTS = 20
_OWN_COLUMNS = ("id", "custom_id", "goal", "skills", "model")


@dataclass(frozen=True, slots=True)
class BatchGoal:
    """One goal of a file; `plan` is a plan document that is run instead of asking for one."""

    id: str
    line: int
    text: str
    skills: tuple[str, ...] = ()
    model: str | None = None
    plan: Mapping[str, Any] | None = None

    @property
    def content_hash(self) -> str:
        """What the goal is, without its id: a changed goal under an old id is told by it."""
        content = [self.text, list(self.skills), self.model, self.plan]
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class _Bad:
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class GoalFile:
    """A goal file that was checked: how many goals it has, and the goals themselves, as often as they are asked for."""

    path: Path
    name: str
    form: str
    count: int = 0

    def __iter__(self) -> Iterator[BatchGoal]:
        for row in _rows(self.path, self.form):
            if isinstance(row, BatchGoal):
                yield row


@contextmanager
def opened(name: str, form: str | None = None, check: Check | None = None) -> Iterator[GoalFile]:
    """A goal file, or stdin for `-`, checked whole; every bad line is reported at once with its number.

    `check` may find fault with a goal that the file alone cannot show, such as a skill that does not exist.
    """
    if name != "-":
        path = Path(name)
        if not path.is_file():
            raise InputError(f"there is no goal file {name}", hint="name a .jsonl, .txt, .csv or .yaml file, or -")
        yield _checked(path, name, form or form_of(path), check)
        return
    with tempfile.NamedTemporaryFile(prefix="weft-goals-", suffix=".jsonl") as spool:
        shutil.copyfileobj(sys.stdin.buffer, spool)
        spool.flush()
        path = Path(spool.name)
        yield _checked(path, "stdin", form or _guess(path), check)


def form_of(path: Path) -> str:
    """The form that a file's name stands for."""
    forms = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "yaml", ".csv": "csv", ".yaml": "yaml", ".yml": "yaml"}
    return forms.get(path.suffix.lower(), "text")


def _guess(path: Path) -> str:
    with path.open("rb") as file:
        return "jsonl" if file.read(4096).lstrip().startswith(b"{") else "text"


def _checked(path: Path, name: str, form: str, check: Check | None) -> GoalFile:
    faults: list[str] = []
    seen: set[int] = set()
    count = found = 0
    for row in _rows(path, form):
        fault = None
        if isinstance(row, _Bad):
            fault = f"line {row.line}: {row.what}"
        else:
            count += 1
            mark = int.from_bytes(hashlib.blake2b(row.id.encode(), digest_size=8).digest())
            if mark in seen:
                fault = f"line {row.line}: the id {row.id!r} stands there already; ids must be unique"
            elif check is not None and (what := check(row)):
                fault = f"line {row.line}: {what}"
            seen.add(mark)
        if fault is not None:
            found += 1
            if found <= _MOST_FAULTS:
                faults.append(fault)
    if found:
        more = f"; and {found - _MOST_FAULTS} more" if found > _MOST_FAULTS else ""
        raise InputError(f"{name} cannot be run: {'; '.join(faults)}{more}", hint="mend these lines; nothing was spent")
    if count == 0:
        raise InputError(f"{name} holds no goals", hint='a line is a goal, or {"id": "a", "goal": "…"}')
    return GoalFile(path, name, form, count)


def _rows(path: Path, form: str) -> Iterator[BatchGoal | _Bad]:
    if form == "yaml":
        yield from _yaml(path)
        return
    read = {"jsonl": _jsonl, "csv": _csv}.get(form, _text)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="" if form == "csv" else None) as file:
        yield from read(file)


def _text(file: IO[str]) -> Iterator[BatchGoal | _Bad]:
    for number, line in enumerate(file, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield _made(number, {"goal": text}, fill=False)


def _jsonl(file: IO[str]) -> Iterator[BatchGoal | _Bad]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            yield _Bad(number, f"no JSON: {error.msg}, at column {error.colno}")
        except ValueError as error:
            yield _Bad(number, f"no JSON: {error}")
        except RecursionError:
            yield _Bad(number, "nested too deeply")
        else:
            yield _made(number, row)


def _csv(file: IO[str]) -> Iterator[BatchGoal | _Bad]:
    reader = csv.DictReader(file)
    if "goal" not in (reader.fieldnames or ()):
        yield _Bad(1, f"the header has no column 'goal'; it has: {', '.join(reader.fieldnames or ())}")
        return
    before = reader.line_num
    try:
        for row in reader:
            line, before = before + 1, reader.line_num  # a quoted field may hold line breaks
            own: dict[str, Any] = {key: value for key, value in row.items() if key in _OWN_COLUMNS and value}
            others = {key: value for key, value in row.items() if key and key not in _OWN_COLUMNS and value is not None}
            if "skills" in own:
                own["skills"] = [name for name in re.split(r"[\s,;]+", own["skills"]) if name]
            yield _made(line, own | {"vars": others})
    except csv.Error as error:
        yield _Bad(reader.line_num, f"no CSV: {error}")


def _yaml(path: Path) -> Iterator[BatchGoal | _Bad]:
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(path.read_text(encoding="utf-8-sig"))
        root = loader.get_single_node()
        if not isinstance(root, yaml.SequenceNode):
            yield _Bad(1, "the file must hold a list of goals")
            return
        rows = [(node.start_mark.line + 1, loader.construct_object(node, deep=True)) for node in root.value]
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that is none is a ValueError
        mark = getattr(error, "problem_mark", None)
        yield _Bad(mark.line + 1 if mark else 1, f"no YAML: {str(error).splitlines()[0]}")
        return
    for line, row in rows:
        yield _made(line, {"goal": row} if isinstance(row, str) else row)


def _made(line: int, row: object, *, fill: bool = True) -> BatchGoal | _Bad:
    """The goal that a row stands for, or everything that is wrong with it."""
    if not isinstance(row, Mapping):
        return _Bad(line, 'a goal is an object such as {"id": "a", "goal": "…"}')
    faults = list(_faults(row))
    variables: Mapping[str, Any] = row["vars"] if isinstance(row.get("vars"), Mapping) else {}
    text = row["goal"] if isinstance(row.get("goal"), str) else ""
    if fill:
        missing = [name for name in dict.fromkeys(_VARIABLE.findall(text)) if name not in variables]
        faults += [f"the goal uses <<{name}>>, which 'vars' lacks" for name in missing]
    if faults:
        return _Bad(line, ", ".join(faults))
    name = row.get("id", row.get("custom_id"))
    made = BatchGoal(
        id=str(name) if name is not None else f"line-{line}",
        line=line,
        text=_VARIABLE.sub(lambda match: str(variables[match.group(1)]), text) if fill else text,
        skills=tuple(row.get("skills") or ()),
        model=row.get("model") or None,
        plan=row.get("plan") or None,
    )
    try:
        _ = made.content_hash
    except (TypeError, ValueError) as error:
        return _Bad(line, f"it holds what is neither JSON nor UTF-8 text: {error}")
    return made


def _faults(row: Mapping[Any, Any]) -> Iterator[str]:
    goal, name = row.get("goal"), row.get("id", row.get("custom_id"))
    if not isinstance(goal, str) or not goal.strip():
        yield "'goal' is missing or empty"
    elif mended(goal) != goal:
        yield "the goal is no UTF-8 text"
    if name is not None and (isinstance(name, bool) or not isinstance(name, str | int) or str(name) == ""):
        yield "'id' must be a text or a whole number"
    elif name != mended(name):
        yield "'id' is no UTF-8 text"
    skills = row.get("skills")
    if skills is not None and not (isinstance(skills, list) and all(isinstance(one, str) for one in skills)):
        yield "'skills' must be a list of names"
    if row.get("model") is not None and not isinstance(row["model"], str):
        yield "'model' must be a text"
    for key in ("vars", "plan"):
        if row.get(key) is not None and not isinstance(row[key], Mapping):
            yield f"'{key}' must be an object"
