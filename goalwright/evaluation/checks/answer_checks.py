"""Checks that need nothing but a run's result: its answer, its tasks, what it used and what it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.model_loop.data_schema import DataSchema
from goalwright_planner.json_answer import NotJson, extract
from goalwright_skills.text.formatting import counted, dollars, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.evaluation.checks.check import CaseCheck
    from goalwright_executor.history.result import Result
    from goalwright_planner.plan.plan import Plan

EVIDENCE = 300


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a check passed, and what shows it."""

    check: str
    passed: bool
    evidence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The result as `--json` prints it."""
        return {"check": self.check, "passed": self.passed, "evidence": self.evidence}


Found = tuple[bool, str]


def answer_check(check: CaseCheck, result: Result) -> CheckResult:
    """One of the checks in `CHECKS`."""
    passed, evidence = CHECKS[check.kind](check, result)
    return CheckResult(check.name, passed, shorten(evidence, EVIDENCE))


def found_in(text: str, wanted: str, *, exact: bool) -> Found:
    """Whether a text has another in it, and the place around it."""
    place = text.find(wanted) if exact else text.casefold().find(wanted.casefold())
    if place < 0:
        return False, f"{wanted!r} is not in it"
    return True, text[max(place - 40, 0) : place + len(wanted) + 40].strip()


def json_faults(text: str, schema: Any) -> list[str]:
    """What is wrong with the JSON in a text, by a schema."""
    try:
        value = extract(text)
    except (NotJson, RecursionError) as error:
        return [f"it is not JSON: {error}"]
    return DataSchema(schema, recorded=True).faults(value)


def _contains(check: CaseCheck, result: Result) -> Found:
    return found_in(result.answer or "", check.value, exact=check.exact)


def _not_contains(check: CaseCheck, result: Result) -> Found:
    found, where = _contains(check, result)
    return not found, where


def _json_schema(check: CaseCheck, result: Result) -> Found:
    if result.data is not None:
        faults = DataSchema(check.value, recorded=True).faults(result.to_dict()["data"])
    else:
        faults = json_faults(result.answer or "", check.value)
    return not faults, "; ".join(faults) or "it fits"


def _skill(check: CaseCheck, result: Result) -> Found:
    used = ", ".join(result.skills_used) or "none"
    return check.value in result.skills_used, f"skills used: {used}"


def _tasks(check: CaseCheck, result: Result) -> Found:
    count = len(result.tasks)
    faults = [f"fewer than {check.value['min']}"] if count < check.value.get("min", 0) else []
    if count > check.value.get("max", count):
        faults.append(f"more than {check.value['max']}")
    side_by_side = width(result.plan) if "min_parallel" in check.value else 0
    parallel = f", {side_by_side} of them side by side" if "min_parallel" in check.value else ""
    if side_by_side < check.value.get("min_parallel", 0):
        faults.append(f"fewer than {check.value['min_parallel']} side by side")
    return not faults, f"{counted(count, 'task')}{parallel}" + "".join(f": {fault}" for fault in faults)


def width(plan: Plan | None) -> int:
    """How many tasks of a plan can run side by side at most: by Dilworth, the chains that are needed to cover it."""
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


def _max_cost(check: CaseCheck, result: Result) -> Found:
    if result.cost_usd is None:
        return False, "what it cost is not known"
    return result.cost_usd <= check.value, dollars(result.cost_usd)


def _max_seconds(check: CaseCheck, result: Result) -> Found:
    return result.seconds <= check.value, f"{result.seconds:.1f} s"


def _max_calls(check: CaseCheck, result: Result) -> Found:
    return result.usage.calls <= check.value, counted(result.usage.calls, "call")


CHECKS: dict[str, Callable[[CaseCheck, Result], Found]] = {
    "contains": _contains,
    "not_contains": _not_contains,
    "json_schema": _json_schema,
    "skill": _skill,
    "tasks": _tasks,
    "max_cost": _max_cost,
    "max_seconds": _max_seconds,
    "max_calls": _max_calls,
}
