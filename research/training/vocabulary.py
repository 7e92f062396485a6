"""The vocabulary of a table: English word pieces, frequent words of skills, and words and pieces of other languages."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.encoder.tokens import LONGEST_RUN, LONGEST_WORD, PIECE, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# How many words that skills have and general texts do not: most of what tells one skill from another.
SKILL_WORDS = 10_000
# How many whole words and pieces each language with spaces gets, before those that English has already.
PIECES = {"de": 6_500, "fr": 3_000, "es": 3_000, "ru": 4_500}
CHINESE, JAPANESE = 5_500, 2_000
CHARACTERS = 3_600
FEWEST = 4
_LATIN = re.compile(r"(?:##)?[a-z0-9]+")
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile("[\u3005-\u3007\u3040-\u30ff\u4e00-\u9fff]+")
# Words whose parts occur together much more often than by chance.
COHESION = 2.5
# So many texts are enough to count runs in.
SAMPLE = 30_000


def vocabulary(base: Sequence[str], skills: Sequence[str], other: Mapping[str, Sequence[str]]) -> list[str]:
    """The entries, from a model's own word pieces, texts of English skills, and texts of other languages by their code.

    Words that only skills have come last.
    """
    found = dict.fromkeys(word for word in base if _LATIN.fullmatch(word) and not word.removeprefix(PIECE).isdigit())
    for language, most in PIECES.items():
        found |= dict.fromkeys(pieces(other[language], most))
    dense = [fold(text) for text in other["zh"]]
    found |= dict.fromkeys([*characters([*dense, *map(fold, other["ja"])]), *runs(dense, CHINESE)])
    found |= dict.fromkeys(runs([fold(text) for text in other["ja"]], JAPANESE))
    new = (word for word in frequent(skills) if word not in found and len(word) <= LONGEST_WORD)
    return [*(word for word in found if len(word) <= LONGEST_WORD), *islice(new, SKILL_WORDS)]


def frequent(texts: Iterable[str]) -> Iterator[str]:
    """The words of texts in Latin letters, by how many texts have them, `c++`, `c#` and `s3` among them."""
    counts = Counter(word for text in texts for word in set(re.findall(r"[a-z0-9]+(?:\+\+|#)?", fold(text))))
    return (word for word, count in counts.most_common() if count >= FEWEST and len(word) > 1 and not word.isdigit())


def pieces(texts: Iterable[str], most: int) -> list[str]:
    """Frequent words and pieces of a language with spaces, by byte-pair encoding."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer: Any = Tokenizer(models.BPE(continuing_subword_prefix=PIECE))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer: Any = trainers.BpeTrainer(
        vocab_size=most, continuing_subword_prefix=PIECE, show_progress=False, min_frequency=FEWEST
    )
    tokenizer.train_from_iterator((" ".join(_WORD.findall(_RUN.sub(" ", fold(text)))) for text in texts), trainer)
    ordered = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return [word for word, _ in ordered]


def characters(texts: Iterable[str]) -> list[str]:
    """The most frequent characters of scripts without spaces."""
    counts = Counter(character for text in texts for run in _RUN.findall(text) for character in run)
    return [character for character, _ in counts.most_common(CHARACTERS)]


def runs(texts: Sequence[str], most: int) -> list[str]:
    """The most frequent runs of two to four characters that hang together."""
    counts: Counter[str] = Counter()
    for text in texts[:: -(-len(texts) // SAMPLE)]:
        for run in _RUN.findall(text):
            for length in range(1, LONGEST_RUN + 1):
                counts.update(run[at : at + length] for at in range(len(run) - length + 1))
    total = sum(count for run, count in counts.items() if len(run) == 1) or 1
    words = [
        run
        for run, count in counts.items()
        if len(run) > 1 and count >= 12 and _cohesion(run, counts, total) > COHESION
    ]
    return sorted(words, key=lambda run: -counts[run] * (len(run) - 0.8))[:most]


def _cohesion(run: str, counts: Counter[str], total: int) -> float:
    """How much more often a run occurs than its parts would by chance, for the most likely parts; as a logarithm."""
    splits = ((run[:at], run[at:]) for at in range(1, len(run)))
    return min(math.log(counts[run] * total / (counts[left] * counts[right])) for left, right in splits)
