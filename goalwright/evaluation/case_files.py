"""Files of cases: JSON lines, YAML, a skill's `evals/evals.json`, and the goal files of `goalwright batch`.

Each file is read whole and checked; every fault is reported at once with its line.
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
_ALIKE = 0.81
_MOST_CASES = 10_000
_LARGEST = 64 * 1024**2
# What authors of evals.json write for the same.
_EXPECTATIONS = ("expectations", "assertions")
_KEYS = (
    *("id", "custom_id", "goal", "vars", "files", "checks", *_EXPECTATIONS),
    *("expected_output", "tags", "skills", "model", "plan"),
)
_GOAL = ("goal", "prompt", "query", "input", "task")
_SENTENCE = ("text", "description", "expectation", "assertion")
_LIST = ("evals", "cases", "test_cases")
_HINT = "fix these; nothing was run"

# How an object in YAML begins where no name tells the form.
_OBJECT = re.compile(rf"(?:{'|'.join((*_GOAL, *_LIST, 'id', 'custom_id', 'skill_name'))}):(?:\s|$)")

# A file (`-` is stdin), a skill's folder, the keys of a case, or a case that was read before.
Source = str | Path | Mapping[str, Any] | Case


def read_cases(sources: Iterable[Source]) -> list[Case]:
    """The cases of files, of skills' folders, and in memory; raises InputError with everything that is wrong.

    Files number their cases from 1: an id that several of them have is told apart by the file, as in `pdf:1`.
    """
    survey = _Survey()
    files: list[tuple[Path, range]] = []
    for number, source in enumerate(with_stdin(sources), 1):
        if isinstance(source, Case):
            survey.add(source, f"case {number}")
        elif isinstance(source, Mapping):
            survey.take(GoalRow(number, source), f"case {number}", Path.cwd(), Path("/"))
        else:
            file, first = case_file(source), len(survey.cases)
            survey.read(file)
            files.append((file, range(first, len(survey.cases))))
    survey.tell_apart(files)
    survey.check()
    return survey.cases


def with_stdin(sources: Iterable[Source]) -> list[Source]:
    """The sources with the cases on stdin in place of `-`: it is read once, and has no name to be found again by."""
    found: list[Source] = []
    for source in sources:
        found += _on_stdin() if isinstance(source, str | Path) and str(source) == "-" else [source]
    return found


def _on_stdin() -> list[Case]:
    try:
        text = sys.stdin.buffer.read(_LARGEST + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("the cases on stdin cannot be read: it is not UTF-8", hint="send them as UTF-8") from error
    if len(text) > _LARGEST:
        raise InputError(f"the cases on stdin have more than {_LARGEST:,} bytes", hint="send fewer")
    survey = _Survey()
    survey.take_all(_parsed(text, _guessed(text)), "stdin", Path.cwd(), Path.cwd())
    survey.check()
    return survey.cases


def _guessed(text: str) -> str:
    """The form of a text without a name."""
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
    """The file of cases that is named: a file, or a skill's folder with `evals/evals.json` in it."""
    path = Path(source)
    if path.is_dir():
        if not (path / SKILL_EVALS).is_file():
            raise InputError(
                f"{path} has no {SKILL_EVALS.as_posix()}", hint="name a file of cases, or a skill's folder with one"
            )
        return path / SKILL_EVALS
    if not path.exists():
        raise InputError(
            f"no such file of cases: {path}", hint="name a .jsonl, .yaml or evals.json file, or a skill's folder"
        )
    return path


class _Survey:
    """The cases so far, and everything that is wrong with them."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.faults: list[str] = []
        self._more = 0
        self._seen: dict[tuple[str, Path | None], str] = {}

    def read(self, path: Path) -> None:
        """Take every case of a file."""
        folder = path.absolute().parent
        self.take_all(_rows(path), str(path), folder, _home(path.absolute()), path.resolve())

    def take_all(
        self, rows: Iterable[GoalRow | BadRow], name: str, folder: Path, home: Path, file: Path | None = None
    ) -> None:
        """Take every row of what has that name; at least one is a case."""
        before = len(self.cases) + len(self.faults)
        for row in rows:
            if len(self.cases) > _MOST_CASES:
                self._fault(f"{name}: more than {_MOST_CASES:,} cases")
                return
            self.take(row, f"{name}, line {row.line}", folder, home, file)
        if len(self.cases) + len(self.faults) == before:
            self._fault(f"{name} has no cases")

    def take(self, row: GoalRow | BadRow, where: str, folder: Path, home: Path, file: Path | None = None) -> None:
        """Take one case; its files are relative to `folder`, and lie below `home`."""
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
        """Add a case, unless there is one of its name in the same file, or in memory."""
        if (other := self._seen.get((case.id, file))) is not None:
            self._fault(f"{where}: duplicate id {case.id!r}; {other} has it too")
            return
        self._seen[case.id, file] = where
        self.cases.append(case)

    def tell_apart(self, files: Sequence[tuple[Path, range]]) -> None:
        """Name the file in ids that several have; `files` are those read, each with the places of its cases."""
        times = Counter(case.id for case in self.cases)
        for name, (_, places) in zip(_told_apart([file for file, _ in files]), files, strict=True):
            for place in places:
                case = self.cases[place]
                if times[case.id] > 1:
                    self.cases[place] = replace(case, id=f"{name}:{case.id}")
        for taken in (one for one, number in Counter(case.id for case in self.cases).items() if number > 1):
            self._fault(f"several cases have the id {taken!r}")

    def _fault(self, text: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(text)
        else:
            self._more += 1

    def check(self) -> None:
        """Raise if anything is wrong, or there is nothing."""
        if self.faults:
            more = f"\n  and {self._more:,} more" if self._more else ""
            raise InputError(
                "the cases cannot be used:" + "".join(f"\n  {text}" for text in self.faults) + more, hint=_HINT
            )
        if not self.cases:
            raise InputError(
                "there are no cases", hint='a case is {"id": "a", "goal": "…", "checks": [{"contains": "…"}]}'
            )


def _home(file: Path) -> Path:
    """The folder whose files its cases may name: its own, or that of the skill whose `evals/evals.json` it is."""
    skill = file.parent.parent
    is_skills = file.parts[-2:] == SKILL_EVALS.parts and any((skill / name).is_file() for name in READERS)
    return skill if is_skills else file.parent


def _told_apart(files: Sequence[Path]) -> list[str]:
    """What files are called: by their names, those of skills by their folders', with as many folders as it takes."""
    parts = [
        (path.parents[1] if path.parts[-2:] == SKILL_EVALS.parts else path).parts for path in map(Path.resolve, files)
    ]
    for length in range(1, max(map(len, parts), default=0)):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(set(parts)):
            return names
    return ["/".join(part) for part in parts]


def _rows(path: Path) -> Iterator[GoalRow | BadRow]:
    """The rows of a file, each with its line."""
    try:
        text = untrusted_files.read_given_text(path, _LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"the cases in {path} cannot be read: {what}", hint="name a file of text") from error
    yield from _parsed(text, goal_formats.form_of(path))


def _parsed(text: str, form: str) -> Iterator[GoalRow | BadRow]:
    yield from _document(text, form) if form in ("json", "yaml") else goal_formats.READERS[form](io.StringIO(text))


def _document(text: str, form: str) -> Iterator[GoalRow | BadRow]:
    """The rows of a document: a list, or an object with a list, as `evals.json` is."""
    rows = list(goal_formats.READERS[form](io.StringIO(text)))
    if len(rows) != 1 or not isinstance(rows[0], BadRow) or rows[0].fault != goal_formats.NOT_A_LIST:
        yield from rows
        return
    document = json.loads(text) if form == "json" else _yaml(text)
    if isinstance(document, BadRow):
        yield document
        return
    found = next(
        (document[key] for key in _LIST if isinstance(document, Mapping) and isinstance(document.get(key), list)), None
    )
    if found is None:
        yield BadRow(1, f"it is neither a list of cases nor an object with one ({', '.join(_LIST)})")
        return
    lines = _lines(text, len(found))
    for number, value in enumerate(found):
        yield GoalRow(lines[number], {"goal": value} if isinstance(value, str) else value, number + 1)


def _yaml(text: str) -> Any:
    """The document in a text that was looked at as a list of goals before; a BadRow if a value in it is invalid."""
    import yaml

    from goalwright_skills.format.safe_yaml import FastLoader

    try:
        return yaml.load(text, FastLoader)  # noqa: S506 - the safe loader
    except yaml.YAMLError as error:
        return goal_formats.not_yaml(error)


def _lines(text: str, count: int) -> list[int]:
    """About where each of the cases of an `evals.json` begins: at its id, or at its goal."""
    starts = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip().lstrip("-{ ").startswith(('"id"', "id:"))
    ]
    return starts if len(starts) == count else [1] * count


def _case(row: GoalRow, folder: Path, home: Path) -> Case:
    value = row.value
    if not isinstance(value, Mapping):
        raise BadCheck('a case is an object such as {"id": "a", "goal": "…", "checks": []}')
    goal = next((value[key] for key in _GOAL if key in value), None)
    if not isinstance(goal, str) or not goal.strip():
        raise BadCheck("'goal' is missing or empty")
    if join_surrogates(goal) != goal:
        raise BadCheck("the goal is not UTF-8 text")
    if isinstance(value.get("vars"), Mapping):
        goal = filled(goal, value["vars"])
    name = value.get("id", value.get("custom_id"))
    if name is not None and (isinstance(name, bool) or not isinstance(name, str | int) or name == ""):
        raise BadCheck("'id' must be a text or a whole number")
    expected = value.get("expected_output") or ""
    if not isinstance(expected, str):
        raise BadCheck("'expected_output' must be a text")
    checks = tuple(_checks(value, expected))
    own = "goal" in value  # what other authors write has keys for other programs
    if own:
        _refuse_wrong(value)
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
        unused=tuple(key for key in map(str, value) if key not in _KEYS) if own else (),
    )


def _refuse_wrong(value: Mapping[Any, Any]) -> None:
    """Raise if a key is misspelt, or has a value of another kind: it would be ignored."""
    for key in value:
        for meant in get_close_matches(str(key), _KEYS, 1, _ALIKE) if key not in _KEYS else ():
            raise BadCheck(f"there is no key {key!r}; did you mean {meant!r}?")
    if value.get("model") is not None and not isinstance(value["model"], str):
        raise BadCheck("'model' must be a text")
    for key in ("vars", "plan"):
        if value.get(key) is not None and not isinstance(value[key], Mapping):
            raise BadCheck(f"'{key}' must be an object")


def _checks(value: Mapping[Any, Any], expected: str) -> Iterator[CaseCheck]:
    """The checks; what costs nothing comes first. What is expected is an expectation where there is no other."""
    raw = value.get("checks") or []
    if not isinstance(raw, list):
        raise BadCheck("'checks' must be a list")
    sentences = [sentence for key in _EXPECTATIONS for sentence in _sentences(value, key)]
    if not raw and not sentences and expected.strip():
        sentences = [expected]
    checks = [read_check(one) for one in (*raw, *sentences)]
    yield from sorted(checks, key=lambda check: (check.kind == "expectation", check.kind == "command"))


def _files(raw: Any, folder: Path, home: Path) -> Iterator[Path]:
    if raw is not None and not isinstance(raw, list):
        raise BadCheck("'files' must be a list of paths")
    for name in raw or ():
        if not isinstance(name, str) or not name:
            raise BadCheck("'files' must be a list of paths")
        path = folder / name
        if not path.is_file():  # a skill's authors also write them relative to the skill
            path = home / name
        if not path.is_file():
            raise BadCheck(f"its file {name!r} does not exist in {folder}")
        # A model reads it: the cases of a stranger must not send it whatever they name.
        if not path.resolve().is_relative_to(home.resolve()):
            raise BadCheck(f"its file {name!r} leads out of {home}; copy it there")
        yield path


def _sentences(value: Mapping[Any, Any], key: str) -> list[str]:
    """The expectations of a case: sentences, or objects that have one, as many authors write them."""
    raw = value.get(key) or []
    rows = raw if isinstance(raw, list) else [raw]
    said = [
        next((row[name] for name in _SENTENCE if name in row), row) if isinstance(row, Mapping) else row for row in rows
    ]
    return _texts({key: said}, key)


def _texts(value: Mapping[Any, Any], key: str) -> list[str]:
    texts = value.get(key) or []
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise BadCheck(f"'{key}' must be a list of texts")
    return texts
