"""The check `file`: what a run left in its artifacts."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from goalwright.evaluation.checks.answer_checks import EVIDENCE, CheckResult, found_in, json_faults
from goalwright_executor.results.file_contents import MOST_BYTES
from goalwright_skills import safe_files
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import shorten

if TYPE_CHECKING:
    from goalwright.evaluation.checks.check import CaseCheck
    from goalwright_executor.history.result import Result
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.kept_files import Artifact


def file_check(check: CaseCheck, result: Result, artifacts: Artifacts) -> CheckResult:
    """Whether one of the files that match is as it must be."""
    pattern = check.value["path"]
    files = [file for file in result.artifacts if _matches(file.path, pattern)]
    if not files:
        there = ", ".join(file.path for file in result.artifacts) or "none"
        return CheckResult(check.name, passed=False, evidence=shorten(f"no file matches; files: {there}", EVIDENCE))
    faults = [(file, _fault(check, file, artifacts)) for file in files]
    good = next((file for file, fault in faults if not fault), None)
    if good is not None:
        return CheckResult(check.name, passed=True, evidence=f"{good.path}, {good.bytes:,} bytes")
    told = "; ".join(f"{file.path}: {fault}" for file, fault in faults)
    return CheckResult(check.name, passed=False, evidence=shorten(told, EVIDENCE))


def content(file: Artifact, artifacts: Artifacts) -> str | None:
    """The text of a file that a run left; None if it is not there, or too large."""
    try:
        data = safe_files.read(artifacts.folder / file.path, below=artifacts.workspace, limit=MOST_BYTES)
    except (OSError, GoalwrightError):
        return None
    return data.decode(errors="replace") if data is not None and len(data) <= MOST_BYTES else None


def _matches(path: str, pattern: str) -> bool:
    """A pattern without a folder matches a file in any."""
    return fnmatchcase(path, pattern) or ("/" not in pattern and fnmatchcase(PurePosixPath(path).name, pattern))


def _fault(check: CaseCheck, file: Artifact, artifacts: Artifacts) -> str:
    wanted = check.value
    if file.bytes < wanted.get("min_bytes", 0):
        return f"{file.bytes:,} bytes are fewer than {wanted['min_bytes']:,}"
    if "contains" not in wanted and "json_schema" not in wanted:
        return ""
    text = content(file, artifacts)
    if text is None:
        return "it cannot be read"
    faults = json_faults(text, wanted["json_schema"]) if "json_schema" in wanted else []
    if "contains" in wanted:
        found, where = found_in(text, wanted["contains"], exact=check.exact or wanted.get("exact", False))
        faults += [] if found else [where]
    return "; ".join(faults)
