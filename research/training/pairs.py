"""Weak pairs: phrases of a skill that read like goals, each with the skill that it is from."""

from __future__ import annotations

import random
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from training.exclusion import plain
from training.phrases import of_body, of_description, of_triggers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from training.extract import TrainingSkill

# How many phrases of each kind a skill gives at most, and how much they count: quoted requests are nearest to goals.
MOST = {
    "sentence": 4,
    "trigger": 8,
    "part": 8,
    "quote": 10,
    "asked": 12,
    "use": 10,
    "heading": 5,
    "opening": 5,
    "said": 4,
}
WEIGHTS = {"sentence": 0.7, "trigger": 1.3, "part": 0.7, "quote": 1.5, "asked": 2, "use": 1, "heading": 0.35,
           "opening": 0.5, "said": 0.8, "request": 2}  # fmt: skip
# A phrase of more skills than this says nothing about any of them.
MOST_SKILLS = 2
BODY = 1_500


class Pair(NamedTuple):
    """A phrase, its kind, and the place of its skill."""

    skill: int
    kind: str
    phrase: str


def key(phrase: str) -> str:
    """What two phrases are compared by."""
    return plain(phrase) if phrase.isascii() else re.sub(r"\W+", " ", phrase.lower()).strip()


def phrases(skill: TrainingSkill) -> list[tuple[str, str]]:
    """All phrases of a skill, each once, with its kind."""
    found = (*of_description(skill.description), *of_triggers(skill.triggers), *of_body(skill.body))
    return list(dict.fromkeys(found))


def pairs(skills: Sequence[TrainingSkill], seed: int = 1, processes: int = 1) -> Iterator[Pair]:
    """The pairs of all skills."""
    with ProcessPoolExecutor(processes) as pool:
        found = list(pool.map(phrases, skills, chunksize=200))
    common = Counter(each for group in found for each in {key(phrase) for _, phrase in group})
    generator = random.Random(seed)
    for place, group in enumerate(found):
        generator.shuffle(group)
        yield from _chosen(place, group, common, {key(skills[place].name)})


def _chosen(place: int, group: Iterable[tuple[str, str]], common: Counter[str], had: set[str]) -> Iterator[Pair]:
    counts: Counter[str] = Counter()
    for kind, phrase in group:
        text = key(phrase)
        if common[text] > MOST_SKILLS or text in had or len(text.encode()) < 8 or counts[kind] >= MOST[kind]:
            continue
        counts[kind] += 1
        had.add(text)
        yield Pair(place, kind, phrase)


def beginning(body: str, most: int = BODY) -> str:
    """The first characters of a body, without code, addresses and marks of Markdown."""
    text = re.sub(r"```.*?```|https?://\S+", " ", body, flags=re.DOTALL)
    return re.sub(r"[\s#*`>|=-]+", " ", text).strip()[:most]


def spoken(name: str) -> str:
    """A name as words."""
    return re.sub(r"[-_/:.]+", " ", name)
