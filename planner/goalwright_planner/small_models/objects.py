"""The things that one request lists: "write a poem, a song and a play", "compare tea, coffee and juice"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from goalwright_planner.small_models.clauses import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.small_models.languages import Language

_MOST_WORDS = 5
_TO_WHOM = re.compile(r"\s+(?:me|us|mir|uns|-moi)(?!\w)", re.IGNORECASE)
# Begins the purpose or measure that things are compared or described by.
_TAIL = re.compile(
    r"\s+(?:for|as|in|on|by|regarding|with|when|if|considering|using|from|under|für|als|in|bei|nach|pour|comme|dans|en|para"
    r"|como)(?!\w)",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"\s+(?:about|for|on|of|über|für|zu|zum|zur|sur|pour|sobre|para|acerca)(?!\w)", re.IGNORECASE)
_INTO = re.compile(r"^(.*?(?<!\w)(?:into|to|ins|auf|en|al)\s+)(\S.*)$", re.IGNORECASE | re.DOTALL)
_WITH = re.compile(r"\s+(?:with|to|vs\.?|versus|mit|avec|con)\s+", re.IGNORECASE)
_ASKED = re.compile(r"(what|how|why)\s+(\S.*,.*)\s+(do|are|mean|work|differ)$", re.IGNORECASE)
_SINGULAR = {"do": "does", "are": "is", "mean": "means", "work": "works", "differ": "differs"}
_AMONG = re.compile(r"(?<!\w)(?:between|among|zwischen|entre)(?!\w)", re.IGNORECASE)
_ABOUT = re.compile(r"(?<!\w)of\s+(\S.*)$", re.IGNORECASE)
_OF_IT = re.compile(r"(?<!\w)of\s+(?:it|them)(?!\w)", re.IGNORECASE)
_ITS = re.compile(r"^(?:its|their)\s+(.+)$", re.IGNORECASE)
_OF = re.compile(r"(?<!\w)(?:of|von|de|du|del)(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Things:
    """A request for each listed thing; `whole` is a request that needs all of them, if there is one.

    With `linked`, a later thing may build on an earlier one.
    """

    each: tuple[str, ...] = ()
    whole: str = ""
    linked: bool = False


def things(clause: str, language: Language) -> Things:
    """Return the things that a clause lists, if they can be requested one by one."""
    verb = language.begins_goal.match(mask(clause))
    if not language.spaced:
        return Things()
    if verb is None:
        return Things(_made("", clause, language, named_only=True))
    word = clause[: verb.end()]
    to_whom = _TO_WHOM.match(clause, verb.end())
    head, rest = (clause[: to_whom.end()], clause[to_whom.end() :]) if to_whom else (word, clause[verb.end() :])
    rest = rest.strip()
    if language.any_of(language.weighs).fullmatch(word):
        return _weighed(clause, rest, language)
    if re.fullmatch(r"translate|übersetze?n?|tradui\w+|tradu\w+", word, re.IGNORECASE):
        return Things(_into(head, rest, language))
    if language.any_of(language.tells).fullmatch(word) and (requests := _explained(head, rest, language)):
        return Things(requests)
    if language.any_of(f"{language.makes} {language.tells}").fullmatch(word):
        linked = bool(language.any_of(language.makes).fullmatch(word))
        return Things(_made(head, rest, language), linked=linked)
    return Things()


def items_of(text: str, language: Language) -> list[str]:
    """Split a text at commas and "and", except in "between a and b"."""
    ands = "|".join(language.ands.split())
    masked = re.sub(
        rf"(?<!\w)(?:between|both|zwischen|sowohl|entre)(?!\w)[^,;]*?(?<!\w)(?:{ands})(?!\w)",
        lambda match: "\ue000" * len(match.group()),
        mask(text),
        flags=re.IGNORECASE,
    )
    items, begin = [], 0
    for gap in re.finditer(rf"\s*,\s*(?:(?:{ands})\s+)?|\s+(?:{ands})\s+", masked, re.IGNORECASE):
        items.append(text[begin : gap.start()])
        begin = gap.end()
    return [item.strip(" .") for item in [*items, text[begin:]]]


def _made(head: str, rest: str, language: Language, *, named_only: bool = False) -> tuple[str, ...]:
    """Return a request for each thing listed after a verb like "write"; none if one may belong to another."""
    items = items_of(rest, language)
    article = language.any_of(f"{language.articles} \\d+", start=True)
    if len(items) < 2 or not all(article.match(item) for item in items[1:]):
        return ()
    if named_only and not (article.match(items[0]) and all(_is_product(item, language) for item in items)):
        return ()
    if not all(_stands_alone(item, former, language) for former, item in pairwise(items)):
        return ()
    return tuple(f"{head} {item}".strip() for item in _with_topic(items, language))


def _explained(head: str, rest: str, language: Language) -> tuple[str, ...]:
    """Return a request for each of three or more things listed after a verb like "explain"."""
    items = items_of(rest, language)
    if len(items) < 3:
        return ()
    if asked := _ASKED.match(mask(rest)):
        names = items_of(rest[asked.start(2) : asked.end(2)], language)
        short = len(names) > 2 and all(1 <= len(name.split()) <= 2 for name in names)
        return tuple(f"{head} {asked[1]} {name} {_SINGULAR[asked[3]]}" for name in names) if short else ()
    if language.any_of(f"{language.asks} {language.clauses}", start=True).match(rest):
        return ()
    last, tail = _without_tail(items[-1])
    items[-1] = last
    short = all(item and len(item.split()) <= _MOST_WORDS + 2 for item in items)
    first, *others = (_preposition(item, language) is not None for item in items)
    inside = (first and not any(others)) or _AMONG.search(items[0])
    return tuple(f"{head} {item}{tail}" for item in _with_names(items)) if short and not inside else ()


def _with_names(items: Sequence[str]) -> list[str]:
    """Return the things with "it" and "its" replaced by the subject of the first, since each is requested alone."""
    about = _ABOUT.search(items[0])
    if about is None:
        return list(items)
    named = (_OF_IT.sub(lambda _: f"of {about[1]}", item) for item in items)
    return [_ITS.sub(lambda its: f"the {its[1]} of {about[1]}", item) for item in named]


def _weighed(clause: str, rest: str, language: Language) -> Things:
    """Return a request to describe each thing that is compared, and the comparison as a whole."""
    first, tail = _without_tail(rest)
    items = items_of(first, language)
    if len(items) < 2:  # "tea with coffee", where "with" begins no tail
        items, tail = [item.strip(" .") for item in _WITH.split(rest)], ""
        if len(items) == 2:
            items[1], tail = _without_tail(items[1])
    if len(items) < 2 or not all(0 < len(item.split()) <= _MOST_WORDS for item in items):
        return Things()
    if any(
        language.any_of(f"{language.it} {language.them} {language.its} {language.their}").search(item) for item in items
    ):
        return Things()
    of = _OF.search(items[0])
    if of and not any(_OF.search(item) for item in items[1:]):  # "the plot of Hamlet and Macbeth"
        items = [items[0], *(items[0][: of.end()] + " " + item for item in items[1:])]
    elif any(_OF.search(item) for item in items):  # "the pros and cons of tea" is one thing
        return Things()
    return Things(tuple(f"{language.describe} {item}{tail}" for item in items), clause)


def _into(head: str, rest: str, language: Language) -> tuple[str, ...]:
    """Return a request for each language that something is translated into."""
    masked = mask(rest)
    match = _INTO.match(masked)
    if match is None:
        return ()
    names = items_of(rest[match.start(2) :], language)
    if len(names) < 2 or not all(re.fullmatch(r"[^\W\d_][\w-]*", name) and name[0].isupper() for name in names):
        return ()
    return tuple(f"{head} {rest[: match.end(1)]}{name}" for name in names)


def _stands_alone(item: str, former: str, language: Language) -> bool:
    """Whether a thing is listed by itself, and is not part of a prepositional phrase of the thing before it."""
    if _is_product(item, language):
        return True
    inner = _preposition(former, language)
    if inner is None:
        return True
    article = language.any_of(language.articles, start=True)
    return article.match(former[inner.end() :].lstrip()) is None or _preposition(item, language) is not None


def _is_product(item: str, language: Language) -> bool:
    """Whether an item begins with something that is written or made."""
    inner = _preposition(item, language)
    words = item[: inner.start()] if inner else item
    words = re.split(r"\s+(?=\w{4,}ing(?!\w))", words)[0]
    return re.search(rf"(?:{language.any_of(language.products).pattern})\W*$", words, re.IGNORECASE) is not None


def _preposition(item: str, language: Language) -> re.Match[str] | None:
    return language.any_of(language.prepositions).search(mask(item))


def _with_topic(items: Sequence[str], language: Language) -> Sequence[str]:
    """Return the things, each with the topic that only the last one names: "a tweet and a post about tea"."""
    if any(_preposition(item, language) for item in items[:-1]):
        return items
    topic = _TOPIC.search(mask(items[-1]))
    each = re.search(r"\s+(?:in|at|with|of)\s[^,]*(?<!\w)each$", items[-1])
    start = topic.start() if topic else each.start() if each else None
    if start is None:
        return items
    return [*(f"{item}{items[-1][start:]}" for item in items[:-1]), items[-1]]


def _without_tail(text: str) -> tuple[str, str]:
    tail = _TAIL.search(mask(text))
    return (text[: tail.start()], text[tail.start() :].rstrip(" .")) if tail else (text.strip(" ."), "")
