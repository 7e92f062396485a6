"""Splits cases: two thirds to work on, one third held out, of every tag alike."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.evaluation.case import Case

FEWEST = 9
SEED = 20_261_116


def split(cases: Sequence[Case], seed: int = SEED) -> tuple[list[Case], list[Case]]:
    """Working and held-out cases, each in their order, the same ones each time; those without checks are in neither."""
    every, cases = len(cases), [case for case in cases if case.checks]
    if len(cases) < FEWEST:
        there = f"there are {every} cases"
        if every > len(cases):
            there += f", of which {len(cases)} have checks or expectations"
        raise InputError(
            f"{there}, and {FEWEST} are needed: with fewer, a change that helps cannot be told from luck on the cases "
            "that are held out",
            hint="write more cases with checks; several of each kind, with tags",
        )
    dice = random.Random(seed)  # noqa: S311 - not a secret
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(case.tags[:1], []).append(case)
    # Shuffled within its tag, every third case is held out, counted over all tags: small groups are not left out.
    ordered = [case for tag in sorted(groups) for case in dice.sample(groups[tag], len(groups[tag]))]
    held = {case.id for case in ordered[2::3]}
    return [case for case in cases if case.id not in held], [case for case in cases if case.id in held]
