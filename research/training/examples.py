"""Pairs as texts to train on: the phrase, in four forms, and its skill without the phrase."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from training.exclusion import plain
from training.pairs import spoken

STOP = frozenset(
    re.findall(
        r"\w+",
        """
        the a an to of for in on and or with is are be it this that my your i we you how what when can do from by as at
        use user users
        """,
    )
)
# The share of a phrase's shared words that is kept in its hardest form.
KEPT = 0.35


# How many forms of a phrase an example has.
FORMS = 4


class Example(NamedTuple):
    """A phrase in four forms (all but the first may be empty), and its skill's text, short and whole."""

    phrase: str
    without_name: str
    other_words: str
    translated: str
    short: str
    whole: str


def short(skill: list[str]) -> str:
    """A skill's name and description."""
    return f"{spoken(skill[0])}. {skill[1]}"


def whole(skill: list[str]) -> str:
    """A skill's name and description with the beginning of its body."""
    return f"{short(skill)} {skill[2]}"


def example(skill: list[str], kind: str, phrase: str, translated: str = "") -> Example:
    """The texts of a pair; the skill's lack the phrase, so that nothing is learnt from finding it there."""
    generator = random.Random(f"{skill[0]}\0{phrase}")
    description, body = _without(skill[1], phrase), _without(skill[2], phrase)
    if len(description) < 25 and kind in ("asked", "use", "heading", "opening", "said", "request"):
        description = skill[1]
    text = f"{spoken(skill[0])}. {description}"
    own, name, words = set(plain(text).split()), set(plain(skill[0]).split()), phrase.split()
    unnamed = [word for word in words if plain(word) not in name]
    other = [word for word in words if plain(word) in STOP or plain(word) not in own or generator.random() < KEPT]
    return Example(phrase, _enough(unnamed, words), _enough(other, words), translated, text, f"{text} {body}")


def _without(text: str, phrase: str) -> str:
    before, found, after = text.partition(phrase)
    return before + after if found else text


def _enough(words: list[str], all_words: list[str]) -> str:
    content = sum(plain(word) not in STOP for word in words)
    return " ".join(words) if content >= 2 and len(words) < len(all_words) else ""
