"""The words of goals in a few languages: verbs that begin a request, and words that join requests.

The words are data in `seed/languages.yaml`, whose keys are the fields of `Language`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from goalwright_planner.prompting.prompts import SEED
from goalwright_skills.format import safe_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEVER = re.compile(r"(?!)")
# The beginning of an object in any language: a number, a quotation, a question.
_ANY = r"\d+|[\"“‘'„«`\ue000]|what|how|why|which|all|any|pros|ten"


@dataclass(frozen=True)
class Language:
    """The words of one language; each field is a list of words, separated by spaces."""

    weak: str = ""
    verbs: str = ""
    nouns_too: str = ""
    no_verbs: str = ""
    rules: str = ""
    makes: str = ""
    tells: str = ""
    weighs: str = ""
    apart: str = ""
    describe: str = ""
    polite: str = ""
    ands: str = ""
    thens: str = ""
    weak_thens: str = ""
    no_thens: str = ""
    articles: str = ""
    prepositions: str = ""
    it: str = ""
    its: str = ""
    them: str = ""
    their: str = ""
    gathers: str = ""
    changes: str = ""
    joins: str = ""
    asks: str = ""
    clauses: str = ""
    programs: str = ""
    products: str = ""
    spaced: bool = True

    def any_of(self, words: str, *, start: bool = False) -> re.Pattern[str]:
        """Return a pattern for any of the words, as whole words; with `start` only at the beginning of a text."""
        return _any_of(words, self.spaced, start)

    @cached_property
    def begins(self) -> re.Pattern[str]:
        """The beginning of a request inside a sentence: a verb, or a word that can be a verb before an object."""
        if not self.spaced:
            return re.compile(f"(?:{_alternatives(self.verbs)})")
        objects = _alternatives(f"{self.articles} {self.its} {self.their} {self.it} {self.them}")
        both = rf"(?:{_alternatives(self.nouns_too)})(?=\s+(?:{objects}|{_ANY})(?!\w))"
        verb = rf"(?:{_alternatives(self.verbs)})(?![\w-])"
        return re.compile(
            f"(?:{'|'.join(filter(None, (verb, self.nouns_too and both, self._looks_like_verb)))})", re.IGNORECASE
        )

    @property
    def _looks_like_verb(self) -> str:
        """A word before an article that can only be a verb, as in "catalog the endpoints"."""
        if not self.no_verbs:
            return ""
        others = f"{self.no_verbs} {self.prepositions} {self.asks} {self.articles} {self.rules}"
        return (
            rf"(?!(?:{_alternatives(others)})(?!\w))"
            rf"[a-z]{{3,}}(?<!ing)(?<!ed)(?<!ly)(?<![^s]s)(?=\s+(?:{_alternatives(self.articles)})(?!\w))"
        )

    @cached_property
    def begins_goal(self) -> re.Pattern[str]:
        """The beginning of the first request of a sentence, where a verb cannot be a noun."""
        if not self.spaced:
            return self.begins
        verb = rf"(?:{_alternatives(f'{self.verbs} {self.nouns_too}')})(?![\w-])"
        return re.compile(f"(?:{'|'.join(filter(None, (verb, self._looks_like_verb)))})", re.IGNORECASE)


@cache
def languages() -> Mapping[str, Language]:
    """Return the languages by name; `other` stands for all that are not listed."""
    document = safe_yaml.load_own((SEED / "languages.yaml").read_text(encoding="utf-8"))
    return {name: Language(**row) for name, row in document.items()}


@cache
def weak_words() -> frozenset[str]:
    """Return the words of all languages that carry no meaning of their own."""
    return frozenset(word for language in languages().values() for word in language.weak.split())


@cache
def _any_of(words: str, spaced: bool, start: bool) -> re.Pattern[str]:
    if not words.strip():
        return _NEVER
    before, after = (r"(?<!\w)", r"(?![\w-])") if spaced else ("", "")
    return re.compile(rf"{'^' if start else before}(?:{_alternatives(words)}){after}", re.IGNORECASE)


def _alternatives(words: str) -> str:
    """Return words as alternatives of a pattern, longest first; `_` is a space. Without words it never matches."""
    longest = sorted(words.split(), key=len, reverse=True)
    return "|".join(word.replace("_", r"\s+") for word in longest) or _NEVER.pattern
