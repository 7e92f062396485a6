"""The mean of a trained table and an earlier one, which lie in different directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from training.examples import short
from training.export import vectors
from training.table_file import read, read_trained, write_trained

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Every so many skills, phrases and translations of a bundle tell how one table is turned onto the other.
SKILLS, PHRASES, TRANSLATIONS = 7, 60, 60


def average(trained: Path, earlier: Path, document: Mapping[str, Any], out: Path, share: float = 0.5) -> float:
    """Write the mean, of which `share` is the trained table, turned so that both give texts the same directions.

    Words that the earlier table lacks keep their vectors. Gives the mean cosine between the two.
    """
    import numpy

    words, table = read_trained(trained)
    old_words, old = read(earlier)
    place = {word: at for at, word in enumerate(old_words)}
    both = [at for at, word in enumerate(words) if word in place]
    shared = [place[words[at]] for at in both]
    table /= numpy.linalg.norm(table[both], axis=1).mean()
    old /= numpy.linalg.norm(old[shared], axis=1).mean()
    texts = [
        *(short(skill) for skill in document["skills"][::SKILLS]), *(pair[2] for pair in document["pairs"][::PHRASES]),
        *(one[2] for one in document["translations"][::TRANSLATIONS]),
    ]  # fmt: skip
    new, before = vectors(table, words, texts), vectors(old, old_words, texts)
    left, _, right = numpy.linalg.svd(new.T @ before)
    table = table @ (left @ right)
    table[both] = share * table[both] + (1 - share) * old[shared]
    write_trained(out, table, words)
    return float((new @ (left @ right) * before).sum(1).mean())
