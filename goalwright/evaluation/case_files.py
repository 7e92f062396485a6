"""Parses case files: JSON lines, YAML, a skill's `evals/evals.json`, and the goal files of `goalwright batch`.

All faults are reported at once, with their lines.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.batch import goal_formats
from goalwright.batch.goal_formats import BadRow, GoalRow
from goalwright.batch.goals import filled
from goalwright.evaluation.case import Case
from goalwright.evaluation.checks.check import BadCheck, read_check
from goalwright_skills import untrusted_files
from goalwright_skills.discovery.skill_file import READERS
from goalwright_skills.errors import InputError
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright.evaluation.checks.check import CaseCheck

SKILL_EVALS = Path("evals") / "evals.json"
_MOST_FAULTS = 20
_SIMILAR = 0.81  # the ratio above which a key counts as misspelt
_MOST_CASES = 10_000
_LARGEST = 64 * 1024**2
# Synonyms in evals.json files.
_EXPECTATIONS = ("expectations", "assertions")
_KEYS = (
    *("id", "custom_id", "goal", "vars", "files", "checks", *_EXPECTATIONS),
    *("expected_output", "tags", "skills", "model", "plan"),
)
_GOAL = ("goal", "prompt", "query", "input", "task")
_SENTENCE = ("text", "description", "expectation", "assertion")
_LIST = ("evals", "cases", "test_cases")
_HINT = "fix these; nothing was run"

# The start of an object in YAML without a file name.
_OBJECT = re.compile(rf"(?:{'|'.join((*_GOAL, *_LIST, 'id', 'custom_id', 'skill_name'))}):(?:\s|$)")

# A file (`-` is stdin), a skill's folder, the keys of a case, or a parsed case.
Source = str | Path | Mapping[str, Any] | Case


def read_cases(sources: Iterable[Source]) -> list[Case]:
    """Read cases from files, skill folders and memory; raises InputError with all faults.

    An id that occurs in several files is prefixed with the file's name, as in `pdf:1`.
    """
    reader = _Reader()
    files: list[tuple[Path, range]] = []
    for number, source in enumerate(with_stdin(sources), 1):
        if isinstance(source, Case):
            reader.add(source, f"case {number}")
        elif isinstance(source, Mapping):
            reader.add_row(GoalRow(number, source), f"case {number}", Path.cwd(), Path("/"))
        else:
            file, first = case_file(source), len(reader.cases)
            reader.read(file)
            files.append((file, range(first, len(reader.cases))))
    reader.make_ids_unique(files)
    reader.check()
    return reader.cases


def with_stdin(sources: Iterable[Source]) -> list[Source]:
    """Replace `-` by the cases on stdin, which can be read only once."""
    result: list[Source] = []
    for source in sources:
        result += _read_stdin() if isinstance(source, str | Path) and str(source) == "-" else [source]
    return result


def _read_stdin() -> list[Case]:
    try:
        text = sys.stdin.buffer.read(_LARGEST + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("the cases on stdin cannot be read: they are not UTF-8", hint="send them as UTF-8") from error
    if len(text) > _LARGEST:
        raise InputError(f"the cases on stdin have more than {_LARGEST:,} bytes", hint="send fewer")
    reader = _Reader()
    reader.add_rows(_parse(text, _guess_format(text)), "stdin", Path.cwd(), Path.cwd())
    reader.check()
    return reader.cases


def _guess_format(text: str) -> str:
    """Guess the format of a text without a file name."""
    if text.lstrip().startswith("["):
        return "json"
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return "jsonl"
        return "json" if any(key in document for key in _LIST) else "jsonl"
    first = goal_formats.first_line(text)
    is_yaml = _OBJECT.match(first) or goal_formats.begins_yaml(first, (*_GOAL, *_KEYS))
    return "yaml" if is_yaml else goal_formats.form_of_line(first)


def case_file(source: str | Path) -> Path:
    """Return a case file, or `evals/evals.json` of a skill folder."""
    path = Path(source)
    if path.is_dir():
        if not (path / SKILL_EVALS).is_file():
            raise InputError(
                f"{path} has no {SKILL_EVALS.as_posix()}", hint="name a case file, or a skill folder with one"
            )
        return path / SKILL_EVALS
    if not path.exists():
        raise InputError(
            f"no such case file: {path}", hint="name a .jsonl, .yaml or evals.json file, or a skill folder"
        )
    return path


class _Reader:
    """Collects cases and their faults."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.faults: list[str] = []
        self._unlisted = 0
        self._seen: dict[tuple[str, Path | None], str] = {}

    def read(self, path: Path) -> None:
        """Read a case file."""
        folder = path.absolute().parent
        self.add_rows(_rows(path), str(path), folder, _home(path.absolute()), path.resolve())

    def add_rows(
        self, rows: Iterable[GoalRow | BadRow], name: str, folder: Path, home: Path, file: Path | None = None
    ) -> None:
        """Add the rows of a source, which must have a case."""
        before = len(self.cases) + len(self.faults)
        for row in rows:
            if len(self.cases) > _MOST_CASES:
                self._fault(f"{name}: more than {_MOST_CASES:,} cases")
                return
            self.add_row(row, f"{name}, line {row.line}", folder, home, file)
        if len(self.cases) + len(self.faults) == before:
            self._fault(f"{name} has no cases")

    def add_row(self, row: GoalRow | BadRow, where: str, folder: Path, home: Path, file: Path | None = None) -> None:
        """Add a case; its files are relative to `folder` and must be inside `home`."""
        if isinstance(row, BadRow):
            self._fault(f"{where}: {row.fault}")
            return
        try:
            case = _case(row, folder, home)
        except BadCheck as error:
            self._fault(f"{where}: {error}")
            return
        self.add(case, where, file)

    def add(self, case: Case, where: str, file: Path | None = None) -> None:
        """Add a case, unless its id is already used in the same file or in memory."""
        if (other := self._seen.get((case.id, file))) is not None:
            self._fault(f"{where}: duplicate id {case.id!r}, also in {other}")
            return
        self._seen[case.id, file] = where
        self.cases.append(case)

    def make_ids_unique(self, files: Sequence[tuple[Path, range]]) -> None:
        """Prefix shared ids with their file; `files` has the range of cases of each file."""
        counts = Counter(case.id for case in self.cases)
        for name, (_, indexes) in zip(_unique_names([file for file, _ in files]), files, strict=True):
            for index in indexes:
                case = self.cases[index]
                if counts[case.id] > 1:
                    self.cases[index] = replace(case, id=f"{name}:{case.id}")
        for case_id, count in Counter(case.id for case in self.cases).items():
            if count > 1:
                self._fault(f"several cases have the id {case_id!r}")

    def _fault(self, text: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(text)
        else:
            self._unlisted += 1

    def check(self) -> None:
        """Raise if there are faults, or no cases."""
        if self.faults:
            rest = f"\n  and {self._unlisted:,} more" if self._unlisted else ""
            raise InputError(
                "the cases are invalid:" + "".join(f"\n  {text}" for text in self.faults) + rest, hint=_HINT
            )
        if not self.cases:
            raise InputError(
                "there are no cases",
                hint='a case is an object such as {"id": "a", "goal": "…", "checks": [{"contains": "…"}]}',
            )


def _home(file: Path) -> Path:
    """Return the folder that a file's cases may read: its own, or for a skill's `evals/evals.json` the skill's."""
    skill = file.parent.parent
    in_skill = file.parts[-2:] == SKILL_EVALS.parts and any((skill / name).is_file() for name in READERS)
    return skill if in_skill else file.parent


def _unique_names(files: Sequence[Path]) -> list[str]:
    """Return short unique names: file names, or folder names of skills, with parent folders where needed."""
    parts = [
        (path.parents[1] if path.parts[-2:] == SKILL_EVALS.parts else path).parts for path in map(Path.resolve, files)
    ]
    for length in range(1, max(map(len, parts), default=0)):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(set(parts)):
            return names
    return ["/".join(part) for part in parts]


def _rows(path: Path) -> Iterator[GoalRow | BadRow]:
    try:
        text = untrusted_files.read_given_text(path, _LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"the cases in {path} cannot be read: {reason}", hint="name a text file") from error
    yield from _parse(text, goal_formats.form_of(path))


def _parse(text: str, form: str) -> Iterator[GoalRow | BadRow]:
    yield from _document(text, form) if form in ("json", "yaml") else goal_formats.READERS[form](io.StringIO(text))


def _document(text: str, form: str) -> Iterator[GoalRow | BadRow]:
    """Yield the rows of a document: a list, or an object with a list as in `evals.json`."""
    rows = list(goal_formats.READERS[form](io.StringIO(text)))
    if len(rows) != 1 or not isinstance(rows[0], BadRow) or rows[0].fault != goal_formats.NOT_A_LIST:
        yield from rows
        return
    document = json.loads(text) if form == "json" else _yaml(text)
    if isinstance(document, BadRow):
        yield document
        return
    items = next(
        (document[key] for key in _LIST if isinstance(document, Mapping) and isinstance(document.get(key), list)), None
    )
    if items is None:
        yield BadRow(1, f"it must be a list of cases or an object with one ({', '.join(_LIST)})")
        return
    lines = _lines(text, len(items))
    for number, value in enumerate(items):
        yield GoalRow(lines[number], {"goal": value} if isinstance(value, str) else value, number + 1)


def _yaml(text: str) -> Any:
    """Parse YAML that is not a plain list; returns a BadRow if a value is invalid."""
    import yaml

    from goalwright_skills.format.safe_yaml import FastLoader

    try:
        return yaml.load(text, FastLoader)  # noqa: S506 - the safe loader
    except yaml.YAMLError as error:
        return goal_formats.not_yaml(error)


def _lines(text: str, count: int) -> list[int]:
    """Return the lines of the ids, if every case has one, as approximate positions."""
    starts = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip().lstrip("-{ ").startswith(('"id"', "id:"))
    ]
    return starts if len(starts) == count else [1] * count


def _case(row: GoalRow, folder: Path, home: Path) -> Case:
    value = row.value
    if not isinstance(value, Mapping):
        raise BadCheck('a case must be an object such as {"id": "a", "goal": "…", "checks": []}')
    goal = next((value[key] for key in _GOAL if key in value), None)
    if not isinstance(goal, str) or not goal.strip():
        raise BadCheck("'goal' is missing or empty")
    if join_surrogates(goal) != goal:
        raise BadCheck("the goal is not valid UTF-8")
    if isinstance(value.get("vars"), Mapping):
        goal = filled(goal, value["vars"])
    name = value.get("id", value.get("custom_id"))
    if name is not None and (isinstance(name, bool) or not isinstance(name, str | int) or name == ""):
        raise BadCheck("'id' must be a string or an integer")
    expected = value.get("expected_output") or ""
    if not isinstance(expected, str):
        raise BadCheck("'expected_output' must be a string")
    checks = tuple(_checks(value, expected))
    is_own = "goal" in value  # files for other programs have keys of their own
    if is_own:
        _check_keys(value)
    numbered = f"line-{row.line}" if row.nth == 1 else f"line-{row.line}.{row.nth}"
    return Case(
        id=str(name) if name is not None else numbered,
        goal=goal,
        files=tuple(_files(value.get("files"), folder, home)),
        checks=checks,
        tags=tuple(_texts(value, "tags")),
        skills=tuple(_texts(value, "skills")),
        model=value.get("model") if isinstance(value.get("model"), str) else None,
        plan=value.get("plan") if isinstance(value.get("plan"), Mapping) else None,
        expected=expected,
        folder=folder,
        line=row.line,
        unused=tuple(key for key in map(str, value) if key not in _KEYS) if is_own else (),
    )


def _check_keys(value: Mapping[Any, Any]) -> None:
    """Raise if a key is misspelt or has a value of the wrong type, which would be ignored."""
    for key in value:
        for meant in get_close_matches(str(key), _KEYS, 1, _SIMILAR) if key not in _KEYS else ():
            raise BadCheck(f"there is no key {key!r}; did you mean {meant!r}?")
    if value.get("model") is not None and not isinstance(value["model"], str):
        raise BadCheck("'model' must be a string")
    for key in ("vars", "plan"):
        if value.get(key) is not None and not isinstance(value[key], Mapping):
            raise BadCheck(f"'{key}' must be an object")


def _checks(value: Mapping[Any, Any], expected: str) -> Iterator[CaseCheck]:
    """Return the checks, free ones first; the expected output is an expectation if there is no other check."""
    raw = value.get("checks") or []
    if not isinstance(raw, list):
        raise BadCheck("'checks' must be a list")
    sentences = [sentence for key in _EXPECTATIONS for sentence in _sentences(value, key)]
    if not raw and not sentences and expected.strip():
        sentences = [expected]
    checks = [read_check(item) for item in (*raw, *sentences)]
    yield from sorted(checks, key=lambda check: (check.kind == "expectation", check.kind == "command"))


def _files(raw: Any, folder: Path, home: Path) -> Iterator[Path]:
    if raw is not None and not isinstance(raw, list):
        raise BadCheck("'files' must be a list of paths")
    for name in raw or ():
        if not isinstance(name, str) or not name:
            raise BadCheck("'files' must be a list of paths")
        path = folder / name
        if not path.is_file():  # some authors write paths relative to the skill
            path = home / name
        if not path.is_file():
            raise BadCheck(f"its file {name!r} does not exist in {folder}")
        # Untrusted cases must not send arbitrary files to a model.
        if not path.resolve().is_relative_to(home.resolve()):
            raise BadCheck(f"its file {name!r} is outside {home}; copy it there")
        yield path


def _sentences(value: Mapping[Any, Any], key: str) -> list[str]:
    """Return the expectations of a case, which can be sentences or objects with a sentence."""
    raw = value.get(key) or []
    rows = raw if isinstance(raw, list) else [raw]
    sentences = [
        next((row[name] for name in _SENTENCE if name in row), row) if isinstance(row, Mapping) else row for row in rows
    ]
    return _texts({key: sentences}, key)


def _texts(value: Mapping[Any, Any], key: str) -> list[str]:
    texts = value.get(key) or []
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise BadCheck(f"'{key}' must be a list of strings")
    return texts
