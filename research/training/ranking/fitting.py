"""Weights from goals that were read: which rank the right skills first, tell a need, and tell the right skill.

rank     a softmax over the candidates of a goal, each right one against all wrong ones
need     a logistic curve over the best skill's signals: of goals that need a skill and of goals that need none
right    a logistic curve over the first skills of every text that needs one

Each set counts by the square root of its size, so that a large one does not drown the others.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from goalwright_skills.selection.ranking.combination import FILE, log_odds, need_features, right_features
from goalwright_skills.selection.ranking.signals import Agreement, Signals
from scipy.optimize import minimize
from scipy.special import expit

from training.ranking.development import WORKSPACE
from training.ranking.reading import SIGNALS, Read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from training.ranking.reading import Text

ROWS = ("alone", "few_whole", "few_part", "many_whole", "many_part")
NAMES = Signals._fields
# What training starts from and is drawn to: words count most.
START = (1.0, 2.5, 2.0, 0.5, 0.3, 0.3, 0.0)
# Goals that share no word with their skill cannot all be told from everyday ones: they count less for the need.
_LANGUAGES = [f"language-{name}{beside}" for name in ("zh", "de", "other") for beside in ("", f"+{WORKSPACE}")]
LITTLE = {"other-words": 0.5, "field-other-words": 0.5, **dict.fromkeys(_LANGUAGES, 0.4)}
# Goals in the field of a pool that has no skill for them are few, and what users see first of a wrong selection. Those
# that lie between two skills are all written for the smallest pool: they would teach that such a pool is rarely needed.
NEED_COUNTS = {**LITTLE, "near-none": 5.0, "none-UiPath+skills": 0.0}
# The share of the weight learnt for a pool's size that counts. All of it has goals in the field of a large pool
# select one too readily, and goals for a skill of a small pool too rarely: it is learnt from few pools.
POOL_SHARE = 2 / 3
# The share of everyday goals that may select a skill, of those in other languages than English (they are far from
# skills, and so are the goals that need one), and of all that may do so by a part.
WRONG, WRONG_FOREIGN, WRONG_PART = 0.004, 0.003, 0.001
# A skill is certain from the probability at which this share of the first selections is right. Goals of a corpus that
# are written to lie between two of its skills are left out: of those 0.87 are right at best. Goals in a field without a
# skill are among them, since a certain skill has to be used.
CERTAIN = 0.995
CLEAR = frozenset(
    {"library", "library-none", "near-none", "named", "nested", "long-several", "long-several-all", "several-bench"}
)
# How much goals count for the ranking: those for one skill are what people ask most.
RANK_COUNTS = {
    "single-all": 4.0,
    "single-coreyhaines31+marketingskills": 2.0,
    **dict.fromkeys(("other-words", "field-other-words", *_LANGUAGES), 0.5),
}
_FIRST, _CLIP = 3, 6.0


@dataclass(slots=True)
class Fitted:
    """What was learnt."""

    rank: Any
    need: dict[str, float] = field(default_factory=dict)
    need_part: dict[str, float] = field(default_factory=dict)
    right: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)

    @property
    def passage(self) -> Any:
        """The weights of one text."""
        return self.rank[:SIGNALS]

    def document(self) -> dict[str, Any]:
        """The weights as the ranking reads them."""
        rows = np.round(self.rank.reshape(len(ROWS), SIGNALS), 3).tolist()
        weights = {name: dict(zip(NAMES, row, strict=True)) for name, row in zip(ROWS, rows, strict=True)}
        rounded = (
            {name: round(value, 3) for name, value in part.items()} for part in (self.need, self.need_part, self.right)
        )
        need, need_part, right = rounded
        return {
            "signals": list(NAMES),
            "weights": weights,
            "need": need,
            "need_part": need_part,
            "right": right,
            "thresholds": {name: round(value, 4) for name, value in self.thresholds.items()},
        }


def installed() -> Any:
    """The weights of the order that are installed."""
    weights = json.loads(FILE.read_bytes())["weights"]
    return np.array([weights[row][name] for row in ROWS for name in NAMES])


def fit(reads: Sequence[Read], order: Any = None, only: str = "") -> Fitted:
    """Everything, from the goals of one half; with the weights of an `order`, the rest for these.

    Of such an order the weights of `only` one signal can be learnt, the others being kept.
    """
    share = _shares(reads)
    if order is None or only:
        order = _rank([read for read in reads if read.expected], share, order, only)
    fitted = Fitted(order)
    _need(fitted, reads, share)
    _right(fitted, reads, share)
    return fitted


def _shares(reads: Sequence[Read]) -> Callable[[Read], float]:
    sizes = Counter(read.goal.set for read in reads)
    return lambda read: 1 / float(np.sqrt(sizes[read.goal.set]))


# Ranking


def design(read: Read, passage: Any) -> tuple[Any, Any]:
    """The candidates of a goal, and for each a row of signals in the columns that its kind of goal has weights for."""
    every = np.unique(np.concatenate([text.candidates for text in read.texts]))
    rows = np.zeros((len(every), len(ROWS) * SIGNALS))
    first = 0 if read.kind == 0 else SIGNALS * (2 * read.kind - 1)
    whole = read.texts[0]
    rows[np.searchsorted(every, whole.candidates), first : first + SIGNALS] = whole.signals
    best = np.full(len(every), -np.inf)
    for text in read.texts[1:]:
        places, scores = np.searchsorted(every, text.candidates), text.signals @ passage
        better = scores > best[places]
        best[places[better]] = scores[better]
        rows[places[better], first + SIGNALS : first + 2 * SIGNALS] = text.signals[better]
    return every, rows


def _rank(reads: Sequence[Read], share: Callable[[Read], float], order: Any, only: str) -> Any:
    start = np.concatenate([START, *([np.array(START) / 2] * 4)]) if order is None else order
    free = np.array([not only or name == only for _ in ROWS for name in NAMES])
    found = start
    counts = np.array([RANK_COUNTS.get(read.goal.set, 1.0) * share(read) for read in reads])
    counts /= counts.sum()
    for _ in range(2):  # which part is the best one depends on the weights
        goals = _Goals.of([_of_right(read, found[:SIGNALS]) for read in reads], counts)
        result = minimize(_loss, found, (goals, start, free), jac=True, method="L-BFGS-B", options={"maxiter": 200})
        found = result.x
    return found


def _of_right(read: Read, passage: Any) -> tuple[Any, Any]:
    every, rows = design(read, passage)
    right = np.isin(every, list(read.expected))
    return rows[right], rows[~right]


@dataclass(frozen=True, slots=True)
class _Goals:
    """The candidates of all goals as two tables: right ones with their goal and count, and wrong ones goal by goal."""

    right: Any
    owners: Any
    counts: Any
    wrong: Any
    starts: Any

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, Any]], counts: Sequence[float]) -> _Goals:
        kept = [(*pair, count) for pair, count in zip(rows, counts, strict=True) if len(pair[0]) and len(pair[1])]
        rights, wrongs = [len(right) for right, _, _ in kept], [len(wrong) for _, wrong, _ in kept]
        return cls(
            np.vstack([right for right, _, _ in kept]),
            np.repeat(np.arange(len(kept)), rights),
            np.repeat([count / len(right) for right, _, count in kept], rights),
            np.vstack([wrong for _, wrong, _ in kept]),
            np.concatenate([[0], np.cumsum(wrongs)[:-1]]),
        )


def _loss(weights: Any, goals: _Goals, start: Any, free: Any) -> tuple[float, Any]:
    """How far each right skill is from standing before all wrong ones, and its slope in the weights that are free."""
    against, score = goals.wrong @ weights, goals.right @ weights
    sizes = np.diff(np.append(goals.starts, len(against)))
    most = np.maximum.reduceat(against, goals.starts)
    powers = np.exp(against - np.repeat(most, sizes))
    sums = np.add.reduceat(powers, goals.starts)
    total = np.logaddexp((most + np.log(sums))[goals.owners], score)
    missed = goals.counts * -np.expm1(score - total)
    pull = np.bincount(goals.owners, missed, len(sums)) / sums
    drawn = weights - start
    slope = goals.wrong.T @ (powers * np.repeat(pull, sizes)) - goals.right.T @ missed
    return float(goals.counts @ (total - score)) + 6e-4 * float(drawn @ drawn), (slope + 1.2e-3 * drawn) * free


# Needs


def features_of(text: Text, passage: Any) -> dict[str, float]:
    """What tells whether a text needs a skill."""
    if not len(text.candidates):
        return need_features(Signals(), Agreement(), text.outlook)
    best = int(np.argmax(text.signals @ passage))
    return need_features(Signals(*map(float, text.signals[best])), text.agreements[best], text.outlook)


def needs(read: Read, fitted: Fitted) -> list[float]:
    """The probability that the whole goal needs a skill, then that each part does."""
    found: list[float] = []
    for text in read.texts:
        features = features_of(text, fitted.passage)
        weights = fitted.need
        if found:
            features, weights = {**features, "context": _context(found[0])}, fitted.need_part
        found.append(
            float(expit(sum(weights[name] * features[name] for name in weights))) if text.says_something else 0.0
        )
    return found


def _context(whole: float) -> float:
    return max(-_CLIP, min(_CLIP, log_odds(whole)))


def _need(fitted: Fitted, reads: Sequence[Read], share: Callable[[Read], float]) -> None:
    """Fit what tells a need, of whole goals and then of parts, and set the thresholds by everyday goals."""
    every = [(read, NEED_COUNTS.get(read.goal.set, 1.0) * share(read)) for read in reads]
    totals = {needs: sum(count for read, count in every if bool(read.expected) is needs) for needs in (True, False)}
    whole = [
        (
            features_of(read.texts[0], fitted.passage),
            bool(read.expected),
            count / totals[bool(read.expected)],
        )
        for read, count in every
    ]
    fitted.need = _logistic(whole)
    fitted.need["pool"] *= POOL_SHARE
    parts = []
    for read, count in every:
        context = _context(needs(Read(read.goal, read.expected, read.texts[:1]), fitted)[0])
        for text in read.texts[1:]:
            order = text.candidates[np.argsort(-(text.signals @ fitted.passage))] if len(text.candidates) else []
            needed = bool(read.expected.intersection(order[:2]))
            if not needed and read.expected.intersection(order[:5]):
                continue  # unclear
            features = {**features_of(text, fitted.passage), "context": context}
            doubt = 1.0 if needed or not read.expected else 0.5  # another part may be the one that needs it
            parts.append((features, needed, doubt * count / totals[bool(read.expected)] / (len(read.texts) - 1)))
    fitted.need_part = _logistic(parts)
    everyday = [read for read in reads if read.goal.set.startswith("everyday")]
    found = [needs(read, fitted) for read in everyday]
    part = float(np.quantile([max(each[1:], default=0.0) for each in found], 1 - WRONG_PART))
    left = np.array([1.0 if max(each[1:], default=0.0) >= part else each[0] for each in found])
    foreign = np.array([read.foreign for read in everyday])
    fitted.thresholds |= {
        "whole": float(np.quantile(left, 1 - WRONG)),
        "foreign": float(np.quantile(left[foreign], 1 - WRONG_FOREIGN)),
        "part": part,
    }


# The right skill


def firsts(read: Read, fitted: Fitted, count: int = _FIRST) -> list[tuple[bool, int, dict[str, float]]]:
    """The first skills of every text: whether the text selects, the skill's number, and what tells if it is right."""
    found = []
    whole = fitted.thresholds["foreign" if read.foreign else "whole"]
    for place, (text, need) in enumerate(zip(read.texts, needs(read, fitted), strict=True)):
        scores = text.signals @ fitted.passage if len(text.candidates) else np.array([])
        order = np.argsort(-scores)
        selects = need >= (fitted.thresholds["part"] if place else whole)
        for at in order[:count]:
            others = max((float(scores[other]) for other in order[:2] if other != at), default=0.0)
            own = Signals(*map(float, text.signals[at]))
            features = right_features(own, need, float(scores[at]) - others, is_part=place > 0)
            found.append((selects, int(text.candidates[at]), features))
    return found


def _right(fitted: Fitted, reads: Sequence[Read], share: Callable[[Read], float]) -> None:
    """Fit what tells the right skill, and from which probability on it is certain."""
    rows = [
        (features, number in read.expected, LITTLE.get(read.goal.set, 1.0) * share(read) * (1.0 if selects else 0.3))
        for read in reads
        for selects, number, features in firsts(read, fitted)
    ]
    fitted.right = _logistic(rows)
    fitted.thresholds["certain"] = certain(fitted, reads)


def certain(fitted: Fitted, reads: Sequence[Read]) -> float:
    """The least probability from which the share of right skills, among those selected first, is high enough."""
    found = sorted(
        (
            (float(expit(sum(fitted.right[name] * features[name] for name in fitted.right))), number in read.expected)
            for read in reads
            for selects, number, features in firsts(read, fitted, 1)
            if selects and read.goal.set in CLEAR
        ),
        reverse=True,
    )
    right, least = 0, 1.0
    for count, (probability, is_right) in enumerate(found, 1):
        right += is_right
        if count >= 20 and right / count >= CERTAIN:
            least = probability
    return least


def _logistic(rows: Sequence[tuple[Mapping[str, float], bool, float]]) -> dict[str, float]:
    names = list(rows[0][0])
    values = np.array([[features[name] for name in names] for features, _, _ in rows])
    labels, counts = np.array([float(label) for _, label, _ in rows]), np.array([count for _, _, count in rows])
    counts /= counts.sum()
    scale = values.std(axis=0)
    scale[scale == 0] = 1.0
    scaled = values / scale
    bias = np.array([name == "bias" for name in names])

    def loss(weights: Any) -> tuple[float, Any]:
        free = np.where(bias, 0.0, weights)
        total = scaled @ weights
        value = float((counts * (np.logaddexp(0, total) - labels * total)).sum()) + 3e-4 * float(free @ free)
        return value, scaled.T @ (counts * (expit(total) - labels)) + 6e-4 * free

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x / scale
    return dict(zip(names, map(float, found), strict=True))
