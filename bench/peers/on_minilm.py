"""Skills ranked by MiniLM's vectors of names and descriptions.

The encoder is all-MiniLM-L6-v2 in numpy: the reference implementation needs PyTorch, for the same vectors.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.peers.minilm import MiniLM
from bench.peers.report import given, report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Skills = list[list[str]]


def by_vectors(skills: Skills, encoder: MiniLM) -> Callable[[str], list[str]]:
    """Ranks skills by the cosine of their vectors."""
    vectors = np.array([list(one) for one in encoder.encode([f"{name}: {text}" for name, text in skills])])

    def rank(goal: str) -> list[str]:
        (wanted,) = encoder.encode([goal])
        order = np.argsort(-(vectors @ np.array(list(wanted))))[:10]
        return [skills[at][0] for at in order]

    return rank


def measure(subject: str, asked: Any, make: Callable[[str, Any], Callable[[str], Sequence[str]]]) -> None:
    """Rank every goal in its pool and among all skills."""
    pools = {pool: make(pool, asked["pools"][pool]) for pool in {goal["pool"] for goal in asked["goals"]}}
    whole = make("", asked["whole"])
    for goal in asked["goals"]:
        own = list(pools[goal["pool"]](goal["goal"]))
        began = time.perf_counter()
        among = list(whole(goal["goal"]))
        seconds = time.perf_counter() - began
        places = [names.index(goal["expected"]) + 1 if goal["expected"] in names else 0 for names in (own, among)]
        report(subject=subject, pool=goal["pool"], place=places[0], whole=places[1], seconds=seconds)


def main() -> None:
    """Rank by vectors."""
    asked, encoder = given(), MiniLM.installed()
    measure("MiniLM", asked, lambda _, skills: by_vectors(skills, encoder))


if __name__ == "__main__":
    main()
