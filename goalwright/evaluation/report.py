"""What an evaluation has found: figures of each variant, differences, and every row."""

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
    """A variant: how often its runs passed, and what one takes on average; what is not known is None."""

    name: str
    pass_rate: Interval | None
    cost_usd: float | None
    seconds: float | None
    calls: float | None

    @classmethod
    def of(cls, name: str, scores: Sequence[Score]) -> VariantFigures:
        """The figures of a variant's runs."""
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
        """The figures as `--json` prints them."""
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
    """A variant against the first one; `preferred` counts a judge's choices, if it was asked to compare answers."""

    variant: str
    against: str
    found: Comparison | None
    preferred: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The difference as `--json` prints it; without checks there is no verdict but the judge's."""
        found = self.found
        document = {
            "variant": self.variant,
            "against": self.against,
            "mean": _round(found.difference.mean if found else None),
            "low": _round(found.difference.low if found else None),
            "high": _round(found.difference.high if found else None),
            "verdict": found.verdict if found else "no difference shown",
            "better": list(found.better) if found else [],
            "worse": list(found.worse) if found else [],
            "needed_cases": found.needed_cases if found else None,
        }
        return document | ({"pairwise": dict(self.preferred)} if self.preferred is not None else {})


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """The judge: its model, the calls that were new this time, and their cost."""

    model: str
    calls: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What `goalwright eval` prints; `stopped` says why it is not complete, if it is not, `reason` what its budget said."""

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
        """The report as `--json` prints it."""
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
    """What to say of expectations that no judge was asked about: a run may have passed without them."""
    count = sum(len(case.expectations) for case in cases)
    return (f"no judge was asked: {counted(count, 'expectation')} left out of the scores",) if count else ()


def without_verdict(questions: int) -> tuple[str, ...]:
    """What to say of questions that the judge's provider refused."""
    asked = counted(questions, "question")
    return (f"the judge gave no verdict on {asked}: expectations count as not passed, pairs as ties",) * bool(questions)


def differences(
    names: Sequence[str], scores: Sequence[Score], preferences: Mapping[str, Sequence[Preference]] | None = None
) -> tuple[VariantDifference, ...]:
    """Each variant against the first."""
    first, *others = names
    before = passed_by_case(scores, first)
    found = []
    for name in others:
        after = passed_by_case(scores, name)
        pairs = {case: (before[case], after[case]) for case in before if case in after}
        preferred = None
        if preferences is not None:
            counts = Counter(preferences.get(name, ()))
            preferred = {"better": counts["second"], "worse": counts["first"], "tie": counts["neither"]}
        found.append(VariantDifference(name, first, compare(pairs), preferred))
    return tuple(found)


def _round(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None else round(value, digits)
