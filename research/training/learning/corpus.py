"""A bundle as what a training step draws from: examples by skill, negatives that look right, texts of the teacher."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from training import bundle
from training.examples import Example, example, short, whole
from training.pairs import WEIGHTS
from training.phrases import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# How many pairs of a skill are used at most, by weight of their kind.
MOST_PAIRS = 12
# A sentence of a body that the teacher explains to the table.
SENTENCE = (30, 300)
SENTENCES = 8


class Corpus:
    """The skills and pairs of a bundle, with what is derived from them."""

    def __init__(self, document: dict[str, Any], written: Mapping[str, Any], processes: int, seed: int = 0) -> None:
        self.skills: list[list[str]] = document["skills"]
        self.english = [skill[3] == "en" for skill in self.skills]
        self.twins: dict[int, int] = {}
        for first, second in document["twins"]:
            self.twins[first], self.twins[second] = second, first
        requests = written["requests"]
        chosen = ((*pair, "") for pair in _chosen(document["pairs"], seed))
        self.pairs = [*chosen, *((skill, "request", english, other) for skill, english, _, other in requests)]
        with ProcessPoolExecutor(processes) as pool:
            jobs = ((self.skills[skill], kind, phrase, other) for skill, kind, phrase, other in self.pairs)
            self.examples: list[Example] = list(pool.map(_example, jobs, chunksize=2000))
        self.english_pairs = [at for at, pair in enumerate(self.pairs) if self.english[pair[0]]]
        self.short = [short(skill) for skill in self.skills]
        self.whole = [whole(skill) for skill in self.skills]
        both = bundle.with_written(document, written)
        self.everyday: list[str] = list(dict.fromkeys(both["everyday"]))
        self.translations: list[list[str]] = both["translations"]
        self.groups = [hash(re.sub(r"\W+", "", skill[0].lower())) % (1 << 40) for skill in self.skills]

    def sentences(self) -> list[str]:
        """English sentences of bodies."""
        generator, found = random.Random(5), []
        for skill, english in zip(self.skills, self.english, strict=True):
            if english:
                fitting = [one for one in sentences(skill[2]) if SENTENCE[0] <= len(one) <= SENTENCE[1]]
                found += generator.sample(fitting, min(SENTENCES, len(fitting)))
        return list(dict.fromkeys(found))


def _example(job: tuple[list[str], str, str, str]) -> Example:
    return example(*job)


def _chosen(pairs: Sequence[Sequence[Any]], seed: int) -> list[tuple[int, str, str]]:
    groups: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for pair in pairs:
        groups[pair[0]].append(pair)
    generator = random.Random(seed)
    found = []
    for group in groups.values():
        order = sorted(group, key=lambda pair: -(WEIGHTS[pair[1]] * generator.random()))
        found += [(int(skill), str(kind), str(phrase)) for skill, kind, phrase in order[:MOST_PAIRS]]
    return found


class Batches:
    """Batches of pairs of different skills, each skill about as often as the others."""

    def __init__(self, corpus: Corpus, kept: Sequence[bool], seed: int) -> None:
        self._random = random.Random(seed)
        self._by_skill: dict[int, list[int]] = defaultdict(list)
        for place, (pair, keep) in enumerate(zip(corpus.pairs, kept, strict=True)):
            if keep:
                self._by_skill[pair[0]].append(place)
        self._weights = {
            skill: [WEIGHTS[corpus.pairs[place][1]] for place in places] for skill, places in self._by_skill.items()
        }

    def __len__(self) -> int:
        return len(self._by_skill)

    def one_pass(self, size: int) -> Iterator[list[int]]:
        """The places of one pair of each skill, in batches."""
        order = list(self._by_skill)
        self._random.shuffle(order)
        for start in range(0, max(1, len(order) - size // 2), size):
            group = order[start : start + size]
            yield [self._random.choices(self._by_skill[skill], self._weights[skill])[0] for skill in group]
