"""Trials: every case with every variant, as often as it is repeated, as the goals of one batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright.batch.goals import BatchGoal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright.evaluation.case import Case
    from goalwright.evaluation.variant import Variant


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: a case with a variant, for the nth time."""

    case: Case
    variant: Variant
    repeat: int
    basis: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """How the batch knows it."""
        return f"{self.case.id}@{self.variant.name}#{self.repeat}"

    @property
    def goal(self) -> BatchGoal:
        """The goal that the batch runs; a variant's model counts more than the case's own."""
        case, settings = self.case, self.variant.settings
        skills = tuple(dict.fromkeys((*self.variant.skills, *case.skills)))
        model = None if "model" in settings else case.model
        return BatchGoal(self.id, case.line, case.goal, skills, model, case.plan, case.files, settings, self.basis)


@dataclass(frozen=True, slots=True)
class Trials:
    """All trials, interleaved: a provider that gets slower, or drifts, treats all variants alike.

    `basis` is what the runs of each case depend on with each variant.
    """

    cases: Sequence[Case]
    variants: Sequence[Variant]
    repeat: int
    name: str = "cases"
    unused: Mapping[str, int] = field(default_factory=dict)
    basis: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.cases) * len(self.variants) * self.repeat

    def each(self) -> Iterator[Trial]:
        """The trials in the order in which they start; no variant is always the first of a case."""
        for repeat in range(1, self.repeat + 1):
            for number, case in enumerate(self.cases):
                first = (number + repeat) % len(self.variants)
                for variant in (*self.variants[first:], *self.variants[:first]):
                    yield Trial(case, variant, repeat, self.basis.get(variant.name, {}).get(case.id, {}))

    def __iter__(self) -> Iterator[BatchGoal]:
        return (trial.goal for trial in self.each())
