"""Combines the signals of a skill into a score, and estimates whether a text needs a skill and whether it is right.

The weights in `data/combination.json` are learned from development goals (`python -m training.ranking` in `research/`):
for goals without parts, and for the whole and the best part of goals with few or many parts.
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
# The log odds of everyday talk above which a goal needs a better match.
EVERYDAY = 1.0
# The least standard deviation of cosines; only pools with hardly any skills have less.
_LEAST_DEVIATION = 0.02
# The largest numbers of words that count for the need of a text.
_MOST_DESCRIBED, _MOST_IN_BODY = 8, 12
Weights = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """The weights of the signals, of the features of a need, and of the features of the right skill.

    `whole`, `part` and `foreign` are the least needs from which a goal, a part and a goal in another language than
    English select; `certain` is the least probability of a certain skill.
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
        """Read the weights that ship with goalwright."""
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
        """Return the score of a skill for one text, a goal or a part."""
        return _weighted(self.alone, signals)

    def shares(self, signals: Signals) -> dict[str, float]:
        """Return the share of each signal in a skill's score for one text."""
        return {name: weight * value for name, weight, value in zip(self.signals, self.alone, signals, strict=True)}

    def goal(self, whole: Signals, part: Signals | None, parts: int) -> float:
        """Return the score of a skill for a goal; `part` are its signals for the part that it fits best."""
        if not parts:
            return _weighted(self.alone, whole)
        weights = self.few if parts <= FEW_PARTS else self.many
        return _weighted(weights[0], whole) + (_weighted(weights[1], part) if part is not None else 0.0)

    def needed(self, features: Mapping[str, float]) -> float:
        """Return the probability that a goal with these features needs a skill of the pool."""
        return probability(self.need, features)

    def needed_by_part(self, features: Mapping[str, float], whole: float) -> float:
        """Return the same for a part of a goal; `whole` is the probability for the whole goal."""
        return probability(self.need_of_part, {**features, "context": max(-6.0, min(6.0, log_odds(whole)))})

    def probably_right(self, features: Mapping[str, float]) -> float:
        """Return the probability that a skill with these features is the right one."""
        return probability(self.right, features)


def probability(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """Return the logistic function of weighted features."""
    return curve(sum(weight * features[name] for name, weight in weights.items()))


def curve(total: float) -> float:
    """Convert log odds to a probability."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def right_features(own: Signals, need: float, ahead: float, *, is_part: bool) -> dict[str, float]:
    """Return the features of a right skill; `ahead` is the lead of its score over the others."""
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
    """Convert a probability to log odds."""
    return math.log(max(probability, 1e-6) / max(1 - probability, 1e-6))


def need_features(best: Signals, agreement: Agreement, text: Outlook) -> dict[str, float]:
    """Return the features of a text's need: the fit of its best skill, and the text compared with all skills.

    A cosine means more if the pool's cosines are widely spread (`stands_out`), and if the text has words that no skill
    has (`unsaid`), as a text in another language does. A heavy word that no skill has (`unheard`) often names the very
    thing that the pool has no skill for.
    """
    words = math.log(0.1 + best.words)
    everyday = max(0.0, text.everyday - EVERYDAY)
    in_body = min(agreement.in_body, _MOST_IN_BODY)
    return {
        "bias": 1.0,
        "words": min(best.words, 6.0),
        "log_words": words,
        "lead": best.lead,
        "described": min(agreement.described, _MOST_DESCRIBED),
        "in_body": in_body,
        "rarest": agreement.rarest,
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


def _weighted(weights: Sequence[float], signals: Signals) -> float:
    return math.fsum(map(mul, weights, signals))
