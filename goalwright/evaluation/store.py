"""The folder of an evaluation, `<workspace>/.agents/evals/<id>/`: what was asked, its results, and its report."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.evaluation.report_document import is_report
from goalwright.runs.run_id import new_run_id
from goalwright_executor.results.artifacts import make_home
from goalwright_skills import safe_files
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FORM = 1
_FILES = ("evaluation.json", "report.json")
_LARGEST = 256 * 1024**2


class UnknownEvaluation(InputError):
    """There is no evaluation of that id."""

    code = "UNKNOWN_EVALUATION"


@dataclass(frozen=True, slots=True)
class EvaluationFolder:
    """One evaluation on disk."""

    workspace: Path
    id: str

    @property
    def path(self) -> Path:
        """The folder."""
        return _home(self.workspace) / self.id

    @property
    def results(self) -> Path:
        """The results file of its batch."""
        return self.path / "results.jsonl"

    def begin(self, asked: Mapping[str, Any]) -> None:
        """Record what was asked, before anything is spent."""
        make_home(self.workspace / ".agents")
        self._write("evaluation.json", {"v": FORM, "eval_id": self.id, "key": key_of(asked), **asked})

    def end(self, report: Mapping[str, Any]) -> None:
        """Record the report, so that it can be shown again."""
        self._write("report.json", {"v": FORM, **report})

    def asked(self) -> dict[str, Any] | None:
        """What was asked; None if it cannot be read."""
        return self._read("evaluation.json")

    def report(self) -> dict[str, Any]:
        """The report; raises if there is none yet."""
        document = self._read("report.json")
        if document is None:
            raise InputError(f"evaluation {self.id} has no report yet", hint="continue it with --resume")
        if not is_report(document):
            raise InputError(
                f"the report of evaluation {self.id} is damaged",
                hint=f"remove {self.path / 'report.json'} and evaluate again with --resume: nothing is paid twice",
            )
        document.pop("v", None)
        return document

    def _write(self, name: str, document: Mapping[str, Any]) -> None:
        text = json.dumps(document, ensure_ascii=False, indent=1, default=str)
        safe_files.write(self.path / name, text.encode("utf-8", "backslashreplace"), below=self.workspace)

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            data = safe_files.read(self.path / name, below=self.workspace, limit=_LARGEST)
            document = json.loads(data) if data is not None else None
        except (OSError, ValueError, RecursionError, GoalwrightError):
            return None
        return document if isinstance(document, dict) and document.get("v") == FORM else None


def new_evaluation(workspace: Path) -> EvaluationFolder:
    """A folder for a new evaluation; it is made when something is written."""
    return EvaluationFolder(workspace, new_run_id())


def evaluations(workspace: Path) -> Iterator[EvaluationFolder]:
    """The evaluations of a workspace, newest first."""
    home = _home(workspace)
    found = home.iterdir() if home.is_dir() else ()
    # One that could not begin, or was killed before it did, has no file.
    names = sorted((path.name for path in found if any((path / file).is_file() for file in _FILES)), reverse=True)
    return (EvaluationFolder(workspace, name) for name in names)


def find(workspace: Path, name: str) -> EvaluationFolder:
    """The evaluation of that id, of the only id that starts with it, or `last`."""
    every = list(evaluations(workspace))
    found = every[:1] if name == "last" else [one for one in every if one.id == name or one.id.startswith(name)]
    if len(found) == 1 and name:
        return found[0]
    known = nearest_names(name, [one.id for one in every]) if every else "none"
    what = f"{name!r} is short for several evaluations" if found else f"there is no evaluation {name!r}"
    raise UnknownEvaluation(f"{what}; evaluations: {known}", hint="`goalwright eval show last` shows the last one")


def resumable(workspace: Path, asked: Mapping[str, Any]) -> EvaluationFolder | None:
    """The newest evaluation that was asked the same: the same cases from the same places, and the same variants."""
    key = key_of(asked)
    return next((one for one in evaluations(workspace) if (one.asked() or {}).get("key") == key), None)


def key_of(asked: Mapping[str, Any]) -> str:
    """A hash of what makes an evaluation the same one; its cases may have changed or grown."""
    same = [asked.get("sources"), asked.get("variants")]
    return hashlib.sha256(json.dumps(same, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _home(workspace: Path) -> Path:
    return workspace / ".agents" / "evals"
