"""Variants, and trials: every case with every variant and repeat, as the goals of one batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright.batch.goals import BatchGoal
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright.evaluation.case import Case


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: a case, a variant, and the number of the repeat."""

    case: Case
    variant: Variant
    repeat: int
    basis: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the goal in the batch."""
        return f"{self.case.id}@{self.variant.name}#{self.repeat}"

    @property
    def goal(self) -> BatchGoal:
        """The goal that the batch runs; the variant's model overrides the case's."""
        case, settings = self.case, self.variant.settings
        skills = tuple(dict.fromkeys((*self.variant.skills, *case.skills)))
        model = None if "model" in settings else case.model
        return BatchGoal(self.id, case.line, case.goal, skills, model, case.plan, case.files, settings, self.basis)


@dataclass(frozen=True, slots=True)
class Trials:
    """All trials, interleaved so that a slow or drifting provider affects all variants alike."""

    cases: Sequence[Case]
    variants: Sequence[Variant]
    repeat: int
    name: str = "cases"
    unused: Mapping[str, int] = field(default_factory=dict)
    basis: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of runs."""
        return len(self.cases) * len(self.variants) * self.repeat

    def each(self) -> Iterator[Trial]:
        """Yield the trials in order; the first variant of a case rotates."""
        for repeat in range(1, self.repeat + 1):
            for number, case in enumerate(self.cases):
                first = (number + repeat) % len(self.variants)
                for variant in (*self.variants[first:], *self.variants[:first]):
                    yield Trial(case, variant, repeat, self.basis.get(variant.name, {}).get(case.id, {}))

    def __iter__(self) -> Iterator[BatchGoal]:
        return (trial.goal for trial in self.each())


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings that override the evaluation's, and skills that every case requires."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    skills: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the variant as it is recorded."""
        settings = {key: list(value) if isinstance(value, tuple) else value for key, value in self.settings.items()}
        return {"name": self.name, "settings": settings, "skills": list(self.skills)}


ONLY = Variant("all")


def check_names(variants: Sequence[Variant]) -> None:
    """Raise if a name is invalid or used twice."""
    names = [variant.name for variant in variants]
    for name in names:
        if not name.strip() or "@" in name or "#" in name:
            raise InputError(f"{name!r} is not a valid variant name", hint="use letters, digits, spaces and '-'")
        if names.count(name) > 1:
            raise InputError(f"two variants are named {name!r}", hint="give each variant a unique name")
