"""The parts of a goal that each may need a skill of their own: sentences, items of lists, requests within a sentence.

A goal is divided generously. A part that needs no skill selects none, and the whole goal is always ranked as well.
"""

from __future__ import annotations

import re

MOST = 24
# What a longer goal has beyond this is material rather than requests.
LONGEST = 20_000
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ITEM = re.compile(r"[ \t]*(?:[-*•–‣]|\(?\d{1,2}[.)、:]|\(?[a-hA-H][.)]|[①-⑳])[ \t]*(?=\S)")
# A line ends a part unless it is only wrapped: the next one is no item, and this one ends within a sentence.
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
    """The parts of a goal in order; none if it is one."""
    text = _FENCE.sub("\n\n", goal[:LONGEST])
    found: list[str] = []
    for line in _LINE.split(text):
        marker = _ITEM.match(line)
        for item in _INLINE_ITEM.split(line[marker.end() :] if marker else line):
            for sentence in _SENTENCE.split(" ".join(item.split())):
                found += _requests(sentence)
    each = list(dict.fromkeys(part for part in found if _says_something(part)))
    return each[:MOST] if len(each) > 1 else []


def _requests(sentence: str) -> list[str]:
    """The requests of a sentence; a piece too short to be one stays with the piece before it."""
    found: list[str] = []
    first = begin = 0
    for end, following in (*(match.span() for match in _REQUEST.finditer(sentence)), (len(sentence), len(sentence))):
        piece = sentence[begin:end].strip(" ,;")
        if found and not _says_something(piece):
            found[-1] = sentence[first:end].strip(" ,;")
        elif piece:
            found.append(piece)
            first = begin
        begin = following
    return found


def _says_something(part: str) -> bool:
    if part.isascii():
        return len(_WORD.findall(part)) >= _FEWEST_WORDS
    return len(part.split()) >= _FEWEST_WORDS or sum(not letter.isascii() for letter in part) >= _FEWEST_DENSE
