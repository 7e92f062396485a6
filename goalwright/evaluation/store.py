"""The folder of an evaluation, `<workspace>/.agents/evals/<id>/`: its request, results and report."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import msgspec

from goalwright.evaluation.errors import NoReport, UnknownEvaluation
from goalwright.runs.run_id import new_run_id
from goalwright_executor.results.artifacts import make_home
from goalwright_skills import safe_files
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


VERSION = 1
_FILES = ("evaluation.json", "report.json")
_LARGEST = 256 * 1024**2


@dataclass(frozen=True, slots=True)
class EvaluationFolder:
    """An evaluation on disk."""

    workspace: Path
    id: str

    @property
    def path(self) -> Path:
        """The folder."""
        return _home(self.workspace) / self.id

    @property
    def results(self) -> Path:
        """The results file of the batch."""
        return self.path / "results.jsonl"

    def begin(self, request: Mapping[str, Any]) -> None:
        """Record the request before any call is paid for."""
        make_home(self.workspace / ".agents")
        self._write("evaluation.json", {"v": VERSION, "eval_id": self.id, "key": key_of(request), **request})

    def end(self, report: Mapping[str, Any]) -> None:
        """Record the report."""
        self._write("report.json", {"v": VERSION, **report})

    def request(self) -> dict[str, Any] | None:
        """Return the recorded request, or None if it is missing or unreadable."""
        return self._read("evaluation.json")

    def report(self) -> dict[str, Any]:
        """Return the report; raises NoReport if there is none."""
        document = self._read("report.json")
        if document is None:
            raise NoReport(f"evaluation {self.id} has no report yet")
        if not is_report(document):
            raise NoReport(f"the report of evaluation {self.id} is damaged", damaged=self.path / "report.json")
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
        return document if isinstance(document, dict) and document.get("v") == VERSION else None


def new_evaluation(workspace: Path) -> EvaluationFolder:
    """Return the folder of a new evaluation; it is created on the first write."""
    return EvaluationFolder(workspace, new_run_id())


def evaluations(workspace: Path) -> Iterator[EvaluationFolder]:
    """Yield the evaluations of a workspace, newest first."""
    home = _home(workspace)
    folders = home.iterdir() if home.is_dir() else ()
    # An evaluation that was killed before it started has neither file.
    names = sorted((path.name for path in folders if any((path / file).is_file() for file in _FILES)), reverse=True)
    return (EvaluationFolder(workspace, name) for name in names)


def find(workspace: Path, name: str) -> EvaluationFolder:
    """Find an evaluation by its id, by a unique prefix of it, or as `last`."""
    folders = list(evaluations(workspace))
    matches = folders[:1] if name == "last" else [folder for folder in folders if folder.id.startswith(name)]
    if len(matches) == 1 and name:
        return matches[0]
    near = nearest_names(name, [folder.id for folder in folders]) if folders else "none"
    message = f"several evaluations start with {name!r}" if matches else f"there is no evaluation {name!r}"
    raise UnknownEvaluation(f"{message}; evaluations: {near}", hint="`last` is the latest evaluation")


def resumable(workspace: Path, request: Mapping[str, Any]) -> EvaluationFolder | None:
    """Return the newest evaluation of the same case files and variants."""
    key = key_of(request)
    return next((folder for folder in evaluations(workspace) if (folder.request() or {}).get("key") == key), None)


def key_of(request: Mapping[str, Any]) -> str:
    """Hash what identifies an evaluation; the content of its case files may change."""
    identity = [request.get("sources"), request.get("variants")]
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _home(workspace: Path) -> Path:
    return workspace / ".agents" / "evals"


class CheckDocument(TypedDict):
    """A check of a row."""

    check: str
    passed: bool
    evidence: str


class RowDocument(TypedDict):
    """A run of a case with a variant."""

    case: str
    variant: str
    repeat: int
    run_id: str
    passed: bool | None
    checks: list[CheckDocument]


class VariantDocument(TypedDict):
    """A variant's figures."""

    name: str
    pass_rate: float | None
    low: float | None
    high: float | None
    cost_usd: float | None
    seconds: float | None
    calls: float | None


class PairwiseDocument(TypedDict):
    """The preferences of a judge."""

    better: int
    worse: int
    tie: int


class DifferenceDocument(TypedDict):
    """A variant compared with the first one."""

    variant: str
    against: str
    mean: float | None
    low: float | None
    high: float | None
    verdict: str
    better: list[str]
    worse: list[str]
    needed_cases: int | None
    pairwise: NotRequired[PairwiseDocument]


class JudgeDocument(TypedDict):
    """The judge's figures."""

    model: str
    calls: int
    cost_usd: float | None


class ReportDocument(TypedDict):
    """A report as `--json` prints it."""

    eval_id: str
    cases: int
    variants: list[VariantDocument]
    differences: list[DifferenceDocument]
    rows: list[RowDocument]
    judge: JudgeDocument | None
    stopped: str | None
    warnings: list[str]


def is_report(document: Any) -> bool:
    """Return whether a value is a valid report; reports of a downloaded workspace are untrusted."""
    try:
        report = msgspec.convert(document, ReportDocument)
    except (msgspec.ValidationError, RecursionError):
        return False
    return bool(report["variants"])
