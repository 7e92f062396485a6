"""An earlier table, trained further on an accelerator: requests nearer to their skills, everyday messages near to none.

The earlier table takes the teacher's place: it says which skills are alike, and where a text lies that is to stay where
it was.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training import bundle, written
from training.everyday import LIKE_GOALS
from training.examples import example, short, whole
from training.learning.figures import encoder, figures
from training.learning.losses import abstention, contrastive
from training.learning.packed import Packed, Tokenizer
from training.table_file import read, write_trained

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# Phrases of a skill beside its requests, and translations that are to stay near their English.
PHRASES, TRANSLATIONS = 5, 90_000
# Skills nearer than SAME are one; as many near each skill are shown as wrong ones, of every third skill.
SAME, NEAR, EVERY = 0.86, 24, 3
# How much of a batch are requests and not phrases, how often a request is in another language than English, a skill's
# text is read whole, goals are joined, and an everyday message is one of those that were written for this.
REQUESTS, OTHER, WHOLE, JOINED, WRITTEN = 0.6, 0.3, 0.3, 0.25, 0.35
MESSAGES = (1, 1, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Refining:
    """How long and how hard to train; the weights are those of everyday messages and of what is to stay.

    `share` is that of the trained tables in the mean with the earlier one.
    """

    steps: int = 1200
    batch: int = 2048
    rate: float = 1.5e-3
    drop: float = 0.25
    scale: float = 16.0
    everyday: float = 30.0
    anchored: float = 2.0
    share: float = 0.7
    seeds: int = 3
    processes: int = 2


def refine(earlier: Path, data: Path, out: Path, options: Refining, log: Callable[..., None] = print) -> None:
    """Train a table further with several seeds, and write the mean of these tables and of the earlier one."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    document = bundle.read(data)
    words, rows = read(earlier)
    table = torch.tensor(rows, device=device)
    table /= table.norm(dim=1).mean()
    tokenizer = Tokenizer(words, options.processes)
    development = document["development"]
    log("earlier", figures(encoder(table, tokenizer), development))
    texts = _Texts(document, tokenizer, device)
    trained = []
    for seed in range(options.seeds):
        trained.append(_Refined(texts, table, options, seed).train(log))
        log(f"seed {seed}", figures(encoder(trained[-1], tokenizer), development))
    mean = options.share * sum(trained) / len(trained) + (1 - options.share) * table
    log("mean", figures(encoder(mean, tokenizer), development))
    place = {word: at for at, word in enumerate(words)}
    entries = [word for word in document["vocabulary"] if word in place]
    write_trained(out, mean[torch.tensor([place[word] for word in entries])].cpu().numpy(), entries)


class _Texts:
    """Tokens of skills, of goals with the skills that they are for, of messages and of translations."""

    def __init__(self, document: Mapping[str, Any], tokenizer: Tokenizer, device: str) -> None:
        chance, skills = random.Random(7), document["skills"]
        groups: dict[str, int] = {}
        self.device = device
        self.groups = [groups.setdefault(re.sub(r"\W+", "", skill[0].lower()), len(groups)) for skill in skills]
        by_skill: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for skill, kind, phrase in document["pairs"]:
            if kind in LIKE_GOALS:
                by_skill[skill].append((kind, phrase))
        phrases = [
            (skill, *pair)
            for skill, group in by_skill.items()
            for pair in chance.sample(group, min(PHRASES, len(group)))
        ]
        examples = [example(skills[skill], kind, phrase) for skill, kind, phrase in phrases]
        translations = chance.sample(document["translations"], min(TRANSLATIONS, len(document["translations"])))
        requests, messages = written.requests(skills), written.everyday()

        def packed(some: Sequence[str], limit: int) -> Packed:
            return Packed(tokenizer.of(some, limit), device)

        self.short, self.whole = packed(list(map(short, skills)), 160), packed(list(map(whole, skills)), 256)
        self.requests = packed([request.text for request in requests], 128)
        self.of_skill: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for at, request in enumerate(requests):
            self.of_skill[request.skill][request.language != "en"].append(at)
        self.phrases = packed([one.phrase for one in examples], 64)
        self.hard_phrases = packed([one.other_words or one.without_name or one.phrase for one in examples], 64)
        self.own = packed([one.short for one in examples], 160)
        self.of_phrases: dict[int, list[int]] = defaultdict(list)
        for at, (skill, *_) in enumerate(phrases):
            self.of_phrases[skill].append(at)
        self.messages = packed(list(dict.fromkeys(document["everyday"])), 128)
        self.written = packed([message.text for message in messages], 128)
        self.english = packed([one[1] for one in translations], 96)
        self.other = packed([one[2] for one in translations], 96)


class _Refined:
    """One training from a table."""

    def __init__(self, texts: _Texts, table: Any, options: Refining, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self._texts, self._options, self._chance = texts, options, random.Random(seed)
        self._earlier = table
        with torch.no_grad():
            both = _vectors(table, texts.short) + _vectors(table, texts.whole)
            self._skills = torch.nn.functional.normalize(both, dim=1)
            self._english = _vectors(table, texts.english)
            self._near = self._neighbours()
        self._groups = self._tensor(texts.groups)

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
            if step % 200 == 0:
                log(f"step {step}: loss {loss.item():.3f}")
        return table.detach()

    def _loss(self, table: Any) -> Any:
        import torch
        from torch.nn import functional

        texts, chance, count, drop = self._texts, self._chance, self._options.batch, self._options.drop
        asked, requests, phrases = self._drawn()
        own = self._tensor(asked)
        asked_for = len(requests)
        said = texts.phrases if chance.random() < 0.5 else texts.hard_phrases
        single = torch.cat([texts.requests.sums(table, requests, drop), said.sums(table, phrases, drop)])
        rows, columns = self._joined(count)
        goals = functional.normalize(torch.zeros_like(single).index_add(0, rows, single[columns]), dim=1)
        positive = torch.zeros(count, 2 * count, dtype=torch.bool, device=texts.device)
        positive[rows, columns] = True
        wrong = self._near[own, torch.randint(NEAR, (count,), device=texts.device)]
        right, others = ((texts.whole if chance.random() < WHOLE else texts.short) for _ in range(2))
        read = right.sums(table, own, drop)
        if right is texts.short:  # without the phrase
            read = torch.cat([read[:asked_for], texts.own.sums(table, phrases, drop)])
        skills = functional.normalize(torch.cat([read, others.sums(table, wrong, drop)]), dim=1)
        shown = torch.cat([own, wrong])
        alike = self._skills[own] @ self._skills[shown].T > SAME
        masked = (self._groups[own][:, None] == self._groups[shown][None]) | alike
        near = abstention(self._messages(table, count // 4), skills, (goals * skills[:count]).sum(1))
        stays = self._moved(table, count) + (1 - (skills[:count] * self._skills[own]).sum(1)).mean()
        ranked = contrastive(goals, skills, positive, masked, self._options.scale)
        return ranked + self._options.everyday * near + self._options.anchored * stays

    def _drawn(self) -> tuple[list[int], Any, Any]:
        """The skills of a batch, and a goal of each: the places of requests, and for the rest those of phrases."""
        texts, chance = self._texts, self._chance
        count = min(round(self._options.batch * REQUESTS), len(texts.of_skill))
        asked = chance.sample(list(texts.of_skill), count)
        requests = []
        for skill in asked:
            english, other = texts.of_skill[skill]
            requests.append(chance.choice(other if not english or (other and chance.random() < OTHER) else english))
        rest = chance.sample(list(texts.of_phrases), self._options.batch - count)
        phrases = [chance.choice(texts.of_phrases[skill]) for skill in rest]
        return [*asked, *rest], self._tensor(requests), self._tensor(phrases)

    def _neighbours(self) -> Any:
        """Skills near each skill that are not the same one twice."""
        import torch

        found = []
        for part in self._skills.split(4096):
            similar = part @ self._skills[::EVERY].T
            similar[similar > SAME] = -1
            found.append(similar.topk(NEAR, 1).indices * EVERY)
        return torch.cat(found)

    def _joined(self, count: int) -> tuple[Any, Any]:
        """Which goals of a batch each goal is joined from."""
        parts = [[at] for at in range(count)]
        for group in parts:
            if self._chance.random() < JOINED:
                group += [self._chance.randrange(count) for _ in range(1 if self._chance.random() < 0.6 else 2)]
        rows = [at for at, group in enumerate(parts) for _ in group]
        return self._tensor(rows), self._tensor([one for group in parts for one in group])

    def _messages(self, table: Any, count: int) -> Any:
        """Vectors of everyday messages, one to three of them joined."""
        import torch

        texts, device = self._texts, self._texts.device
        sizes = self._tensor([self._chance.choice(MESSAGES) for _ in range(count)])
        owner = torch.repeat_interleave(torch.arange(count, device=device), sizes)
        here = (torch.rand(count, device=device) < WRITTEN)[owner]
        found = torch.zeros(count, table.shape[1], device=device)
        for packed, rows in ((texts.messages, owner[~here]), (texts.written, owner[here])):
            places = torch.randint(len(packed), (len(rows),), device=device)
            found = found.index_add(0, rows, packed.sums(table, places))
        return torch.nn.functional.normalize(found, dim=1)

    def _moved(self, table: Any, count: int) -> Any:
        """How far texts and their translations are from where the English was."""
        import torch
        from torch.nn import functional

        at = torch.randint(len(self._english), (count,), device=self._texts.device)
        return sum(
            (1 - (functional.normalize(texts.sums(table, at), dim=1) * self._english[at]).sum(1)).mean()
            for texts in (self._texts.other, self._texts.english)
        )

    def _tensor(self, values: Sequence[int]) -> Any:
        import torch

        return torch.tensor(values, device=self._texts.device)


def _vectors(table: Any, texts: Packed) -> Any:
    import torch

    parts = [texts.sums(table, part) for part in torch.arange(len(texts), device=table.device).split(8192)]
    return torch.nn.functional.normalize(torch.cat(parts), dim=1)
