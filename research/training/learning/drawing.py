"""What a batch of pairs is made of: a form of each phrase, goals joined from several, negatives that look right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from training.examples import FORMS
from training.learning import mining

if TYPE_CHECKING:
    import random

    from training.learning.corpus import Corpus

# How many goals of a batch are joined with others, and how many of those that have a translation are read in it.
JOINED = 0.25
TRANSLATED = 0.3
# How many mined skills are drawn for a pair; the first that is another skill counts.
DRAWN = 6


class Drawing:
    """Draws from a corpus's pairs; `mined` are skills that look right for each, `alike` tells which are nearly one."""

    def __init__(self, corpus: Corpus, mined: Any, alike: Any, device: str) -> None:
        import torch

        self._examples, self._mined, self._alike, self._device = corpus.examples, mined, alike, device
        self.owner = torch.tensor([pair[0] for pair in corpus.pairs], device=device)
        self._group = torch.tensor(corpus.groups, device=device)

    def form(self, place: int, generator: random.Random, *, translated: bool) -> int:
        """Which form of a phrase is used: itself, without the skill's name or most shared words, or translated."""
        chance, one = generator.random(), self._examples[place]
        if translated and one.translated and generator.random() < TRANSLATED:
            return FORMS * place + 3
        form = 1 if chance < 0.2 and one.without_name else 2 if chance < 0.5 and one.other_words else 0
        return FORMS * place + form

    def joined(self, count: int, generator: random.Random) -> tuple[list[list[int]], Any]:
        """Which goals of a batch each goal is joined from, and so which skills it is for."""
        import torch

        parts = [[at] for at in range(count)]
        for group in parts:
            if generator.random() < JOINED:
                group += [generator.randrange(count) for _ in range(1 if generator.random() < 0.6 else 2)]
        rows = torch.tensor([at for at, group in enumerate(parts) for _ in group], device=self._device)
        columns = torch.tensor([one for group in parts for one in group], device=self._device)
        positive = torch.zeros(count, 2 * count, dtype=torch.bool, device=self._device)
        positive[rows, columns] = True
        return parts, positive

    def negatives(self, places: Any, generator: random.Random) -> Any:
        """A mined skill for each pair, never its own nor one that is nearly the same."""
        import torch

        most = self._mined.shape[1]
        choice = torch.tensor([[generator.randrange(most) for _ in range(DRAWN)] for _ in range(len(places))])
        found = self._mined[places[:, None], choice.to(self._device)]
        own = self.owner[places]
        fine = (self._group[found] != self._group[own][:, None]) & (
            (self._alike[found] * self._alike[own][:, None]).sum(2) < mining.SAME
        )
        return found[torch.arange(len(places), device=found.device), fine.float().argmax(1)]

    def masked(self, own: Any, others: Any) -> Any:
        """Which skills of a batch are nearly the goal's own, so that they are no negatives."""
        return (self._group[own][:, None] == self._group[others][None, :]) | (
            self._alike[own] @ self._alike[others].T > mining.SAME
        )
