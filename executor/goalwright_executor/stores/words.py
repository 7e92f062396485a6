"""Texts and search strings as words, the same for every store: no store's own syntax or tokenizer is involved.

Case, accents and forms of one letter do not count. Scripts that are written without spaces have no words that could be
told apart without a dictionary: there each character is one, and what was typed is found where they stand in a row.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Chinese, Japanese, Thai, Lao, Burmese and Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_QUOTED = re.compile(r'"([^"]*)"|(\S+)')
# The longest word that is kept whole, and the most words of one run.
LONGEST = 64
MOST = 12_000
# How much of a search string counts.
_MOST_CHARACTERS = 400
MOST_PHRASES = 16


def split(text: str) -> list[str]:
    """The words of a text, in their order."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    return [word[:LONGEST] for word in _WORD.findall(text.casefold())]


def shown(text: str) -> str:
    """A text in the form in which `placed` finds its words."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def placed(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text that `shown` gave, each with its begin and end in it."""
    for found in _WORD.finditer(text):
        for word in split(found[0]):  # a sign such as a fraction has several
            yield word, found.start(), found.end()


def joined(texts: Iterable[str]) -> str:
    """The words of several texts, as an index takes them: at most `MOST`, with a space between two."""
    words: list[str] = []
    for text in texts:
        words += split(text[: MOST * 20])
        if len(words) >= MOST:
            break
    return " ".join(words[:MOST])


def phrases(search: str) -> Iterator[list[str]]:
    """What is searched for: words that may stand anywhere, each alone or, like `to-do` or "in quotes", as a phrase.

    The last word of each is found by its beginning, so that a search has results while it is typed.
    """
    given = _QUOTED.findall(search[:_MOST_CHARACTERS].replace("\0", " "))
    for quoted, word in given[:MOST_PHRASES]:
        if found := split(quoted or word):
            yield found
