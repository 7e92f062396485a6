"""From a trained table to the file in the wheel: rotated, int8 rows, and what is known of its words."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.encoder.table import TOKEN_LIMIT, UNIT
from goalwright_skills.selection.encoder.tokens import Tokens

from training import written
from training.everyday import direction
from training.examples import short, whole
from training.table_file import LARGEST, LARGEST_SCALE, ZERO, content, read_trained

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DIMENSIONS = 128
# So many skills are enough to find the axes.
SAMPLE = 6_000
# What half of the words say, so that the ranking can tell by a number what says little, whatever table it is.
MEDIAN_WEIGHT = 4.33
# A word that so many skills have names none of them.
FAMILIAR = 15
_WORD = re.compile(r"[a-z0-9]{1,24}")


def export(trained: Path, document: Mapping[str, Any], out: Path, name: str, dimensions: int = DIMENSIONS) -> None:
    """Write a table trained on a bundle, rotated so that its leading dimensions tell most about the skills."""
    import numpy

    skills = document["skills"]
    words, table = read_trained(trained)
    table = table @ axes(table, words, skills[:: -(-len(skills) // SAMPLE)], dimensions)
    said = written.requests(skills), written.everyday()
    everyday = direction(document, *said, lambda texts: vectors(table, words, texts))
    scales = numpy.maximum(numpy.abs(table).max(1), 1e-9) / LARGEST
    rows = numpy.round(table / scales[:, None]).astype(numpy.int16) + ZERO
    packed = [row.tobytes() for row in rows.astype(numpy.uint8)]
    largest = float(numpy.median(numpy.linalg.norm(table, axis=1))) * LARGEST_SCALE / (MEDIAN_WEIGHT * UNIT)
    told = ordinary(words), familiar(words, skills), everyday
    out.write_bytes(content(name, words, scales.tolist(), packed, *told, largest))


def axes(table: Any, words: Sequence[str], skills: Sequence[list[str]], dimensions: int) -> Any:
    """The directions in which the vectors of skills are longest, as columns."""
    import numpy

    found = vectors(table, words, [text for skill in skills for text in (short(skill), whole(skill))])
    return numpy.linalg.eigh(found.T @ found)[1][:, ::-1][:, :dimensions]


def vectors(table: Any, words: Sequence[str], texts: Sequence[str]) -> Any:
    """The vectors of texts, at length one; zeros where a text has no known word."""
    import numpy

    tokens = Tokens({word: place for place, word in enumerate(words)}.get)
    sums = numpy.array([table[tokens.of(text, TOKEN_LIMIT)].sum(0) for text in texts])
    return sums / numpy.maximum(numpy.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


def ordinary(words: Sequence[str]) -> list[bool]:
    """Whether each entry is a word of everyday language; those that only skills have come after all others."""
    last = max(place for place, word in enumerate(words) if not word.isascii())
    return [place <= last for place in range(len(words))]


def familiar(words: Sequence[str], skills: Sequence[list[str]]) -> list[str]:
    """The words that many skills have in their names or descriptions and that are no entries."""
    counts = Counter(
        word for skill in skills for word in set(_WORD.findall(f"{skill[0]} {skill[1]}".lower())) if not word.isdigit()
    )
    entries = set(words)
    return sorted(word for word, count in counts.items() if count >= FAMILIAR and word not in entries)
