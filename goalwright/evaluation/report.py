"""The report of an evaluation: figures of each variant, differences and scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright.evaluation.scoring import passed_by_case
from goalwright.evaluation.statistics import compare, rate
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright.evaluation.case import Case
    from goalwright.evaluation.judge import Preference
    from goalwright.evaluation.scoring import Score
    from goalwright.evaluation.statistics import Comparison, Interval

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """The pass rate of a variant, and the mean cost, time and calls of its runs; None if unknown."""

    name: str
    pass_rate: Interval | None
    cost_usd: float | None
    seconds: float | None
    calls: float | None

    @classmethod
    def of(cls, name: str, scores: Sequence[Score]) -> VariantFigures:
        """Compute the figures of a variant."""
        results = [score.result for score in scores if score.variant == name]
        costs = [result.cost_usd for result in results]
        known = [cost for cost in costs if cost is not None]
        return cls(
            name,
            rate(list(passed_by_case(scores, name).values())),
            sum(known) / len(known) if known and len(known) == len(costs) else None,
            sum(result.seconds for result in results) / len(results) if results else None,
            sum(result.usage.calls for result in results) / len(results) if results else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        share = self.pass_rate
        return {
            "name": self.name,
            "pass_rate": _round(share.mean if share else None),
            "low": _round(share.low if share else None),
            "high": _round(share.high if share else None),
            "cost_usd": _round(self.cost_usd, 6),
            "seconds": _round(self.seconds, 3),
            "calls": _round(self.calls, 2),
        }


@dataclass(frozen=True, slots=True)
class VariantDifference:
    """A variant compared with the first one; `preferred` counts the preferences of a judge in pairwise comparisons."""

    variant: str
    against: str
    comparison: Comparison | None
    preferred: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as `--json` prints it."""
        comparison = self.comparison
        document = {
            "variant": self.variant,
            "against": self.against,
            "mean": _round(comparison.difference.mean if comparison else None),
            "low": _round(comparison.difference.low if comparison else None),
            "high": _round(comparison.difference.high if comparison else None),
            "verdict": comparison.verdict if comparison else "no difference shown",
            "better": list(comparison.better) if comparison else [],
            "worse": list(comparison.worse) if comparison else [],
            "needed_cases": comparison.needed_cases if comparison else None,
        }
        return document | ({"pairwise": dict(self.preferred)} if self.preferred is not None else {})


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """The judge's model, its new calls and their cost."""

    model: str
    calls: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The report of `goalwright eval`; `stopped` is set if it is incomplete, `reason` if a budget stopped it."""

    eval_id: str
    cases: int
    variants: tuple[VariantFigures, ...]
    differences: tuple[VariantDifference, ...]
    scores: tuple[Score, ...] = field(repr=False)
    judge: JudgeFigures | None = None
    stopped: str | None = None
    warnings: tuple[str, ...] = ()
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as `--json` prints it."""
        judge = self.judge
        judged = {"model": judge.model, "calls": judge.calls, "cost_usd": judge.cost_usd} if judge else None
        return {
            "eval_id": self.eval_id,
            "cases": self.cases,
            "variants": [variant.to_dict() for variant in self.variants],
            "differences": [difference.to_dict() for difference in self.differences],
            "rows": [score.to_dict() for score in self.scores],
            "judge": judged,
            "stopped": self.stopped,
            "reason": self.reason,
            "warnings": list(self.warnings),
        }


def left_out(cases: Iterable[Case]) -> tuple[str, ...]:
    """Warn about expectations that no judge has decided: runs can pass without them."""
    count = sum(len(case.expectations) for case in cases)
    return (f"no judge was asked: {counted(count, 'expectation')} left out of the scores",) if count else ()


def without_verdict(questions: int) -> tuple[str, ...]:
    """Warn about questions without a verdict."""
    count = counted(questions, "question")
    return (f"the judge gave no verdict on {count}: expectations count as not passed, pairs as ties",) * bool(questions)


def differences(
    names: Sequence[str], scores: Sequence[Score], preferences: Mapping[str, Sequence[Preference]] | None = None
) -> tuple[VariantDifference, ...]:
    """Compare each variant with the first."""
    first, *others = names
    before = passed_by_case(scores, first)
    result = []
    for name in others:
        after = passed_by_case(scores, name)
        pairs = {case: (before[case], after[case]) for case in before if case in after}
        preferred = None
        if preferences is not None:
            counts = Counter(preferences.get(name, ()))
            preferred = {"better": counts["second"], "worse": counts["first"], "tie": counts["neither"]}
        result.append(VariantDifference(name, first, compare(pairs), preferred))
    return tuple(result)


def _round(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None else round(value, digits)
