"""Text as comparable terms: English stems, and character pairs in scripts without spaces."""

from __future__ import annotations

import re
import threading
import unicodedata
import zlib
from functools import cache
from pathlib import Path
from typing import Any

# Han, kana and hangul: scripts without spaces between words or, in Korean, with varying endings.
SCRIPTS_WITHOUT_SPACES = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
)
_WORD = re.compile(r"[a-z]+(?:\+\+|#)|[^\W_]+")
# PDFs, SDKs, LLMs: the stemmer does not remove -s from a word without a vowel.
_ABBREVIATIONS = re.compile(r"[b-df-hj-np-tv-xz0-9]{2,}[b-df-hj-np-rtv-xz0-9]s")
# Map British spellings to American ones (optimise, behaviour, catalogue), and analysis to analyze, whose stems differ.
# A word that is changed wrongly, such as promise, is changed everywhere and still matches itself.
_SPELLINGS = (
    (re.compile(r"(?<=[a-z]{3})(i|y)s(?=(?:e|ed|er|ers|es|ing|able|ation|ations)$)"), r"\1z"),
    (re.compile(r"(?<=[a-z]{3})lysis$"), "lyze"),
    (re.compile(r"(?<=[a-z]{3})our(?=s?$|ed$|ing$|al$|ful$|able$|ite)"), "or"),
    (re.compile(r"(?<=[a-z]{3})ogu(?=es?$|ed$|ing$)"), "og"),
)
_APOSTROPHE = re.compile(r"['’](?:(?:s|t|re|ve|ll|d|m)\b)?")
_ASCII = re.compile(r"[\x00-\x7f]*")
TERM_LIMIT = 40

# "why" is not a stop word: it separates skills that diagnose from skills that create.
STOP_WORDS = frozenset(
    """
    a about above after again all also am an and another any are as at be because been before being
    below between both but by can could did do does doing don down during each either else etc even ever
    every few for from further get gets getting give go goes going got had has have having he her here hers
    him his how i if in into is it its itself just let lets like make may me might more most must my need
    needs needed no nor not now of off on once one only onto or other our ours out over own per please
    same she should so some such than that the their theirs them then there these they thing things this
    those though through to too under until up upon us use used user users uses using very via want
    wants wanted was way we well were what when where whether which while who whom whose will with
    within without would yes yet you your yours help im ive id youre dont doesnt didnt isnt arent cant
    wont
    """.split()
)


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, without stop words."""
    text = fold(text)
    if not has_dense(text):
        return [term for word in _WORD.findall(text) if (term := _STEMS[word])]
    found = []
    for run, word in _run().findall(text):
        if run:
            found += [run[start : start + 2] for start in range(len(run) - 1)] or [run]
        elif term := _STEMS[word]:
            found.append(term)
    return found


def dense(term: str) -> bool:
    """Whether a term is in a script without spaces."""
    return has_dense(term[:1])


def has_dense(text: str) -> bool:
    """Whether a text has characters of a script without spaces."""
    return not text.isascii() and _dense().search(text) is not None


def spelled(text: str) -> dict[str, str]:
    """Map each term of a text to its first spelling."""
    found: dict[str, str] = {}
    if text.isascii():
        for word in _WORD.findall(fold(text)):
            if term := _STEMS[word]:
                found.setdefault(term, word)
        return found
    for dense, word in _run().findall(fold(text)):
        for term in terms(dense or word):
            found.setdefault(term, term if dense else word)
    return found


def fold(text: str) -> str:
    """Normalize text: lower case, NFKC, simplified Chinese, no English possessives."""
    if not _ASCII.fullmatch(text):
        text = unicodedata.normalize("NFKC", text)
        if has_dense(text):
            text = text.translate(simplified())
    return _APOSTROPHE.sub("", text.lower())


class _Stems(dict[str, str]):
    """A cache of the stem of each word; empty for stop words."""

    def __missing__(self, word: str) -> str:
        if word in STOP_WORDS:
            stem = ""
        elif len(word) < 3 or not word.isascii() or word.isdecimal():
            stem = word[:TERM_LIMIT]
        elif _ABBREVIATIONS.fullmatch(word):
            stem = word[:-1]
        else:
            with _STEMMING:
                stem = _stemmer().stemWord(_respelled(word[:TERM_LIMIT]))
        self[word] = stem
        return stem


_STEMS = _Stems()
# The stemmer has state, and several runs may select at once.
_STEMMING = threading.Lock()


def _respelled(word: str) -> str:
    for pattern, american in _SPELLINGS:
        word = pattern.sub(american, word)
    return word


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@cache
def _dense() -> re.Pattern[str]:
    """Compile on first use, like `_run`: it takes 10 ms, and most texts are in scripts with spaces."""
    return re.compile(f"[{SCRIPTS_WITHOUT_SPACES}]")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"([{SCRIPTS_WITHOUT_SPACES}]+)|([a-z]+(?:\+\+|#)|[^\W_{SCRIPTS_WITHOUT_SPACES}]+)")


@cache
def simplified() -> dict[int, int]:
    """Map traditional characters to simplified ones, by OpenCC's table (see data/LICENSE.OpenCC)."""
    packed = (Path(__file__).parents[2] / "data" / "hanzi.zlib").read_bytes()
    table = zlib.decompress(packed).decode()
    half = len(table) // 2
    return dict(zip(map(ord, table[:half]), map(ord, table[half:]), strict=True))
