"""The words of a goal that may change from one goal to the next: files, numbers, quotations, names, its topic.

What a verb like "write" or "extract" asks for is never among them: another thing needs another plan. What one like
"explain" or "review" is about may be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.recipes.words import Word, words
from goalwright_planner.small_models.clauses import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_planner.small_models.languages import Language

MOST = 12
_TOPIC = frozenset(["about", "on", "über", "sur", "sobre"])
_NO_OBJECT = frozenset(
    ["that", "which", "who", "where", "describing", "explaining", "announcing", "including", "as", "by", "using"]
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words of a goal, where they stand, and a name for them."""

    text: str
    start: int
    end: int
    name: str
    typed: bool = False


def phrases(goal: str) -> list[Phrase]:
    """The words of a goal that may be parameters, in order."""
    found = words(goal)
    language = language_of(goal)
    kept: list[Phrase] = []
    for first, last, before in _spans(found, language):
        text = goal[found[first].start : found[last].end]
        start, end = found[first].start, found[last].end
        if found[first].kind == "quoted":
            start, end, text = start + 1, end - 1, text[1:-1]
        typed = first == last and found[first].is_typed
        kept.append(Phrase(text, start, end, _name(found, first, last, before), typed=typed))
    return _distinct(kept)[:MOST]


def _spans(found: Sequence[Word], language: Language) -> Iterator[tuple[int, int, str]]:
    """The first and the last word of each phrase, and the small word that it follows."""
    if not language.spaced:
        yield from ((at, at, "") for at, word in enumerate(found) if word.is_typed)
        return
    openers = frozenset(language.prepositions.split()) - _NO_OBJECT
    products = frozenset(language.products.split())
    about = frozenset(f"{language.tells} {language.weighs} {language.changes}".split())
    verb = next((at for at, word in enumerate(found) if word.is_content), None)
    takes_object = verb is not None and found[verb].text.casefold() in about
    at, open_after = 0, ""
    while at < len(found):
        word = found[at]
        small = word.text.casefold()
        if word.is_typed:
            yield at, at, open_after
            open_after = ""
        elif word.kind == "mark":
            open_after = "" if word.text != "," else open_after
        elif not word.is_content:
            if small in openers:
                open_after = small
            elif small in language.ands.split():
                open_after = open_after and small
            elif not (small in language.articles.split() or small in ("our", "my", "its", "their")):
                open_after = ""
        elif at == verb:
            open_after = "verb" if takes_object else ""
        else:
            last = _last(found, at)
            if last + 1 < len(found) and found[last + 1].kind in ("number", "path"):
                open_after = ""  # "version 1.2": the number varies, not what it is a number of
            elif open_after and found[last].text.casefold() not in products and found[last].weight == 1.0:
                yield at, last, open_after
            else:
                yield from ((one, two, "") for one, two in _names(found, at, last))
            at, open_after = last, ""
        at += 1


def _last(found: Sequence[Word], at: int) -> int:
    """The last of the content words that stand side by side from here on."""
    while at + 1 < len(found) and found[at + 1].kind == "word" and found[at + 1].weight == 1.0:
        at += 1
    return at


def _names(found: Sequence[Word], first: int, last: int) -> Iterator[tuple[int, int]]:
    """The runs of words in a row that are written like names, not at the beginning of a sentence."""
    at = first
    while at <= last:
        end = at
        while end <= last and found[end].is_name and not _begins_sentence(found, end):
            end += 1
        if end > at:
            yield at, end - 1
        at = max(end, at) + 1


def _begins_sentence(found: Sequence[Word], at: int) -> bool:
    return at == 0 or found[at - 1].text in (".", "!", "?", "\n", ":")


def _name(found: Sequence[Word], first: int, last: int, before: str) -> str:
    word = found[last]
    if word.kind == "path":
        return "url" if "://" in word.text else "file"
    if word.kind == "number":
        after = found[last + 1] if last + 1 < len(found) else None
        return _slug(after.text) if after is not None and after.kind == "word" and after.is_content else "number"
    if word.kind == "quoted":
        return "text"
    if before in _TOPIC:
        return "topic"
    if before == "into" and word.is_name:
        return "language"
    return _slug(word.text)


def _slug(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")[:30]
    return plain if plain and plain[0].isalpha() else "text"


def _distinct(found: list[Phrase]) -> list[Phrase]:
    """The phrases with a name for each text; one that stands twice is one parameter."""
    names: dict[str, str] = {}
    for phrase in found:
        if phrase.text.casefold() in names:
            continue
        name, number = phrase.name, 2
        while name in names.values():
            name, number = f"{phrase.name}_{number}", number + 1
        names[phrase.text.casefold()] = name
    return [Phrase(one.text, one.start, one.end, names[one.text.casefold()], one.typed) for one in found]
