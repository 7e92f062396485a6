"""How well vectors rank the skills of development goals."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Encode = Callable[[Sequence[str]], Any]

PLACES = (1, 5, 30)
EVERYDAY = ("everyday-short", "everyday-long")


def measure(development: Mapping[str, Any], short: Any, whole: Any, goals: Any) -> dict[str, list[float]]:
    """R@1, R@5 and R@30 by set, and how well the best cosine tells goals from everyday ones (AUROC).

    Arrays of unit vectors: each skill's short and whole text, of which the mean similarity counts, and the goals'.
    """
    import numpy

    similar = (goals @ short.T + goals @ whole.T) / 2
    found: dict[str, list[list[float]]] = defaultdict(list)
    best: dict[str, list[float]] = defaultdict(list)
    for row, (name, language, pool, _, expected) in zip(similar, development["goals"], strict=True):
        places = numpy.asarray(development["pools"][pool])
        scores = row[places]
        best["everyday" if name in EVERYDAY else "needed" if expected else "near"].append(float(row.max()))
        if expected:
            order = places[numpy.argsort(-scores, kind="stable")].tolist()
            recall = [len(set(order[:most]) & set(expected)) / len(expected) for most in PLACES]
            found[f"{name}-{_group(language)}" if name == "languages" else name].append(recall)
    figures = {name: [round(float(value), 3) for value in numpy.mean(rows, axis=0)] for name, rows in found.items()}
    return {**figures, "AUROC": [round(auroc(best["needed"], best["everyday"]), 4)]}


def _group(language: str) -> str:
    return language if language in ("zh", "de") else "other"


def auroc(above: Sequence[float], below: Sequence[float]) -> float:
    """The share of pairs in which the first is above the second."""
    import numpy

    first, second = numpy.asarray(above), numpy.sort(numpy.asarray(below))
    return float(numpy.searchsorted(second, first).mean() / max(1, len(second)))


def overall(figures: Mapping[str, Sequence[float]]) -> float:
    """One number to choose by: the mean over sets of the mean of R@1, R@5 and R@30, and twice the AUROC as sets."""
    sets = [sum(values) / len(values) for name, values in figures.items() if name != "AUROC"]
    return (sum(sets) + 2 * figures["AUROC"][0]) / (len(sets) + 2)
