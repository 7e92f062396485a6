"""What the teacher says about texts, on fewer axes, and the table that is fitted to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.encoder.tokens import PIECE

from training.learning.packed import Packed
from training.learning.teacher import centred

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from training.learning.corpus import Corpus
    from training.learning.options import Options
    from training.learning.packed import Tokenizer
    from training.learning.teacher import Teacher

# How many tokens of a text the teacher and the table read.
OF_TEACHER, OF_TABLE = 180, 256
# The teacher's axes are found from so many texts.
FOR_AXES = 200_000
# How many everyday sentences are joined to one text.
JOINED = (1, 1, 1, 2, 3, 6)


class Lessons:
    """Texts with the vectors that the table is to have for them, those of other languages last.

    `goals` and `skills` are the teacher's vectors of the English phrases and skills, on all its axes.
    """

    def __init__(self, corpus: Corpus, teacher: Teacher, tokenizer: Tokenizer, dimensions: int) -> None:
        import torch

        self._teacher, device = teacher, teacher.device
        english = [at for at, one in enumerate(corpus.english) if one]
        sources = list(dict.fromkeys(one[1] for one in corpus.translations))
        texts = [
            *(corpus.examples[at].phrase for at in corpus.english_pairs), *(corpus.short[at] for at in english),
            *(corpus.whole[at] for at in english), *corpus.sentences(), *corpus.everyday, *sources,
        ]  # fmt: skip
        vectors = teacher.embed(texts, OF_TEACHER)
        self._center = vectors.mean(0)
        told = centred(vectors, self._center)
        first, second = len(corpus.english_pairs), len(corpus.english_pairs) + len(english)
        self.goals = torch.zeros(len(corpus.pairs), vectors.shape[1], device=device)
        self.goals[torch.tensor(corpus.english_pairs, device=device, dtype=torch.long)] = told[:first]
        self.skills = torch.zeros(len(corpus.skills), vectors.shape[1], device=device)
        both = told[first:second] + told[second : second + len(english)]
        self.skills[torch.tensor(corpus.english, device=device)] = torch.nn.functional.normalize(both, dim=1)
        sample = vectors[:: max(1, len(vectors) // FOR_AXES)] - self._center
        self._axes = torch.pca_lowrank(sample, q=dimensions, niter=6)[2]
        target = torch.nn.functional.normalize((vectors - self._center) @ self._axes, dim=1)
        place = {text: len(texts) - len(sources) + at for at, text in enumerate(sources)}
        names = {at: first + number for number, at in enumerate(english)}
        translated = [(one[2], place[one[1]]) for one in corpus.translations]
        twins = [(corpus.short[at], names[other]) for at, other in corpus.twins.items() if other in names] * 2
        foreign = [*translated, *twins]
        self._texts = Packed(tokenizer.of([*texts, *(text for text, _ in foreign)], OF_TABLE), device)
        other = torch.tensor([at for _, at in foreign], device=device)
        self._target = torch.cat([target, target[other]]) if foreign else target
        self.foreign = len(texts)
        end, known = len(texts) - len(sources), set(corpus.everyday)
        others = [len(texts) + at for at, one in enumerate(corpus.translations) if one[1] in known]
        self._everyday = torch.tensor([*range(end - len(corpus.everyday), end), *others], device=device)

    def __len__(self) -> int:
        return len(self._target)

    def words(self, entries: Sequence[str]) -> Any:
        """A table to begin with: each entry by itself through the teacher, on the axes, times how rare it is."""
        import torch

        known = self._teacher.tokenizer
        rows = [
            [known.token_to_id(word)] if word.startswith(PIECE) and known.token_to_id(word) else
            known.encode(word.removeprefix(PIECE), add_special_tokens=False).ids[:16]
            for word in entries
        ]  # fmt: skip
        vectors = (self._teacher.embed_tokens(rows) - self._center) @ self._axes
        counts = torch.bincount(self._texts.flat, minlength=len(entries)).float()
        rare = torch.log((len(self) + 1) / (counts + 1)).clamp(min=0.3)
        plain = torch.tensor([word.isascii() for word in entries], device=vectors.device)
        table = torch.where(plain[:, None], vectors * rare[:, None], 0.05 * torch.randn_like(vectors))
        return table / table[plain].norm(dim=1).mean()

    def fitted(self, table: Any, options: Options, rate: float = 5e-3, batch: int = 4096) -> tuple[Any, float]:
        """The table fitted to what the teacher says, and how far it still is from it."""
        import torch

        table = torch.nn.Parameter(table.clone())
        optimizer = torch.optim.Adam([table], lr=rate)
        total = options.sentence_epochs * -(-len(self) // batch)
        step = 0
        for _ in range(options.sentence_epochs):
            for places in torch.randperm(len(self), device=options.device).split(batch):
                optimizer.param_groups[0]["lr"] = rate * max(0.02, 1 - step / total)
                loss = self.distance(table, places)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
        return table.detach(), loss.item()

    def distance(self, table: Any, places: Any) -> Any:
        """One minus the cosine between the table's vectors and the teacher's."""
        from torch.nn import functional

        vectors = functional.normalize(self._texts.sums(table, places), dim=1)
        return (1 - (vectors * self._target[places]).sum(1)).mean()

    def drawn(self, count: int) -> Any:
        """Places of lessons drawn at random: `count` of all of them, and as many of other languages."""
        import torch

        device, last = self._target.device, len(self) - 1
        every = torch.randint(len(self), (count,), device=device)
        foreign = torch.randint(self.foreign, max(self.foreign + 1, len(self)), (count,), device=device)
        return torch.cat([every, foreign.clamp(max=last)])

    def everyday(self, table: Any, count: int, generator: random.Random) -> Any:
        """The table's vectors of everyday sentences, one to six of them joined."""
        import torch
        from torch.nn import functional

        device = self._target.device
        sizes = torch.tensor([generator.choice(JOINED) for _ in range(count)], device=device)
        places = self._everyday[torch.randint(len(self._everyday), (int(sizes.sum()),), device=device)]
        rows = torch.repeat_interleave(torch.arange(count, device=device), sizes)
        sums = self._texts.sums(table, places)
        return functional.normalize(torch.zeros(count, sums.shape[1], device=device).index_add(0, rows, sums), dim=1)
