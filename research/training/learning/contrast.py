"""The table, trained to rank skills for phrases as the teacher does, with everyday sentences near no skill."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from training.learning.corpus import Batches
from training.learning.losses import abstention, contrastive, divergence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from training.learning.corpus import Corpus
    from training.learning.drawing import Drawing
    from training.learning.lessons import Lessons
    from training.learning.options import Options
    from training.learning.packed import Packed
    from training.learning.sequences import Sequences


class Contrast:
    """Trains tables from one table, each with a seed of its own."""

    def __init__(
        self, corpus: Corpus, texts: Sequences[Packed], drawing: Drawing, lessons: Lessons, options: Options
    ) -> None:
        import torch

        self._corpus, self._texts, self._drawing = corpus, texts, drawing
        self._lessons, self._options = lessons, options
        self._english = torch.tensor(corpus.english, device=options.device)

    def train(self, table: Any, kept: Sequence[bool], seed: int) -> Any:
        """The table after all rounds over the pairs that are kept."""
        import torch

        options, generator = self._options, random.Random(seed)
        torch.manual_seed(seed)
        batches = Batches(self._corpus, kept, seed)
        table = torch.nn.Parameter(table.clone())
        optimizer = torch.optim.Adam([table], lr=options.rate)
        size = 2 * options.batch
        total = options.rounds * max(1, round(len(batches) / size))
        step = 0
        for _ in range(options.rounds):
            for places in batches.one_pass(size):
                rate = min(1.0, (step + 1) / (0.05 * total)) * max(0.02, 1 - step / total)
                optimizer.param_groups[0]["lr"] = options.rate * rate
                loss = self._loss(table, torch.tensor(places, device=options.device), generator)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
        return table.detach()

    def _loss(self, table: Any, at: Any, generator: random.Random) -> Any:
        """The loss of one batch of pairs."""
        import torch
        from torch.nn import functional

        options, drawing, count = self._options, self._drawing, len(at)
        negative, own = drawing.negatives(at, generator), drawing.owner[at]
        parts, positive = drawing.joined(count, generator)
        forms = torch.tensor(
            [drawing.form(place, generator, translated=True) for place in at.tolist()], device=at.device
        )
        single = self._texts.goals.sums(table, forms, options.drop)
        rows = torch.tensor([row for row, group in enumerate(parts) for _ in group], device=at.device)
        columns = torch.tensor([one for group in parts for one in group], device=at.device)
        goals = functional.normalize(torch.zeros_like(single).index_add(0, rows, single[columns]), dim=1)
        skills = functional.normalize(torch.cat([self._own(table, at, own), self._others(table, negative)]), dim=1)
        shown = torch.cat([own, negative])
        loss = options.contrasted * contrastive(goals, skills, positive, drawing.masked(own, shown))
        alone = torch.tensor([len(group) == 1 for group in parts], device=at.device) & self._english[own]
        fit = self._english[shown]
        taught = self._lessons.goals[at[alone]] @ self._lessons.skills[shown[fit]].T
        loss = loss + options.taught * divergence(goals[alone] @ skills[fit].T, taught)
        everyday = self._lessons.everyday(table, count // 4, generator)
        loss = loss + options.everyday * abstention(everyday, skills, (goals * skills[:count]).sum(1))
        return loss + options.anchored * self._lessons.distance(table, self._lessons.drawn(count))

    def _own(self, table: Any, at: Any, own: Any) -> Any:
        """The skills of pairs, short or whole, without the phrase; some by their twin in another language."""
        import torch

        sums = self._read(table, at, self._texts.own_short, self._texts.own_whole)
        twin = torch.tensor([self._corpus.twins.get(one, -1) for one in own.tolist()], device=at.device)
        use = (twin >= 0) & (torch.rand(len(at), device=at.device) < 0.5)
        return torch.where(use[:, None], self._others(table, twin.clamp(min=0)), sums)

    def _others(self, table: Any, places: Any) -> Any:
        """Skills, short or whole."""
        return self._read(table, places, self._texts.short, self._texts.whole)

    def _read(self, table: Any, places: Any, short: Packed, whole: Packed) -> Any:
        import torch

        brief = torch.rand(len(places), device=places.device) < 0.5
        drop = self._options.drop
        return torch.where(brief[:, None], short.sums(table, places, drop), whole.sums(table, places, drop))
