"""Divides a goal into the parts that it names, and finds which parts build on others.

A goal is divided only where its words are clear. Otherwise it stays whole, because one task too few loses nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright_planner.small_models.clauses import enumerated, language_of, mask, requests, sentences
from goalwright_planner.small_models.coverage import content_words
from goalwright_planner.small_models.objects import things
from goalwright_planner.small_models.references import Piece, builds_on, stand_alone

if TYPE_CHECKING:
    from goalwright_planner.small_models.clauses import Clause, Enumeration
    from goalwright_planner.small_models.languages import Language

MOST_PARTS = 20
# A longer goal contains material, not only requests.
_LONGEST = 2_000
_LONGEST_SIMPLE = 300
_POINTS = re.compile(
    r"(?<!\w)(?:following|below|this|these|folgend\w*|unten|diese\w*|suivant\w*|ce|cette|siguiente\w*|este|esta|下面|以下|这)"
    r"(?!\w)",
    re.IGNORECASE,
)
_ENDS = (".", "!", "?", "。", "！", "？", ":", "”", '"', "`")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a goal asks for; `after` has the positions of the parts that it builds on."""

    text: str
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GoalParts:
    """The parts of a goal, or the goal itself if it cannot be divided; `simple` if it is clearly one thing.

    The parts are `certain` if each is a request of its own, and is clear without the parts that it does not build on.
    """

    parts: tuple[Part, ...]
    simple: bool = False
    certain: bool = False


def parts_of(goal: str) -> GoalParts:
    """Return the parts of a goal, in order."""
    text = goal.strip()
    language = language_of(text)
    listed = enumerated(text)
    reading = _listed(listed, language) if listed else _prose(text, language) if len(text) <= _LONGEST else _Reading()
    if not 2 <= len(reading.pieces) <= MOST_PARTS:
        return GoalParts((Part(text),), simple=listed is None and _is_simple(text, len(reading.pieces), language))
    after = builds_on(reading.pieces, language)
    lead, rules = " ".join(reading.context), " ".join(filter(None, (*reading.rules, reading.material)))
    texts = [" ".join(filter(None, (lead, _sentence(piece.text), rules))) for piece in reading.pieces]
    worded = not reading.material and all(piece.own for piece in reading.pieces)
    certain = worded and stand_alone(reading.pieces, after, language)
    return GoalParts(tuple(Part(text, before) for text, before in zip(texts, after, strict=True)), certain=certain)


@dataclass(slots=True)
class _Reading:
    """A goal in pieces: its requests, the context and rules for all of them, and the material that they are about."""

    context: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    material: str = ""

    def add(self, clause: Clause, language: Language) -> None:
        """Add a request, or a request for each thing that it lists."""
        group = self.pieces[-1].group + 1 if self.pieces else 0
        if self.pieces and self.pieces[-1].whole and _chooses(clause.text, language):
            last = self.pieces.pop()
            self.pieces.append(replace(last, text=f"{last.text} {language.ands.split()[0]} {clause.text}"))
            return
        text = self._with_verb(clause.text, language)
        listed = things(text, language)
        own = not listed.each and _asks(clause.text, language)
        self.pieces += [
            Piece(thing, group, clause.then, linked=listed.linked, own=own) for thing in listed.each or (text,)
        ]
        if listed.whole:
            self.pieces.append(Piece(listed.whole, group, whole=True))

    def _with_verb(self, text: str, language: Language) -> str:
        """Return the request with the previous verb if it has none: "write a guide, then an announcement"."""
        former = language.begins_goal.match(self.pieces[-1].text) if self.pieces else None
        has_article = language.any_of(language.articles, start=True).match(text)
        if former is None or not has_article or language.begins_goal.match(text):
            return text
        return f"{former.group()} {text}"


def _listed(listed: Enumeration, language: Language) -> _Reading:
    """Read a written list, whose introduction belongs to each item."""
    pieces = [Piece(item, group, own=_asks(item, language)) for group, item in enumerate(listed.items)]
    reading = _Reading(pieces=pieces)
    if content_words(listed.before):
        reading.context.append(listed.before if listed.before.endswith(_ENDS) else f"{listed.before}:")
    for sentence in sentences(listed.after):
        kind, _, clauses = requests(sentence, language)
        if kind == "request":
            for clause in clauses:
                own = _asks(clause.text, language)
                reading.pieces.append(Piece(clause.text, len(reading.pieces), clause.then, own=own))
        else:
            reading.rules.append(sentence)
    return reading


def _prose(text: str, language: Language) -> _Reading:
    reading = _Reading()
    request, material = _apart(text, language)
    for sentence in sentences(request):
        kind, before, clauses = requests(sentence, language)
        if kind == "request":
            reading.context += [f"{before}:"] if before else []
            for clause in clauses:
                reading.add(clause, language)
        elif kind == "rule" or reading.pieces:
            reading.rules.append(sentence)
        elif content_words(sentence):
            reading.context.append(sentence)
    if material and (each := things(material, language).each):  # "two things: a poem and a song"
        return _Reading(pieces=[Piece(f"{request} {thing}", 0, linked=True) for thing in each])
    if not reading.pieces and len(reading.context) == 1:  # "a poem and a song", without a verb
        return _Reading(pieces=[Piece(thing, 0, linked=True) for thing in things(text, language).each])
    reading.material = material
    return reading


def _apart(text: str, language: Language) -> tuple[str, str]:
    """Split off the material of a request: after a colon, or after "the following text" and a blank line."""
    masked = mask(text)
    colon = re.search(r"(?::\s+|：\s*)(?=\S)", masked)
    if (
        colon
        and not language.begins.match(masked, colon.end())
        and language.begins_goal.search(masked, 0, colon.start())
    ):
        return text[: colon.start() + 1], text[colon.end() :]
    blank = re.search(r"\n\s*\n", masked)
    if blank and _POINTS.search(masked, 0, blank.start()):
        return text[: blank.start()], text[blank.end() :]
    if colon and language.begins.match(masked, colon.end()):  # "Do the following: write a poem"
        return f"{text[: colon.start()]}. {text[colon.end() :]}", ""
    return text, ""


def _asks(text: str, language: Language) -> bool:
    """Whether a text begins with a verb of a request."""
    return bool(language.verbs) and language.begins_goal.match(mask(text)) is not None


def _chooses(text: str, language: Language) -> bool:
    """Whether a request only asks to choose among the things compared before it."""
    return language.any_of(language.gathers, start=True).match(text) is not None and len(text.split()) <= 8


def _is_simple(text: str, request_count: int, language: Language) -> bool:
    """Whether an undivided goal is clearly one thing: it joins nothing, and asks once."""
    masked = mask(text)
    ands = "|".join(language.ands.split())
    gap = r"(?<!\w)" if language.spaced else ""
    lists = re.search(rf"[;；\n、]|,.*{gap}(?:{ands})(?!\w)|,.*,", masked) or len(re.findall(r"[?？]", masked)) > 1
    follows = language.any_of(f"{language.thens} {language.weak_thens}").search(masked)
    verb = language.verbs and re.search(rf"{gap}(?:{ands})\s+{language.begins.pattern}", masked, re.IGNORECASE)
    return request_count <= 1 and len(text) <= _LONGEST_SIMPLE and not (lists or follows or verb)


def _sentence(text: str) -> str:
    text = text.strip().rstrip(",;")
    text = text[:1].upper() + text[1:]
    return text if text.endswith(_ENDS) else f"{text}{'.' if text.isascii() or ' ' in text else '。'}"
