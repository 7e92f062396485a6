"""The signals of a skill as one score; whether a text needs a skill at all; how probably a skill is the right one.

The weights are learnt from development goals (`python -m training.ranking` in research/) and read from `data/combination.json`: for
a goal that is one part, for the whole and the best part of a goal with few parts, and of one with many.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.selection.ranking.signals import Agreement, Outlook, Signals

FILE = Path(__file__).parents[2] / "data" / "combination.json"
FEW_PARTS = 3
# From which log odds of everyday talk on a goal takes more to select a skill.
EVERYDAY = 1.0
# A standard deviation of cosines below this is that of a pool with hardly any skills.
_LEAST_DEVIATION = 0.02
# More words of a text than these say no more about its need.
_MOST_DESCRIBED, _MOST_IN_BODY = 8, 12
Weights = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """Weights of the signals by where they come from, of what tells a need, and of what tells the right skill.

    `whole` and `part` are the needs from which a goal and a part of one select, `foreign` that of a goal in another
    language than English; `certain` is the probability from which a skill counts as certain.
    """

    signals: tuple[str, ...]
    alone: Weights
    few: tuple[Weights, Weights]
    many: tuple[Weights, Weights]
    need: Mapping[str, float]
    need_of_part: Mapping[str, float]
    right: Mapping[str, float]
    whole: float
    foreign: float
    part: float
    certain: float

    @classmethod
    @cache
    def shipped(cls) -> Combination:
        """The weights that are installed with goalwright."""
        data = json.loads(FILE.read_bytes())
        order = data["signals"]
        row = {name: tuple(float(values[signal]) for signal in order) for name, values in data["weights"].items()}
        return cls(
            tuple(order),
            row["alone"],
            (row["few_whole"], row["few_part"]),
            (row["many_whole"], row["many_part"]),
            data["need"],
            data["need_part"],
            data["right"],
            **{name: float(data["thresholds"][name]) for name in ("whole", "foreign", "part", "certain")},
        )

    def passage(self, signals: Signals) -> float:
        """The score of a skill for one text, be it a goal or a part."""
        return _weighed(self.alone, signals)

    def shares(self, signals: Signals) -> dict[str, float]:
        """What of a skill's score for one text comes from which signal."""
        return {name: weight * value for name, weight, value in zip(self.signals, self.alone, signals, strict=True)}

    def goal(self, whole: Signals, part: Signals | None, parts: int) -> float:
        """The score of a skill for a goal of that many parts; `part` are its signals in the part that it fits best."""
        if not parts:
            return _weighed(self.alone, whole)
        weights = self.few if parts <= FEW_PARTS else self.many
        return _weighed(weights[0], whole) + (_weighed(weights[1], part) if part is not None else 0.0)

    def needed(self, features: Mapping[str, float]) -> float:
        """The probability that a goal with these features needs a skill of the pool."""
        return probability(self.need, features)

    def needed_by_part(self, features: Mapping[str, float], whole: float) -> float:
        """The same for a part of a goal; `whole` is the goal's own probability."""
        return probability(self.need_of_part, {**features, "context": max(-6.0, min(6.0, log_odds(whole)))})

    def probably_right(self, features: Mapping[str, float]) -> float:
        """The probability that a skill with these features is the right one."""
        return probability(self.right, features)


def probability(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """A logistic curve over weighed features."""
    return curve(sum(weight * features[name] for name, weight in weights.items()))


def curve(total: float) -> float:
    """The probability of log odds."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def right_features(own: Signals, need: float, ahead: float, *, is_part: bool) -> dict[str, float]:
    """What tells whether a skill is the right one for a text; `ahead` is by how much its score leads the others'."""
    return {
        "bias": 1.0,
        "need": log_odds(need),
        "ahead": max(-3.0, min(3.0, ahead)),
        "words": min(own.words, 6.0),
        "lead": own.lead,
        "meaning": own.meaning,
        "name": own.name,
        "part": float(is_part),
    }


def log_odds(probability: float) -> float:
    """A probability on the scale that features are weighed on."""
    return math.log(max(probability, 1e-6) / max(1 - probability, 1e-6))


def need_features(best: Signals, said: Agreement, text: Outlook) -> dict[str, float]:
    """What tells whether a text needs a skill: how its best skill fits it, and what it is like beside all skills.

    A cosine means more if the pool's cosines are widely spread (`stands_out` weighs against it), and where the text has
    words that no skill has (`unsaid`), as one in another language does. A telling word that no skill has (`unheard`) is
    often the thing that the pool has no skill for.
    """
    words = math.log(0.1 + best.words)
    everyday = max(0.0, text.everyday - EVERYDAY)
    in_body = min(said.in_body, _MOST_IN_BODY)
    return {
        "bias": 1.0,
        "words": min(best.words, 6.0),
        "log_words": words,
        "lead": best.lead,
        "described": min(said.described, _MOST_DESCRIBED),
        "in_body": in_body,
        "rarest": said.rarest,
        "meaning": best.meaning,
        "other_meaning": text.most_meaning - best.meaning,
        "stands_out": (text.most_meaning - text.mean) / max(text.deviation, _LEAST_DEVIATION),
        "unsaid": text.most_meaning * (1 - text.known),
        "known": text.known,
        "unheard": text.unheard,
        "unheard_words": text.unheard * words,
        "mean": text.mean,
        "field": text.mean * words,
        "everyday": everyday,
        "everyday_in_body": everyday * in_body,
        "pool": math.log10(text.skills),
    }


def _weighed(weights: Sequence[float], signals: Signals) -> float:
    return math.fsum(map(mul, weights, signals))
