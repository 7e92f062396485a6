"""The little language of seccomp filters: steps, and a search by number that takes a handful of them."""

from __future__ import annotations

import struct
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOAD, JUMP, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ABOVE, JUMP_ANY, RETURN = 0x20, 0x05, 0x15, 0x35, 0x25, 0x45, 0x06
ALLOW, ASK, ERRNO, KILL = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
WORD = 8
FARTHEST = 255


def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One instruction."""
    return struct.pack("=HBBI", code, yes, no, value)


def load(offset: int) -> bytes:
    """Load a word of the call."""
    return step(LOAD, offset)


def argument(number: int) -> int:
    """Where the lower half of an argument stands; the kernel reads no more of those that are checked."""
    return FIRST_ARGUMENT + 8 * number


def refuse(answer: int) -> bytes:
    """Answer the call with an error, without making it."""
    return step(RETURN, ERRNO | answer)


def allow_values(number: int, values: Sequence[int | tuple[int, int]], answer: int) -> bytes:
    """Allow the call if an argument has one of some values or lies in one of some ranges; else refuse it."""
    body = [load(argument(number))]
    for value in values:
        first, last = value if isinstance(value, tuple) else (value, value)
        body += [step(JUMP_AT_LEAST, first, 0, 2), step(JUMP_ABOVE, last, 1, 0), step(RETURN, ALLOW)]
    return b"".join([*body, refuse(answer)])


def search(bodies: Mapping[int, bytes], otherwise: bytes) -> bytes:
    """Jump to the body of the loaded number, by halving: the kernel runs every filter on every call."""
    line = [(number, bodies.get(number, otherwise)) for number in range(max(bodies) + 2)]
    spans = [(next(group)[0], body) for body, group in groupby(line, key=lambda pair: pair[1])]
    return _halve(spans)


def _halve(spans: list[tuple[int, bytes]]) -> bytes:
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    below, above = _halve(spans[:middle]), _halve(spans[middle:])
    size = len(below) // WORD
    if size <= FARTHEST:
        return step(JUMP_AT_LEAST, spans[middle][0], size, 0) + below + above
    return step(JUMP_AT_LEAST, spans[middle][0], 0, 1) + step(JUMP, size) + below + above
