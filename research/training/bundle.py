"""Everything that training reads, in one compressed file."""

from __future__ import annotations

import json
import lzma
import random
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from training.pairs import beginning, pairs
from training.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

    from training.extract import TrainingSkill
    from training.goals.check import Goal
    from training.translations import Translation

# At most so many translations of a language.
TRANSLATIONS = 45_000
DESCRIPTION = 1_500
_HAN = re.compile("[\u4e00-\u9fff]")
_GERMAN = re.compile(r"\b(?:und|der|die|das|für|mit|nicht|bei|oder|eine?)\b")


def language(text: str) -> str:
    """The language of a description, roughly: `zh`, `de` or `en`."""
    if len(_HAN.findall(text)) > 0.1 * len(text):
        return "zh"
    return "de" if len(_GERMAN.findall(text)) > 0.08 * len(text.split()) else "en"


def twins(skills: Sequence[TrainingSkill]) -> list[tuple[int, int]]:
    """The places of Chinese skills that have the name of one English skill: translations of it, mostly."""
    named: dict[str, list[int]] = defaultdict(list)
    for place, skill in enumerate(skills):
        if language(skill.description) == "en":
            named[skill.name.lower()].append(place)
    chinese = [place for place, skill in enumerate(skills) if language(skill.description) == "zh"]
    found = ((place, named.get(skills[place].name.lower(), ())) for place in chinese)
    return [(place, others[0]) for place, others in found if len(others) == 1]


def bundle(
    skills: Sequence[TrainingSkill],
    translations: Sequence[Translation],
    everyday: Sequence[str],
    base: Sequence[str],
    development: Mapping[str, Any],
    processes: int = 2,
) -> dict[str, Any]:
    """Skills, pairs, translations, everyday sentences, vocabulary and development goals as one JSON document."""
    chosen = _sample(translations)
    other: dict[str, list[str]] = defaultdict(list)
    for one in chosen:
        other[one.language].append(one.other)
    texts = [f"{skill.name}. {skill.description} {beginning(skill.body)}" for skill in skills]
    languages = [language(skill.description) for skill in skills]
    for text, code in zip(texts, languages, strict=True):
        if code != "en":
            other[code].append(text)
    english = [text for text, code in zip(texts, languages, strict=True) if code == "en"]
    found = list(pairs(skills, processes=processes))
    return {
        "skills": [
            [skill.name, skill.description[:DESCRIPTION], beginning(skill.body), code]
            for skill, code in zip(skills, languages, strict=True)
        ],
        "pairs": [list(pair) for pair in found],
        "twins": twins(skills),
        "translations": [list(one) for one in chosen],
        "everyday": list(everyday),
        "vocabulary": vocabulary(base, english, other),
        "development": development,
        "counts": {
            "skills": Counter(languages),
            "pairs": Counter(pair.kind for pair in found),
            "translations": Counter(one.language for one in chosen),
        },
    }


def _sample(translations: Sequence[Translation], seed: int = 1) -> list[Translation]:
    groups: dict[str, list[Translation]] = defaultdict(list)
    for one in translations:
        groups[one.language].append(one)
    generator = random.Random(seed)
    return [one for group in groups.values() for one in generator.sample(group, min(TRANSLATIONS, len(group)))]


def development(
    goals: Sequence[Goal], pools: Mapping[str, Sequence[Skill]], bodies: Mapping[str, str]
) -> dict[str, Any]:
    """Goals with the skills of their pools, for choosing between tables while they are trained."""
    every = {skill.name: skill for pool in pools.values() for skill in pool}
    places = {name: place for place, name in enumerate(every)}
    return {
        "skills": [[skill.name, skill.description[:DESCRIPTION], bodies[skill.name]] for skill in every.values()],
        "pools": {
            "all": list(range(len(every))),
            **{pool: sorted({places[skill.name] for skill in group}) for pool, group in pools.items()},
        },
        "goals": [
            [goal.set, goal.language, goal.pool, goal.goal, [places[name] for name in goal.expected]] for goal in goals
        ],
    }


def with_written(document: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """A bundle with what a model wrote beside it: requests, everyday messages, and translations of both."""
    return {
        **document,
        "pairs": [*document["pairs"], *([skill, "request", english] for skill, english, _, _ in written["requests"])],
        "everyday": [*document["everyday"], *(english for english, _, _ in written["everyday"])],
        "translations": [
            *document["translations"],
            *([code, english, other] for *_, english, code, other in written["requests"] if other),
            *([code, english, other] for english, code, other in written["everyday"] if other),
        ],
    }


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a bundle."""
    path.write_bytes(lzma.compress(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"), preset=1))


def read(path: Path) -> dict[str, Any]:
    """Read a bundle."""
    found: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return found
