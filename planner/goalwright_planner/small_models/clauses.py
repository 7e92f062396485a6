"""Splits a goal into sentences, requests, clauses and list items.

Quotations, brackets, code and addresses are masked first, so that nothing is split inside them. The masked text has the
same positions as the original.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goalwright_planner.small_models.languages import languages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_planner.small_models.languages import Language

Kind = Literal["request", "rule", "context"]

_MASK = "\ue000"
_MASKED = re.compile(
    r"```.*?```|`[^`\n]*`|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|‘[^’]*’"
    r"|(?<![\w'])'[^'\n]+'(?!\w)|\((?!\w{1,2}\))[^()]*\)|\[[^\[\]]*\]|https?://\S+"
    r"|\b(?:e\.g|i\.e|etc|vs|dr|mr|mrs|ms|st|approx|incl|z\.\s?b|d\.\s?h|bzw|ca|no)\.(?=\s*[a-z\d])|\d[.,]\d",
    re.DOTALL | re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=\S)|(?<=[。！？])\s*|\n\s*\n|(?<=[:])\s*\n")
_ITEM = re.compile(
    r"^[ \t]*(?:[-*•–‣]|\(?\d{1,2}[.)、]|\(?[a-h][.)])[ \t]+(?=\S)|^[ \t]*\d{1,2}[、．][ \t]*(?=\S)", re.MULTILINE
)
_NUMBER = re.compile(r"(?:(?<=\s)|^)(\(?(\d{1,2})[.)])\s+(?=\S)")
_BETWEEN = re.compile(r"[\s,;]*(?:\b(?:and|und|et|y)\b)?\s*$", re.IGNORECASE)
_DENSE = re.compile(r"[\u4e00-\u9fff]")
_ENGLISH = re.compile(r"\b(?:the|and|with|our|my|what|who|where|how|why|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """One request of a sentence, or a piece of one; `then` if it follows the clause before it."""

    text: str
    then: bool = False

    @property
    def masked(self) -> str:
        """The text, masked."""
        return mask(self.text)


def mask(text: str) -> str:
    """Return the text with quotations, brackets, code, addresses and abbreviations blanked out, at the same length."""
    return _MASKED.sub(lambda match: _MASK * len(match.group()), text)


def language_of(text: str) -> Language:
    """Return the language whose verbs begin the most sentences of a goal."""
    by_name = languages()
    if _DENSE.search(text):
        return by_name["chinese"]
    requests_in = {
        name: sum(
            bool(language.begins_goal.match(_after_polite(sentence, language)[0])) for sentence in sentences(text)
        )
        for name, language in by_name.items()
    }
    best = max(requests_in, key=lambda name: requests_in[name])
    if requests_in[best]:
        return by_name[best]
    return by_name["english" if _ENGLISH.search(text) else "other"]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    masked, parts, begin = mask(text), [], 0
    for end in _SENTENCE.finditer(masked):
        parts.append(text[begin : end.start()])
        begin = end.end()
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


def requests(sentence: str, language: Language) -> tuple[Kind, str, list[Clause]]:
    """Return the kind of a sentence and, for a request, the text before its first verb and its clauses."""
    rest, then = _after_polite(sentence, language)
    if language.any_of(language.rules, start=True).match(rest) and not language.begins.match(rest):
        return "rule", "", []
    before, rest = _frame(rest, language)
    if language.begins_goal.match(mask(rest)):
        rest = rest.removesuffix("?")  # "can you write …?"
        return "request", before, _divided(rest, language, then=then)
    if sentence.rstrip().endswith(("?", "？")):
        return "request", "", [Clause(sentence, then)]
    if not language.verbs or (then and rest):
        return "request", "", _divided(rest, language, then=then)
    return "context", "", []


def _after_polite(sentence: str, language: Language) -> tuple[str, bool]:
    """Return the sentence without polite words, and whether it begins with a word for "then"."""
    rest, then = sentence.strip(), False
    polite = language.any_of(language.polite, start=True)
    follows = language.any_of(f"{language.thens} {language.weak_thens}", start=True)
    while True:
        for pattern in (polite, follows):
            if match := pattern.match(rest):
                then = then or pattern is follows
                rest = rest[match.end() :].lstrip(" ,，:：")
                break
        else:
            return rest, then


def _frame(sentence: str, language: Language) -> tuple[str, str]:
    """Return the text before the first verb, as in "For our café, write a menu", and the rest."""
    masked = mask(sentence)
    comma = re.search(r"[,:，：]\s*", masked)
    if comma is None or language.begins_goal.match(masked):
        return "", sentence
    rest = sentence[comma.end() :]
    is_frame = language.any_of(f"{language.prepositions} given based_on after before if when", start=True)
    if is_frame.match(masked) and language.begins.match(mask(rest)):
        return sentence[: comma.start()].strip(), rest
    return "", sentence


def _divided(sentence: str, language: Language, *, then: bool) -> list[Clause]:
    """Split a request at semicolons, at words for "then", and before verbs after a comma or "and"."""
    masked = mask(sentence)
    clauses: list[Clause] = []
    begin = 0
    for start, end, follows in _boundaries(masked, language):
        if start <= begin:
            continue
        text = sentence[begin:start].strip(" ,;，；")
        if not _is_whole(text, language):
            continue  # "research and compare X": the object of both comes later
        clauses.append(_clause(text, language, then=then))
        begin, then = end, follows
    rest = sentence[begin:].strip(" ,;，；")
    return [*clauses, _clause(rest, language, then=then)] if rest else clauses


def _clause(text: str, language: Language, *, then: bool) -> Clause:
    rest, follows = _after_polite(text, language)
    return Clause(rest or text, then or follows)


def _is_whole(text: str, language: Language) -> bool:
    return len(text.split()) > 1 or not language.spaced


def _boundaries(masked: str, language: Language) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of each separator, and whether the next clause comes after this one."""
    ands = rf"(?:{'|'.join(language.ands.split())})"
    gap = r"\s*" if not language.spaced else r"\s+"
    thens = language.any_of(language.thens).pattern
    weak = language.any_of(language.weak_thens).pattern
    verb = language.begins.pattern if language.verbs else r"(?!)"
    also = r"(?:(?:also|please|briefly)\s+)?"
    pattern = re.compile(
        rf"(?P<then>[,;，；]?\s*(?:{ands}{gap})?(?:{thens})[,，]?\s*(?=\S))"
        rf"|(?P<weak>[,;，；]?\s*(?:{ands}{gap})?(?:{weak})[,，]?\s*(?={verb}))"
        rf"|(?P<semicolon>[;；]\s*(?:{ands}\s+)?)"
        rf"|(?P<comma>[,，]\s*(?:{ands}{gap})?{also}(?={verb}))"
        rf"|(?P<and>(?<=\S){gap}{ands}{gap}{also}(?={verb}))",
        re.IGNORECASE,
    )
    begin = 0
    for match in pattern.finditer(masked):
        kind, before = match.lastgroup, masked[begin : match.start()]
        if kind in ("then", "weak") and _is_no_then(before, match.group(), language):
            continue
        apart = language.any_of(language.apart).match(masked, match.end()) is not None
        if kind != "semicolon" and not apart and _belongs_inside(before, str(kind), language):
            continue
        begin = match.end()
        yield match.start(), match.end(), kind in ("then", "weak")


def _is_no_then(before: str, boundary: str, language: Language) -> bool:
    """Whether "then" belongs to an "if", or is part of "since then"."""
    if not before.strip():
        return True
    last = before.split()[-1].strip(",").casefold()
    excluded = language.no_thens.replace("_", " ").split()
    conditional = re.search(r"(?<!\w)(?:if|when|wenn|falls|si|如果)(?!\w)", before, re.IGNORECASE)
    return (last in excluded and not re.match(r"[,;]", boundary)) or conditional is not None


def _belongs_inside(before: str, kind: str, language: Language) -> bool:
    """Whether a verb belongs to the clause before it, as in "a script to read a file and print it"."""
    inner = language.any_of(language.clauses).search(before) if language.clauses else None
    if inner is None:
        return False
    program = language.any_of(language.programs).search(before[: inner.start()]) if language.programs else None
    return kind == "and" or program is not None


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A written list, with the text before and after it."""

    before: str
    items: tuple[str, ...]
    after: str = ""


def enumerated(text: str) -> Enumeration | None:
    """Return the list in a text; None unless it has at least two items."""
    return _in_lines(text) or _in_a_line(text)


def _in_lines(text: str) -> Enumeration | None:
    masked = mask(text)
    marks = list(_ITEM.finditer(masked))
    if len(marks) < 2:
        return None
    ends = [mark.start() for mark in marks[1:]]
    # A blank line after the last item ends the list.
    blank = re.compile(r"\n[ \t]*\n").search(masked, marks[-1].end())
    last = blank.start() if blank else len(text)
    items = tuple(_clean(text[mark.end() : end]) for mark, end in zip(marks, [*ends, last], strict=True))
    return Enumeration(text[: marks[0].start()].strip(), items, text[last:].strip()) if all(items) else None


def _in_a_line(text: str) -> Enumeration | None:
    """Return a list numbered in one line, as in "1) a poem 2) a song"."""
    marks = list(_NUMBER.finditer(mask(text)))
    numbers = [int(mark.group(2)) for mark in marks]
    if len(marks) < 2 or numbers != list(range(1, len(marks) + 1)):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    items = tuple(_clean(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True))
    return Enumeration(text[: marks[0].start()].strip(), items) if all(items) else None


def _clean(item: str) -> str:
    return " ".join(_BETWEEN.sub("", item).split())
