"""Splits text into tokens of a vocabulary: whole words, or word pieces; longest matches in scripts without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

from goalwright_skills.selection.query.terms import SCRIPTS_WITHOUT_SPACES, dense, has_dense, simplified

FindLongest = Callable[[str], tuple[str, int | None]]
PIECE = "##"
# The longest entries of a vocabulary, in characters.
LONGEST_WORD = 24
LONGEST_RUN = 4
# Longer words are data, such as keys and hashes.
_WORD_LIMIT = 40
# Text is cut to this many characters per token before it is folded.
_CHARACTERS_A_TOKEN = 16
_KEPT = 20_000
# C++ and C# are words; after other words, + and # belong to none.
_WORD = re.compile(r"()([^\W_]+(?:\+\+|#)?)")
# English suffixes, but not French prefixes (l'heure).
_SUFFIX = re.compile(r"['’](?:s|t|re|ve|ll|d|m)\b")
# Accents only: the marks of kana and of Indic scripts separate words.
_ACCENTS = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Normalize text: NFKC, no case, no accents, simplified Chinese, no English suffixes after an apostrophe."""
    if text.isascii():
        return _SUFFIX.sub("", text.lower())
    text = unicodedata.normalize("NFKC", text).casefold()
    if not unicodedata.is_normalized("NFD", text):
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    if has_dense(text):
        text = text.translate(simplified())
    return _SUFFIX.sub("", text)


@cache
def _run_or_word() -> re.Pattern[str]:
    """Compile on first use: it takes 10 ms, and most texts are in scripts with spaces."""
    return re.compile(rf"([{SCRIPTS_WITHOUT_SPACES}]+)|([^\W_{SCRIPTS_WITHOUT_SPACES}]+(?:\+\+|#)?)")


class Tokens:
    """Splits texts into tokens; `find` returns the number of an entry of the vocabulary.

    `longest` returns the longest entry that is a prefix of a text; without it, each length is tried.
    """

    def __init__(self, find: Callable[[str], int | None], longest: FindLongest | None = None) -> None:
        self.find = lru_cache(_KEPT)(find)
        self._find_longest = longest or self._try_each
        self._pieces = lru_cache(_KEPT)(self._of_word)

    def of(self, text: str, limit: int) -> list[int]:
        """Return the first `limit` tokens of a text."""
        tokens: list[int] = []
        text = fold(text[: limit * _CHARACTERS_A_TOKEN])
        pattern = _run_or_word() if has_dense(text) else _WORD
        for match in pattern.finditer(text):
            run, word = match.groups()
            tokens += self._of_run(run) if run else self._pieces(word[:_WORD_LIMIT])
            if len(tokens) >= limit:
                return tokens[:limit]
        return tokens

    def of_word(self, word: str) -> list[int]:
        """Return the tokens of one word in lower case, or of characters of a script without spaces."""
        if word.isascii():
            return self._pieces(word[:_WORD_LIMIT])
        return self._of_run(word) if dense(word) else self._pieces(fold(word)[:_WORD_LIMIT])

    def _of_word(self, word: str) -> list[int]:
        """Return a word's own token, or those of its longest pieces; a number has none."""
        tokens, start = [], len(word) if word.isdigit() else 0
        while start < len(word):
            prefix = PIECE if start else ""
            entry, token = self._find_longest(prefix + word[start : start + LONGEST_WORD])
            start += max(1, len(entry) - len(prefix))
            tokens += [token] if token is not None and len(entry) > len(prefix) else []
        return tokens

    def _of_run(self, run: str) -> list[int]:
        """Return the tokens of the longest entries, from left to right; other characters are skipped."""
        tokens: list[int] = []
        start = 0
        while start < len(run):
            entry, token = self._try_each(run[start : start + LONGEST_RUN])
            start += max(1, len(entry))
            tokens += [token] if token is not None else []
        return tokens

    def _try_each(self, text: str) -> tuple[str, int | None]:
        for end in range(len(text), 0, -1):
            if (token := self.find(text[:end])) is not None:
                return text[:end], token
        return "", None
