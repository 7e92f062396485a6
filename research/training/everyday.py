"""What tells everyday talk from requests for a skill: a direction in the space of a table's vectors.

It is learnt from everyday requests and from phrases of skills, one to six of each joined. Other languages have few
everyday messages to learn from: there, translations of sentences that are clearly one or the other in English are used
too.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from training.written import Message, Request

# Kinds of phrases that read like goals.
LIKE_GOALS = frozenset({"asked", "use", "trigger", "quote", "said", "sentence", "request"})
JOINED = (1, 1, 2, 3, 4, 6)
# How many texts of each kind: in English, and in other languages; the share of everyday ones of `training/written`.
ENGLISH, OTHER, WRITTEN = 25_000, 6_000, 1 / 3
PHRASES, TRANSLATIONS = 40_000, 120_000
# From these log odds on a sentence is clearly one or the other.
CLEAR = 1.5
RIDGE, STEPS = 1e-3, 12


def direction(
    document: Mapping[str, Any],
    requests: Sequence[Request],
    messages: Sequence[Message],
    vectors: Callable[[Sequence[str]], Any],
    seed: int = 3,
) -> list[float]:
    """The log odds of everyday talk as weights of a vector's dimensions, and last what is added to them.

    Beside what a bundle has there are `requests` for skills and everyday `messages` that were written.
    """
    import numpy

    chance = random.Random(seed)
    phrases: dict[bool, list[str]] = {True: [], False: []}
    for skill, kind, phrase in document["pairs"]:
        if kind in LIKE_GOALS:
            phrases[document["skills"][skill][3] == "en"].append(phrase)
    for request in requests:
        phrases[request.language == "en"].append(request.text)
    written = {
        one: [message.text for message in messages if (message.language == "en") is one] for one in (True, False)
    }
    english, foreign = (chance.sample(one, min(PHRASES, len(one))) for one in (phrases[True], phrases[False]))
    here = round(ENGLISH * WRITTEN) if written[True] else 0
    everyday = _joined(document["everyday"], ENGLISH - here, chance) + _joined(written[True], here, chance)
    skills = _joined(english, ENGLISH, chance)
    first = _fit(vectors(everyday), vectors(skills))
    pairs = chance.sample(document["translations"], min(TRANSLATIONS, len(document["translations"])))
    odds = vectors([pair[1] for pair in pairs]) @ first[:-1] + first[-1]
    clear = {sign: [pair[2] for pair, one in zip(pairs, sign * odds, strict=True) if one > CLEAR] for sign in (1, -1)}
    everyday += _joined(clear[1], 2 * OTHER, chance) + _joined(written[False], OTHER, chance)
    skills += _joined(clear[-1], OTHER, chance) + _joined(foreign, 2 * OTHER, chance)
    found: list[float] = numpy.round(_fit(vectors(everyday), vectors(skills)), 4).tolist()
    return found


def _joined(texts: Sequence[str], count: int, chance: random.Random) -> list[str]:
    if not texts:
        return []
    return [". ".join(chance.choices(texts, k=chance.choice(JOINED))) for _ in range(count)]


def _fit(everyday: Any, other: Any) -> Any:
    """A logistic curve that tells these vectors from the others, by Newton's method."""
    import numpy

    rows = numpy.vstack([everyday, other])
    rows = numpy.hstack([rows, numpy.ones((len(rows), 1))])
    labels = numpy.repeat([1.0, 0.0], [len(everyday), len(other)])
    ridge = 2 * RIDGE * numpy.diag([1.0] * (rows.shape[1] - 1) + [0.0])
    weights = numpy.zeros(rows.shape[1])
    for _ in range(STEPS):
        share = 1 / (1 + numpy.exp(-numpy.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share - labels) / len(rows) + ridge @ weights
        curve = (rows * (share * (1 - share))[:, None]).T @ rows / len(rows) + ridge
        weights = weights - numpy.linalg.solve(curve + 1e-9 * numpy.eye(len(curve)), slope)
    return weights
