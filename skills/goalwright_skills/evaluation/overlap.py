"""Finds pairs of skills that compete for the same goals.

With goals, two skills compete for a goal if one is selected or comes first and the other is expected, or, without a
label, if both are selected. Without goals, the phrases of the skills' own descriptions are the goals:

    descriptions ── terms that are rare enough, vectors ──> pairs that share some or are near, the most alike first
    each pair ── phrases of both, through the detector ──> pairs where the other one is selected too

Only pairs that share a rare term or are near in meaning are tried, so that thousands of skills take seconds instead of
hours.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from goalwright_skills.evaluation.evaluate import evaluate
from goalwright_skills.evaluation.words import Vocabulary
from goalwright_skills.selection.index.descriptions import cut, when_to_use
from goalwright_skills.selection.index.vectors import Vectors, columns, decoded, encoded
from goalwright_skills.selection.query.terms import terms
from goalwright_skills.selection.ranked import shipped_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from goalwright_skills.evaluation.evaluate import Outcome
    from goalwright_skills.evaluation.labelled import LabelledGoal
    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill

# A term in more descriptions than this is ignored, since n descriptions that share a term give n² / 2 pairs.
_COMMON = 50
# The least similarity (cosine of weighted terms) of a pair that is tried.
_ALIKE = 0.1
# The least cosine of descriptions near in meaning, and its weight compared with shared terms.
_NEAR, _MEANING = 0.6, 0.5
_NEAREST = 6
# The largest number of phrases that are tried.
MOST_PHRASES = 4_000
_PHRASES = 8
_PHRASE_TERMS = (2, 12)
_CUT = re.compile(r"[.;:!?()\[\]\n。；：！？（）]+|,\s+(?:and\s+|or\s+)?|，|、|\s+[-–—]\s+")
_LEAD = re.compile(
    r"^(?:also|always)?\s*(?:use|used|invoke|triggers?)\s+(?:this\s+skill\s+)?(?:when(?:ever)?|for|if|to)\b\s*"
    r"(?:the\s+user\s+)?(?:(?:is\s+)?ask(?:s|ed|ing)\s+(?:to|for)|wants\s+to|needs\s+to)?\s*",
    re.IGNORECASE,
)

_NEGATIVE = re.compile(r"(?:do(?:es)?\s+not|don't|doesn't|not|never)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two skills, by name, and the goals for which they compete."""

    a: str
    b: str
    goals: tuple[str, ...]


def in_goals(goals: Iterable[LabelledGoal], skills: Sequence[Skill], detector: SkillDetector) -> list[Overlap]:
    """Return the pairs that compete for these goals, those with most goals first."""
    goals_of: dict[tuple[str, str], list[str]] = defaultdict(list)
    known = {skill.name for skill in skills}
    for outcome in evaluate(goals, skills, detector):
        for pair in dict.fromkeys(_rivals(outcome)):
            if known.issuperset(pair):  # an expected skill may be missing
                goals_of[pair].append(outcome.goal.goal)
    pairs = [Overlap(a, b, tuple(dict.fromkeys(texts))) for (a, b), texts in goals_of.items()]
    return sorted(pairs, key=lambda pair: (-len(pair.goals), pair.a, pair.b))


def _rivals(outcome: Outcome) -> Iterator[tuple[str, str]]:
    selected = [selection.name for selection in outcome.selected]
    if outcome.goal.expected is None:
        yield from map(_pair, combinations(selected, 2))
        return
    first = (
        [selection.name for selection in outcome.ranked[:1] if selection.score > 0 and outcome.recall_at(1) == 0]
        if outcome.expected
        else []
    )
    for expected in outcome.expected:
        for other in (*selected, *first):
            if other not in outcome.expected:
                yield _pair((expected, other))


def in_descriptions(
    skills: Sequence[Skill],
    detector: SkillDetector,
    limit: int,
    *,
    only: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[list[Overlap], int]:
    """Return up to `limit` pairs that compete for phrases of their descriptions, and the number of untried pairs.

    `only` restricts the pairs to those of one skill; `progress` is called with the number of phrases tried.
    """
    by_name = {skill.name: skill for skill in skills}
    similar = candidates(Vocabulary(skills), list(by_name), near_in_meaning(list(by_name.values())))
    pairs = [pair for pair in similar if only is None or only in pair]
    selected: dict[str, list[tuple[str, frozenset[str]]]] = {}
    overlaps: list[Overlap] = []
    tried = 0
    for done, (a, b) in enumerate(pairs):
        if len(overlaps) >= limit or tried >= MOST_PHRASES:
            return _most_first(overlaps), len(pairs) - done
        for name in (a, b):
            if name not in selected:
                texts = phrases(by_name[name])
                selected[name] = [(text, _names(detector, text, skills)) for text in texts]
                tried += len(texts)
                progress(tried)
        texts = [text for name, other in ((a, b), (b, a)) for text, names in selected[name] if other in names]
        if texts:
            overlaps.append(Overlap(a, b, tuple(dict.fromkeys(texts))))
    return _most_first(overlaps), 0


def near_in_meaning(skills: Sequence[Skill]) -> dict[tuple[str, str], float]:
    """Return the cosines of pairs of skills that are near in meaning; empty without an encoder."""
    table = shipped_table()
    if table is None or not skills:
        return {}
    rows = [encoded(skill, "", table) for skill in skills]
    vectors = Vectors(memoryview(b"".join(rows)), memoryview(columns(rows, table.dimensions)), len(rows))
    near: dict[tuple[str, str], float] = {}
    for number, skill in enumerate(skills):
        cosines = vectors.cosines(decoded(rows[number]))
        for other in cosines.nearest(_NEAREST) if cosines is not None else ():
            if other != number and cosines is not None and cosines[other] >= _NEAR:
                near[_pair((skill.name, skills[other].name))] = cosines[other]
    return near


def candidates(words: Vocabulary, names: Sequence[str], near: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """Return the pairs that share rare terms or are `near` in meaning, the most similar first."""
    holders: dict[str, list[str]] = defaultdict(list)
    lengths: dict[str, float] = {}
    weights = {term: math.log(1 + len(names) / count) for term, count in words.frequency.items()}
    for name in names:
        lengths[name] = math.sqrt(sum(weights[term] ** 2 for term in words.description(name))) or 1.0
        for term in words.description(name):
            if words.frequency[term] <= _COMMON:
                holders[term].append(name)
    similarity: dict[tuple[str, str], float] = defaultdict(float)
    for term, having in holders.items():
        for pair in combinations(sorted(having), 2):
            similarity[pair] += weights[term] ** 2
    scored = {pair: shared / (lengths[pair[0]] * lengths[pair[1]]) for pair, shared in similarity.items()}
    for pair, cosine in near.items():
        scored[pair] = max(scored.get(pair, 0.0), cosine * _MEANING)
    return sorted((pair for pair, score in scored.items() if score >= _ALIKE), key=lambda pair: (-scored[pair], pair))


def phrases(skill: Skill) -> list[str]:
    """Return the phrases of a skill's description that could be goals."""
    own = f"{cut(skill.description).own}\n{cut(when_to_use(skill)).own}"
    fewest, most = _PHRASE_TERMS
    texts = (_LEAD.sub("", " ".join(text.split())).strip(" ,'\"`") for text in _CUT.split(own))
    usable = (text for text in texts if fewest <= len(terms(text)) <= most and not _NEGATIVE.match(text))
    return list(dict.fromkeys(usable))[:_PHRASES]


def _names(detector: SkillDetector, text: str, skills: Sequence[Skill]) -> frozenset[str]:
    return frozenset(selection.name for selection in detector.detect(text, skills))


def _most_first(overlaps: list[Overlap]) -> list[Overlap]:
    return sorted(overlaps, key=lambda pair: -len(pair.goals))


def _pair(names: tuple[str, str]) -> tuple[str, str]:
    first, second = sorted(names)
    return first, second
