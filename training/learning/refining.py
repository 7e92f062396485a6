"""An earlier table, trained further on a CPU: requests nearer to their skills, everyday messages near to none.

The earlier table takes the teacher's place: it says which requests are kept, which skills are alike, and where a text
lies that is to stay where it was.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training import bundle
from training.everyday import LIKE_GOALS
from training.examples import example, short, whole
from training.learning.figures import encoder, figures
from training.learning.losses import abstention, contrastive
from training.learning.packed import Packed, Tokenizer
from training.table_file import read, write_trained

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# Pairs of a skill beside its requests, and translations that are to stay near their English.
PAIRS, TRANSLATIONS = 4, 90_000
# A request is kept if its skill is among so many of a sample of all skills; skills nearer than SAME are one.
SAMPLE, RANK, SAME = 2_500, 30, 0.86
# Skills near each skill that are shown as wrong ones, of every third skill.
NEAR, EVERY = 24, 3
# How often a request is drawn and not a pair, a text is read whole, goals are joined, and a message is translated.
REQUESTS, WHOLE, JOINED, TRANSLATED = 0.6, 0.3, 0.25, 0.3
MESSAGES = (1, 1, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Refining:
    """How long and how hard to train; the weights are those of everyday messages and of what is to stay."""

    steps: int = 200
    batch: int = 1024
    rate: float = 2e-3
    drop: float = 0.1
    everyday: float = 30.0
    anchored: float = 2.0
    share: float = 0.5
    processes: int = 2


def refine(
    earlier: Path,
    data: Path,
    written: Mapping[str, Any],
    out: Path,
    options: Refining,
    log: Callable[..., None] = print,
) -> None:
    """Train a table further, and write the mean of it and of the earlier one."""
    import torch

    torch.manual_seed(0)
    document = bundle.read(data)
    words, rows = read(earlier)
    table = torch.tensor(rows)
    table /= table.norm(dim=1).mean()
    tokenizer = Tokenizer(words, options.processes)
    development = document["development"]
    log("earlier", figures(encoder(table, tokenizer), development))
    texts = _Texts(document, written, tokenizer)
    refined = _Refined(texts, table, options).train(log)
    log("refined", figures(encoder(refined, tokenizer), development))
    mean = options.share * refined + (1 - options.share) * table
    log("mean", figures(encoder(mean, tokenizer), development))
    place = {word: at for at, word in enumerate(words)}
    entries = [word for word in document["vocabulary"] if word in place]
    write_trained(out, mean[torch.tensor([place[word] for word in entries])].numpy(), entries)


class _Texts:
    """Tokens of skills, of goals with the skills that they are for, of messages and of translations."""

    def __init__(self, document: Mapping[str, Any], written: Mapping[str, Any], tokenizer: Tokenizer) -> None:
        chance, skills = random.Random(7), document["skills"]
        self.groups = [hash(re.sub(r"\W+", "", skill[0].lower())) % (1 << 40) for skill in skills]
        by_skill: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for skill, kind, phrase in document["pairs"]:
            if kind in LIKE_GOALS:
                by_skill[skill].append((kind, phrase))
        pairs = [
            (skill, *pair) for skill, group in by_skill.items() for pair in chance.sample(group, min(PAIRS, len(group)))
        ]
        examples = [example(skills[skill], kind, phrase) for skill, kind, phrase in pairs]
        translations = [
            *chance.sample(document["translations"], min(TRANSLATIONS, len(document["translations"]))),
            *([code, english, other] for english, code, other in written["everyday"] if other),
        ]

        def packed(some: Sequence[str], limit: int) -> Packed:
            return Packed(tokenizer.of(some, limit), "cpu")

        self.short, self.whole = packed(list(map(short, skills)), 160), packed(list(map(whole, skills)), 256)
        self.of_requests = [request[0] for request in written["requests"]]
        self.requests = packed([request[1] for request in written["requests"]], 96)
        self.of_pairs = [pair[0] for pair in pairs]
        self.pairs = packed([one.phrase for one in examples], 64)
        self.hard_pairs = packed([one.other_words or one.without_name or one.phrase for one in examples], 64)
        self.own = packed([one.short for one in examples], 160)
        messages = dict.fromkeys([*document["everyday"], *(one[0] for one in written["everyday"])])
        self.messages = packed(list(messages), 128)
        self.translated = packed([one[2] for one in written["everyday"] if one[2]], 128)
        self.english = packed([one[1] for one in translations], 96)
        self.other = packed([one[2] for one in translations], 96)


class _Refined:
    """One training from a table."""

    def __init__(self, texts: _Texts, table: Any, options: Refining) -> None:
        import torch

        self._texts, self._options, self._chance = texts, options, random.Random(0)
        self._earlier = table
        with torch.no_grad():
            both = _vectors(table, texts.short) + _vectors(table, texts.whole)
            self._skills = torch.nn.functional.normalize(both, dim=1)
            self._english = _vectors(table, texts.english)
            kept = self._kept(_vectors(table, texts.requests))
            self._near = self._neighbours()
        self._groups = torch.tensor(texts.groups)
        self._goals: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for at in torch.nonzero(kept).flatten().tolist():
            self._goals[texts.of_requests[at]][0].append(at)
        for at, skill in enumerate(texts.of_pairs):
            self._goals[skill][1].append(at)

    def _kept(self, requests: Any) -> Any:
        """Which requests the earlier table does not find strange."""
        import torch

        sample, own = self._skills[torch.randperm(len(self._skills))[:SAMPLE]], torch.tensor(self._texts.of_requests)
        found = [
            ((requests[part] @ sample.T) > (requests[part] * self._skills[own[part]]).sum(1, keepdim=True)).sum(1)
            for part in torch.arange(len(own)).split(8192)
        ]
        return torch.cat(found) < RANK

    def _neighbours(self) -> Any:
        """Skills near each skill that are not the same one twice."""
        import torch

        found = []
        for part in self._skills.split(4096):
            similar = part @ self._skills[::EVERY].T
            similar[similar > SAME] = -1
            found.append(similar.topk(NEAR, 1).indices * EVERY)
        return torch.cat(found)

    def train(self, log: Callable[..., None]) -> Any:
        """The table after all steps."""
        import torch

        options = self._options
        table = torch.nn.Parameter(self._earlier.clone())
        optimizer = torch.optim.Adam([table], lr=options.rate)
        for step in range(options.steps):
            pace = min(1.0, (step + 1) / 25) * max(0.02, 1 - step / options.steps)
            optimizer.param_groups[0]["lr"] = options.rate * pace
            loss = self._loss(table)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 20 == 0:
                log(f"step {step}: loss {loss.item():.3f}")
        return table.detach()

    def _loss(self, table: Any) -> Any:
        import torch
        from torch.nn import functional

        texts, chance, count, drop = self._texts, self._chance, self._options.batch, self._options.drop
        own = torch.tensor(chance.sample(list(self._goals), count))
        asked, at = self._drawn(own.tolist())
        plain = torch.nonzero(~asked).flatten()
        pairs = texts.pairs if chance.random() < 0.5 else texts.hard_pairs
        single = torch.zeros(count, table.shape[1])
        single = single.index_put((torch.nonzero(asked).flatten(),), texts.requests.sums(table, at[asked], drop))
        single = single.index_put((plain,), pairs.sums(table, at[~asked], drop))
        rows, columns = self._joined(count)
        goals = functional.normalize(torch.zeros_like(single).index_add(0, rows, single[columns]), dim=1)
        positive = torch.zeros(count, 2 * count, dtype=torch.bool)
        positive[rows, columns] = True
        wrong = self._near[own, torch.randint(NEAR, (count,))]
        right, others = ((texts.whole if chance.random() < WHOLE else texts.short) for _ in range(2))
        read = right.sums(table, own, drop)
        if right is texts.short:  # without the phrase
            read = read.index_put((plain,), texts.own.sums(table, at[~asked], drop))
        skills = functional.normalize(torch.cat([read, others.sums(table, wrong, drop)]), dim=1)
        shown = torch.cat([own, wrong])
        alike = self._skills[own] @ self._skills[shown].T > SAME
        masked = (self._groups[own][:, None] == self._groups[shown][None]) | alike
        near = abstention(self._messages(table, count // 4), skills, (goals * skills[:count]).sum(1))
        stays = self._moved(table, count) + (1 - (skills[:count] * self._skills[own]).sum(1)).mean()
        ranked = contrastive(goals, skills, positive, masked)
        return ranked + self._options.everyday * near + self._options.anchored * stays

    def _drawn(self, skills: Sequence[int]) -> tuple[Any, Any]:
        """A goal of each skill: whether it is a request, and its place among requests or pairs."""
        import torch

        found = []
        for skill in skills:
            requests, pairs = self._goals[skill]
            asked = bool(requests) and (not pairs or self._chance.random() < REQUESTS)
            found.append((asked, self._chance.choice(requests if asked else pairs)))
        return torch.tensor([asked for asked, _ in found]), torch.tensor([at for _, at in found])

    def _joined(self, count: int) -> tuple[Any, Any]:
        """Which goals of a batch each goal is joined from."""
        import torch

        parts = [[at] for at in range(count)]
        for group in parts:
            if self._chance.random() < JOINED:
                group += [self._chance.randrange(count) for _ in range(1 if self._chance.random() < 0.6 else 2)]
        rows = [at for at, group in enumerate(parts) for _ in group]
        return torch.tensor(rows), torch.tensor([one for group in parts for one in group])

    def _messages(self, table: Any, count: int) -> Any:
        """Vectors of everyday messages, one to three of them joined."""
        import torch

        texts = self._texts
        sizes = torch.tensor([self._chance.choice(MESSAGES) for _ in range(count)])
        owner = torch.repeat_interleave(torch.arange(count), sizes)
        other = (torch.rand(count) < (TRANSLATED if len(texts.translated) else 0))[owner]
        found = torch.zeros(count, table.shape[1])
        for packed, rows in ((texts.messages, owner[~other]), (texts.translated, owner[other])):
            if len(rows):
                found = found.index_add(0, rows, packed.sums(table, torch.randint(len(packed), (len(rows),))))
        return torch.nn.functional.normalize(found, dim=1)

    def _moved(self, table: Any, count: int) -> Any:
        """How far texts and their translations are from where the English was."""
        import torch
        from torch.nn import functional

        at = torch.randint(len(self._english), (count,))
        return sum(
            (1 - (functional.normalize(texts.sums(table, at), dim=1) * self._english[at]).sum(1)).mean()
            for texts in (self._texts.other, self._texts.english)
        )


def _vectors(table: Any, texts: Packed) -> Any:
    import torch

    parts = [texts.sums(table, part) for part in torch.arange(len(texts)).split(8192)]
    return torch.nn.functional.normalize(torch.cat(parts), dim=1)
