"""Checks of a run's result and files: its answer, tasks, skills, cost, time and artifacts."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from goalwright_executor.model_loop.data_schema import DataSchema
from goalwright_executor.results.file_contents import MOST_BYTES
from goalwright_planner.json_answer import NotJson, extract
from goalwright_skills import safe_files
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import counted, dollars, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.evaluation.checks.check import CaseCheck
    from goalwright_executor.history.result import Result
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.kept_files import Artifact
    from goalwright_planner.plan.plan import Plan


EVIDENCE = 300


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a check passed, with the evidence."""

    check: str
    passed: bool
    evidence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `--json` prints it."""
        return {"check": self.check, "passed": self.passed, "evidence": self.evidence}


Outcome = tuple[bool, str]  # whether it passed, and the evidence


def answer_check(check: CaseCheck, result: Result) -> CheckResult:
    """Run one of the checks in `CHECKS`."""
    passed, evidence = CHECKS[check.kind](check, result)
    return CheckResult(check.name, passed, shorten(evidence, EVIDENCE))


def find_text(text: str, needle: str, *, exact: bool) -> Outcome:
    """Return whether a text contains another, with the text around the match."""
    start = text.find(needle) if exact else text.casefold().find(needle.casefold())
    if start < 0:
        return False, f"{needle!r} does not occur"
    return True, text[max(start - 40, 0) : start + len(needle) + 40].strip()


def json_faults(text: str, schema: Any) -> list[str]:
    """Validate the JSON in a text against a schema."""
    try:
        value = extract(text)
    except (NotJson, RecursionError) as error:
        return [f"it is not JSON: {error}"]
    return DataSchema(schema, recorded=True).faults(value)


def _contains(check: CaseCheck, result: Result) -> Outcome:
    return find_text(result.answer or "", check.value, exact=check.exact)


def _not_contains(check: CaseCheck, result: Result) -> Outcome:
    contains, excerpt = _contains(check, result)
    return not contains, excerpt


def _json_schema(check: CaseCheck, result: Result) -> Outcome:
    if result.data is not None:
        faults = DataSchema(check.value, recorded=True).faults(result.to_dict()["data"])
    else:
        faults = json_faults(result.answer or "", check.value)
    return not faults, "; ".join(faults) or "it is valid"


def _skill(check: CaseCheck, result: Result) -> Outcome:
    used = ", ".join(result.skills_used) or "none"
    return check.value in result.skills_used, f"skills used: {used}"


def _tasks(check: CaseCheck, result: Result) -> Outcome:
    count = len(result.tasks)
    faults = [f"fewer than {check.value['min']}"] if count < check.value.get("min", 0) else []
    if count > check.value.get("max", count):
        faults.append(f"more than {check.value['max']}")
    parallel = width(result.plan) if "min_parallel" in check.value else 0
    suffix = f", {parallel} of them in parallel" if "min_parallel" in check.value else ""
    if parallel < check.value.get("min_parallel", 0):
        faults.append(f"fewer than {check.value['min_parallel']} in parallel")
    return not faults, f"{counted(count, 'task')}{suffix}" + "".join(f": {fault}" for fault in faults)


def width(plan: Plan | None) -> int:
    """Return how many tasks of a plan can run in parallel: by Dilworth's theorem, the size of a minimum chain cover."""
    if plan is None or not plan.tasks:
        return 0
    import networkx as nx  # slow to import, and few checks need it

    before: Any = nx.DiGraph((name, task.id) for task in plan.tasks for name in task.depends_on)
    before.add_nodes_from(task.id for task in plan.tasks)
    pairs: Any = nx.Graph()
    pairs.add_nodes_from((0, name) for name in before)
    pairs.add_edges_from(((0, first), (1, then)) for first, then in nx.transitive_closure(before).edges)
    matched = nx.bipartite.hopcroft_karp_matching(pairs, [(0, name) for name in before])
    return len(before) - len(matched) // 2


def _max_cost(check: CaseCheck, result: Result) -> Outcome:
    if result.cost_usd is None:
        return False, "the cost is unknown"
    return result.cost_usd <= check.value, dollars(result.cost_usd)


def _max_seconds(check: CaseCheck, result: Result) -> Outcome:
    return result.seconds <= check.value, f"{result.seconds:.1f} s"


def _max_calls(check: CaseCheck, result: Result) -> Outcome:
    return result.usage.calls <= check.value, counted(result.usage.calls, "call")


CHECKS: dict[str, Callable[[CaseCheck, Result], Outcome]] = {
    "contains": _contains,
    "not_contains": _not_contains,
    "json_schema": _json_schema,
    "skill": _skill,
    "tasks": _tasks,
    "max_cost": _max_cost,
    "max_seconds": _max_seconds,
    "max_calls": _max_calls,
}


def file_check(check: CaseCheck, result: Result, artifacts: Artifacts) -> CheckResult:
    """Check that a matching artifact exists and passes the check."""
    pattern = check.value["path"]
    files = [file for file in result.artifacts if _matches(file.path, pattern)]
    if not files:
        paths = ", ".join(file.path for file in result.artifacts) or "none"
        return CheckResult(check.name, passed=False, evidence=shorten(f"no file matches; files: {paths}", EVIDENCE))
    faults = [(file, _fault(check, file, artifacts)) for file in files]
    valid = next((file for file, fault in faults if not fault), None)
    if valid is not None:
        return CheckResult(check.name, passed=True, evidence=f"{valid.path}, {valid.bytes:,} bytes")
    evidence = "; ".join(f"{file.path}: {fault}" for file, fault in faults)
    return CheckResult(check.name, passed=False, evidence=shorten(evidence, EVIDENCE))


def content(file: Artifact, artifacts: Artifacts) -> str | None:
    """Read an artifact as text; None if it is missing or too large."""
    try:
        data = safe_files.read(artifacts.folder / file.path, below=artifacts.workspace, limit=MOST_BYTES)
    except (OSError, GoalwrightError):
        return None
    return data.decode(errors="replace") if data is not None and len(data) <= MOST_BYTES else None


def _matches(path: str, pattern: str) -> bool:
    """Match a path; a pattern without a folder matches in any folder."""
    return fnmatchcase(path, pattern) or ("/" not in pattern and fnmatchcase(PurePosixPath(path).name, pattern))


def _fault(check: CaseCheck, file: Artifact, artifacts: Artifacts) -> str:
    options = check.value
    if file.bytes < options.get("min_bytes", 0):
        return f"{file.bytes:,} bytes are fewer than {options['min_bytes']:,}"
    if "contains" not in options and "json_schema" not in options:
        return ""
    text = content(file, artifacts)
    if text is None:
        return "it cannot be read"
    faults = json_faults(text, options["json_schema"]) if "json_schema" in options else []
    if "contains" in options:
        contains, reason = find_text(text, options["contains"], exact=check.exact or options.get("exact", False))
        faults += [] if contains else [reason]
    return "; ".join(faults)
