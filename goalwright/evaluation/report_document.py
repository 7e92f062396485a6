"""The form of a report on disk: a workspace may be a stranger's, and so may be the reports in it."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

import msgspec


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
    """How often a judge preferred which answer."""

    better: int
    worse: int
    tie: int


class DifferenceDocument(TypedDict):
    """A variant against the first one."""

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
    """Whether a value has the form of a report, with a variant at least."""
    try:
        found = msgspec.convert(document, ReportDocument)
    except (msgspec.ValidationError, RecursionError):
        return False
    return bool(found["variants"])
