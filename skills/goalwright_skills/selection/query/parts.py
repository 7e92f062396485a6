"""Splits a goal into parts that may each need a skill: sentences, list items, and requests within a sentence.

Too many parts do no harm: a part that needs no skill selects none, and the whole goal is ranked as well.
"""

from __future__ import annotations

import re

MAX_PARTS = 24
# Text after this many characters is material rather than requests.
MAX_LENGTH = 20_000
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ITEM = re.compile(r"[ \t]*(?:[-*•–‣]|\(?\d{1,2}[.)、:]|\(?[a-hA-H][.)]|[①-⑳])[ \t]*(?=\S)")
# A line break ends a part unless the line is wrapped: it ends within a sentence, and no list item follows.
_LINE = re.compile(rf"\n[ \t]*\n|(?<=[.!?:;。！？：；])[ \t]*\n|\n(?={_ITEM.pattern})")
_INLINE_ITEM = re.compile(r"(?:(?<=\s)|(?<=[:;,]))\(?(?:\d{1,2}|[a-h])\)\s+(?=\S)|(?<=\s)\d{1,2}\.\s+(?=[A-Za-z])")
_ABBREVIATED = "".join(
    rf"(?<!\b{word})" for word in (r"e\.g\.", r"i\.e\.", r"etc\.", r"vs\.", r"dr\.", r"mr\.", r"no\.", r"approx\.")
)
_SENTENCE = re.compile(rf"(?i:{_ABBREVIATED})(?<=[.!?;])[\"'”’)]*\s+(?=\S)|(?<=[。！？；])\s*")
_REQUEST = re.compile(
    r",\s+(?:and|then|or|also|plus|und|dann|sowie|et|puis|y|luego)\s+|\s+(?:and|und|et|y)\s+(?:then|also|finally|dann|auch)\s+|"
    r"\s+(?:then|danach|anschließend)\s+|[，,]\s*(?:然后|并且|再|最后|接着|以及)|然后",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_FEWEST_WORDS, _FEWEST_DENSE = 3, 3


def parts_of(goal: str) -> list[str]:
    """Return the parts of a goal in order; an empty list if it has only one."""
    text = _FENCE.sub("\n\n", goal[:MAX_LENGTH])
    parts: list[str] = []
    for line in _LINE.split(text):
        marker = _ITEM.match(line)
        for item in _INLINE_ITEM.split(line[marker.end() :] if marker else line):
            for sentence in _SENTENCE.split(" ".join(item.split())):
                parts += _requests(sentence)
    distinct = list(dict.fromkeys(part for part in parts if _is_request(part)))
    return distinct[:MAX_PARTS] if len(distinct) > 1 else []


def _requests(sentence: str) -> list[str]:
    """Split a sentence into requests; a piece too short for a request is joined with the one before it."""
    requests: list[str] = []
    first = begin = 0
    for end, following in (*(match.span() for match in _REQUEST.finditer(sentence)), (len(sentence), len(sentence))):
        piece = sentence[begin:end].strip(" ,;")
        if requests and not _is_request(piece):
            requests[-1] = sentence[first:end].strip(" ,;")
        elif piece:
            requests.append(piece)
            first = begin
        begin = following
    return requests


def _is_request(part: str) -> bool:
    """Whether a part has enough words for a request."""
    if part.isascii():
        return len(_WORD.findall(part)) >= _FEWEST_WORDS
    return len(part.split()) >= _FEWEST_WORDS or sum(not letter.isascii() for letter in part) >= _FEWEST_DENSE
