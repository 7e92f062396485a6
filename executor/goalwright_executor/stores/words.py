"""Splits texts and searches into words, equally for all stores, without a store's own tokenizer.

Case, accents and compatibility forms are ignored. In scripts without spaces each character is a word, and a search
matches characters in sequence.
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
# Limits on the length of a word, on the words of a run, and on a search.
MAX_LENGTH = 64
MAX_WORDS = 12_000
_MAX_CHARACTERS = 400
MAX_PHRASES = 16


def split(text: str) -> list[str]:
    """Return the words of a text in order."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    return [word[:MAX_LENGTH] for word in _WORD.findall(text.casefold())]


def normalized(text: str) -> str:
    """Normalize a text for `positions`."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def positions(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a normalized text, each with its start and end."""
    for match in _WORD.finditer(text):
        for word in split(match[0]):  # a character such as a fraction has several
            yield word, match.start(), match.end()


def joined(texts: Iterable[str]) -> str:
    """Return the words of several texts for an index: at most `MAX_WORDS`, separated by spaces."""
    words: list[str] = []
    for text in texts:
        words += split(text[: MAX_WORDS * 20])
        if len(words) >= MAX_WORDS:
            break
    return " ".join(words[:MAX_WORDS])


def phrases(search: str) -> Iterator[list[str]]:
    """The phrases of a search: single words, and words in sequence, like `to-do` or "in quotes".

    The last word of a phrase matches as a prefix, so that a search has results while it is typed.
    """
    terms = _QUOTED.findall(search[:_MAX_CHARACTERS].replace("\0", " "))
    for quoted, term in terms[:MAX_PHRASES]:
        if phrase := split(quoted or term):
            yield phrase
