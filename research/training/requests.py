"""Requests that people would type, written by a language model for each English skill, and their translations.

Skills say what they do in their own terms; the people who need them do not know these. What the untuned teacher finds
strange is left out of training.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goalwright_skills.format.safe_yaml import load_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Turns = list[dict[str, str]]

LANGUAGES = {"de": "German", "zh": "Chinese", "es": "Spanish", "fr": "French", "ja": "Japanese", "ru": "Russian"}
# How often a language is drawn.
SHARES = (0.32, 0.32, 0.1, 0.1, 0.08, 0.08)
# Requests of a skill that are translated, all into one language.
TRANSLATED = 4
# A request of more skills than this says nothing about any of them.
MOST_SKILLS = 2
# Characters of a request, and the fewest words; longer ones are not translated.
SHORTEST, LONGEST, FEWEST_WORDS, TRANSLATABLE = 12, 640, 3, 320
# Tokens of an answer with long requests, and of one with translations.
LONG_TOKENS, TRANSLATION_TOKENS = 300, 260
# Characters of a description, and of a body beside a description that is short.
DESCRIPTION, BODY, SHORT = 450, 350, 300
_LINE = re.compile(r"^\s*(\d)\s*[.):]\s*(.+?)\s*$", re.MULTILINE)

_PROMPTS = load_own(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


class Request(NamedTuple):
    """A request for the skill at a place, and its translation into a language; both are empty where there is none."""

    skill: int
    english: str
    language: str
    other: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is asked for one skill; `requests` are those to translate, if it is to translate."""

    skill: int
    turns: Turns
    language: str = ""
    requests: tuple[str, ...] = ()
    most_tokens: int = 150


def to_write(skills: Sequence[Sequence[str]]) -> Iterator[Prompt]:
    """Three prompts for each English skill of a bundle: with examples, without, and for long requests."""
    for place, (name, description, body, language) in enumerate(skills):
        if language == "en":
            about = _about(name, description, body)
            turns = [turn("system", _PROMPTS["system"]), *_examples(), turn("user", about)]
            yield from (
                Prompt(place, turns),
                Prompt(place, [turn("user", f"{about}\n\n{_PROMPTS['plain']}")]),
                Prompt(place, [turn("user", f"{about}\n\n{_PROMPTS['long']}")], most_tokens=LONG_TOKENS),
            )


def to_translate(written: Mapping[int, Sequence[str]], seed: int = 2) -> Iterator[Prompt]:
    """A prompt for each skill: some of its requests, into a language that is drawn; decoded greedily."""
    generator = random.Random(seed)
    for place, requests in written.items():
        short = [request for request in requests if len(request) <= TRANSLATABLE]
        yield translation_prompt(place, generator.sample(short, min(TRANSLATED, len(short))), generator)


def translation_prompt(place: int, texts: Sequence[str], chance: random.Random) -> Prompt:
    """What asks for a translation of some texts into a language that is drawn."""
    code = chance.choices(list(LANGUAGES), SHARES)[0]
    told = (
        f"Translate what people typed into {LANGUAGES[code]}, line by line. Keep the numbers, names and terms that "
        f"{LANGUAGES[code]} speakers would not translate. Answer with the translated lines only."
    )
    lines = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
    return Prompt(place, [turn("system", told), turn("user", lines)], code, tuple(texts), TRANSLATION_TOKENS)


def written(answers: Iterable[tuple[Prompt, str]]) -> dict[int, list[str]]:
    """The requests of each skill, each once, without those that are cut, long, or not in English."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for prompt, answer in answers:
        for text in numbered(answer).values():
            if SHORTEST <= len(text) <= LONGEST and len(text.split()) >= FEWEST_WORDS and is_english(text):
                found[prompt.skill][text] = None
    return {place: list(texts) for place, texts in found.items()}


def translated(answers: Iterable[tuple[Prompt, str]]) -> dict[tuple[int, str], tuple[str, str]]:
    """The language and translation of each request, by its skill and text; those in the wrong script are left out."""
    found = {}
    for prompt, answer in answers:
        lines = numbered(answer)
        for number, request in enumerate(prompt.requests, 1):
            other = lines.get(str(number), "")
            fits = _ascii(other) < 0.6 if prompt.language in ("zh", "ja", "ru") else _ascii(other) > 0.8
            if other and other != request and fits:
                found[prompt.skill, request] = (prompt.language, other)
    return found


def joined(
    requests: Mapping[int, Sequence[str]], translations: Mapping[tuple[int, str], tuple[str, str]]
) -> list[Request]:
    """All requests with their translations, without those that several skills have."""
    common = Counter(text.lower() for texts in requests.values() for text in set(texts))
    return [
        Request(place, text, *translations.get((place, text), ("", "")))
        for place, texts in requests.items()
        for text in texts
        if common[text.lower()] <= MOST_SKILLS
    ]


def _examples() -> Iterator[dict[str, str]]:
    for one in _PROMPTS["examples"]:
        yield turn("user", _about(one["name"], one["description"], ""))
        yield turn("assistant", one["requests"].rstrip())


def _about(name: str, description: str, body: str) -> str:
    said = " ".join(description.split())[:DESCRIPTION]
    more = " ".join(re.sub(r"[#*`>|_-]+", " ", body).split())[:BODY] if len(said) < SHORT else ""
    return f"Tool: {name[:60]}\nIt does: {said}" + (f"\nMore: {more}" if more else "")


def turn(role: str, content: str) -> dict[str, str]:
    """One turn of a prompt."""
    return {"role": role, "content": content}


def numbered(answer: str) -> dict[str, str]:
    """The numbered lines of an answer, of each number the first."""
    found: dict[str, str] = {}
    for match in _LINE.finditer(answer):
        found.setdefault(match[1], match[2].strip('"“”* '))
    return found


def is_english(text: str) -> bool:
    """Whether a text is not in another script."""
    return _ascii(text) > 0.97


def _ascii(text: str) -> float:
    return sum(map(str.isascii, text)) / max(1, len(text))
