"""Messages of everyday life, which need no skill, written by a language model, and their translations."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goalwright_skills.format.safe_yaml import load_own

from training.requests import (
    FEWEST_WORDS,
    LONG_TOKENS,
    TRANSLATABLE,
    Prompt,
    is_english,
    numbered,
    translation_prompt,
    turn,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# How often each form is asked for of each subject.
ROUNDS = 5
# Characters of a message.
SHORTEST, LONGEST = 10, 900
# Messages of an answer that are translated, all into one language.
TRANSLATED = 3

_PROMPTS = load_own(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


class Everyday(NamedTuple):
    """A message in English, and its translation into a language; both are empty where there is none."""

    english: str
    language: str
    other: str


def to_write() -> Iterator[Prompt]:
    """A prompt for each form of each subject, several times, for an answer that is sampled; numbered by their place."""
    example = _PROMPTS["example"]
    shown = [
        turn("system", _PROMPTS["system"]),
        turn("user", example["asked"]),
        turn("assistant", example["answer"].rstrip()),
    ]
    asked = itertools.product(range(ROUNDS), _PROMPTS["subjects"], _PROMPTS["forms"])
    for place, (_, subject, form) in enumerate(asked):
        yield Prompt(place, [*shown, turn("user", form.format(subject=subject))], most_tokens=LONG_TOKENS)


def written(answers: Iterable[tuple[Prompt, str]]) -> dict[int, list[str]]:
    """The messages of each prompt, each once, without those that are cut, long, or not in English."""
    found = {}
    seen: set[str] = set()
    for prompt, answer in answers:
        texts = [
            text
            for text in numbered(answer).values()
            if SHORTEST <= len(text) <= LONGEST and len(text.split()) >= FEWEST_WORDS and is_english(text)
        ]
        found[prompt.skill] = [text for text in dict.fromkeys(texts) if text.lower() not in seen]
        seen |= {text.lower() for text in texts}
    return found


def to_translate(messages: Mapping[int, list[str]], seed: int = 4) -> Iterator[Prompt]:
    """A prompt for some messages of each answer, into a language that is drawn; decoded greedily."""
    chance = random.Random(seed)
    for place, texts in messages.items():
        short = [text for text in texts if len(text) <= TRANSLATABLE]
        if short:
            yield translation_prompt(place, chance.sample(short, min(TRANSLATED, len(short))), chance)


def joined(
    messages: Mapping[int, list[str]], translations: Mapping[tuple[int, str], tuple[str, str]]
) -> list[Everyday]:
    """All messages with their translations."""
    return [
        Everyday(text, *translations.get((place, text), ("", "")))
        for place, texts in messages.items()
        for text in texts
    ]


def counted(messages: Iterable[Everyday]) -> Counter[str]:
    """How many there are in English, and in each language."""
    found: Counter[str] = Counter()
    for one in messages:
        found.update(["en", one.language] if one.other else ["en"])
    return found
