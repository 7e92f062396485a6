"""The tokens of what is ranked: goals and skills, as the teacher and as the table read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from training.examples import FORMS
from training.learning.packed import Packed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from training.learning.corpus import Corpus

Kind = TypeVar("Kind")
Tokens = list[list[int]]


class Limits(NamedTuple):
    """How many tokens of a text are read at most."""

    goal: int
    short: int
    own_whole: int
    whole: int


OF_TEACHER = Limits(64, 160, 180, 180)
OF_TABLE = Limits(64, 160, 224, 256)


@dataclass(frozen=True, slots=True)
class Sequences(Generic[Kind]):
    """All forms of each pair's phrase, its skill without the phrase (short and whole), and all skills (both too)."""

    goals: Kind
    own_short: Kind
    own_whole: Kind
    short: Kind
    whole: Kind

    @property
    def phrases(self: Sequences[Tokens]) -> Tokens:
        """The phrases themselves, without their other forms."""
        return self.goals[::FORMS]

    def on(self: Sequences[Tokens], device: str) -> Sequences[Packed]:
        """The same on an accelerator."""
        texts = (self.goals, self.own_short, self.own_whole, self.short, self.whole)
        return Sequences(*(Packed(tokens, device) for tokens in texts))


def sequences(corpus: Corpus, tokens: Callable[[Sequence[str], int], Tokens], limits: Limits) -> Sequences[Tokens]:
    """The tokens of a corpus's texts."""
    examples = corpus.examples
    return Sequences(
        tokens([text for one in examples for text in one[:FORMS]], limits.goal),
        tokens([one.short for one in examples], limits.short),
        tokens([one.whole for one in examples], limits.own_whole),
        tokens(corpus.short, limits.short),
        tokens(corpus.whole, limits.whole),
    )
