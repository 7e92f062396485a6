"""Train a table: tune the teacher, let it explain sentences to the table, then rank skills for phrases.

bundle ── tune ──> teacher ── regress ──> table ── contrast, several seeds ──> tables ── mean ──> one table
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training import bundle, mining
from training.corpus import Batches, Corpus
from training.losses import abstention, contrastive, divergence
from training.measure import measure, overall
from training.packed import Packed, Tokenizer
from training.teacher import Teacher, packed
from weft_skills.selection.encoder.tokens import PIECE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from training.teacher import Teacher as TeacherType


@dataclass(frozen=True, slots=True)
class Options:
    """How long and how hard to train; smaller values for a try without an accelerator."""

    device: str = "cuda"
    processes: int = 14
    batch: int = 2048
    teacher_rounds: int = 40
    teacher_rate: float = 2e-4
    rank: int = 150
    sentence_epochs: int = 14
    rounds: int = 40
    rate: float = 4e-3
    drop: float = 0.1
    taught: float = 10.0
    anchored: float = 1.0
    everyday: float = 60.0
    contrasted: float = 1.0
    seeds: int = 3
    dimensions: int = 128
    # How much of the tuned teacher is mixed with the published one, and of the ranked tables with the regressed one.
    tuned_share: float = 0.55
    ranked_share: float = 0.5


class Run:
    """One training, from a bundle to a table; the steps are methods, in order."""

    def __init__(self, data: Path, teacher: Path, out: Path, options: Options) -> None:
        import torch

        self.began = time.monotonic()
        self.options, self.out = options, out
        torch.manual_seed(0)
        torch.set_float32_matmul_precision("high")
        document = bundle.read(data)
        self.words: list[str] = document["vocabulary"]
        self.development = document["development"]
        self.corpus = Corpus(document, options.processes)
        self.tokenizer = Tokenizer(self.words, options.processes)
        self.teacher: TeacherType = Teacher(teacher, options.device)
        self.owner = torch.tensor([pair[0] for pair in self.corpus.pairs], device=options.device)
        self.group = torch.tensor(self.corpus.groups, device=options.device)
        self.english = torch.tensor(self.corpus.english, device=options.device)
        self.log(f"{len(self.corpus.skills)} skills, {len(self.corpus.pairs)} pairs, {len(self.words)} entries")

    def log(self, *parts: object) -> None:
        """A line with the seconds since the start."""
        sys.stdout.write(f"[{time.monotonic() - self.began:6.1f}] {' '.join(map(str, parts))}\n")
        sys.stdout.flush()

    # The teacher

    def prepare(self) -> None:
        """Token sequences, mined negatives, and which pairs are kept."""
        import torch

        corpus, options = self.corpus, self.options
        forms = [text for one in corpus.examples for text in one[:3]]
        self.static_goals = Packed(self.tokenizer.of(forms, 64), options.device)
        static_whole = self.tokenizer.of([one.whole for one in corpus.examples], 224)
        self.static_short = Packed(self.tokenizer.of([one.short for one in corpus.examples], 160), options.device)
        self.static_whole = Packed(static_whole, options.device)
        self.log("tokens of the table")
        skills = self.tokenizer.of(corpus.whole, 256)
        phrases = self.tokenizer.of([one.phrase for one in corpus.examples], 64)
        self.mined = mining.lexical(phrases, skills, len(self.words), options.device)
        self.skill_short = Packed(self.tokenizer.of(corpus.short, 160), options.device)
        self.skill_whole = Packed(skills, options.device)
        self.log("mined", tuple(self.mined.shape))
        place = [at for at, pair in enumerate(corpus.pairs) if corpus.english[pair[0]]]
        self.english_pairs = torch.tensor(place, device=options.device, dtype=torch.long)
        self.bert_goals = self.teacher.tokens(forms, 64)
        self.bert_short = self.teacher.tokens([one.short for one in corpus.examples], 160)
        self.bert_skill_short = self.teacher.tokens(corpus.short, 160)
        self.bert_whole = self.teacher.tokens([one.whole for one in corpus.examples], 180)
        self.bert_skill_whole = self.teacher.tokens(corpus.whole, 180)
        self.log("tokens of the teacher")

    def consistent(self) -> list[bool]:
        """Which pairs are kept: those whose skill the untuned teacher ranks high; all of other languages."""
        import torch

        every = self.teacher.embed_tokens(self.bert_skill_short)
        self.alike = every
        goals = self.teacher.embed_tokens(self.bert_goals[::3])
        own = self.teacher.embed_tokens(self.bert_short)
        kept = torch.ones(len(self.corpus.pairs), dtype=torch.bool, device=self.options.device)
        pool = every[self.english]
        for part in self.english_pairs.split(8192):
            right = (goals[part] * own[part]).sum(1, keepdim=True)
            kept[part] = (goals[part] @ pool.T > right).sum(1) < self.options.rank
        self.log(
            f"kept {int(kept.sum())} of {len(kept)} pairs, {int(kept[self.english_pairs].sum())} of the English ones"
        )
        return [bool(one) for one in kept.tolist()]

    def negatives(self, places: Any, generator: random.Random) -> Any:
        """A mined skill for each pair, never its own nor one that is nearly the same."""
        import torch

        choice = torch.tensor(
            [[generator.randrange(self.mined.shape[1]) for _ in range(6)] for _ in range(len(places))]
        )
        found = self.mined[places[:, None], choice.to(self.options.device)]
        own = self.owner[places]
        fine = (self.group[found] != self.group[own][:, None]) & (
            (self.alike[found] * self.alike[own][:, None]).sum(2) < mining.SAME
        )
        return found[torch.arange(len(places), device=found.device), fine.float().argmax(1)]

    def masked(self, own: Any, others: Any) -> Any:
        """Which skills of a batch are nearly the goal's own, so that they are no negatives."""
        return (self.group[own][:, None] == self.group[others][None, :]) | (
            self.alike[own] @ self.alike[others].T > mining.SAME
        )

    def joined(self, count: int, generator: random.Random, share: float = 0.25) -> tuple[list[list[int]], Any]:
        """Which goals of a batch each goal is joined from, and so which skills it is for."""
        import torch

        parts = [[at] for at in range(count)]
        for group in parts:
            if generator.random() < share:
                group += [generator.randrange(count) for _ in range(1 if generator.random() < 0.6 else 2)]
        rows = torch.tensor([at for at, group in enumerate(parts) for _ in group], device=self.options.device)
        columns = torch.tensor([one for group in parts for one in group], device=self.options.device)
        positive = torch.zeros(count, 2 * count, dtype=torch.bool, device=self.options.device)
        positive[rows, columns] = True
        return parts, positive

    def form(self, place: int, generator: random.Random) -> int:
        """Which form of a phrase is used: itself, without the skill's name, or without most shared words."""
        chance, one = generator.random(), self.corpus.examples[place]
        return 3 * place + (1 if chance < 0.2 and one.without_name else 2 if chance < 0.5 and one.other_words else 0)

    def tune(self, kept: Sequence[bool], seed: int = 0) -> None:
        """Tune the teacher on the English pairs."""
        import torch

        options, generator = self.options, random.Random(seed)
        english = [keep and self.corpus.english[pair[0]] for keep, pair in zip(kept, self.corpus.pairs, strict=True)]
        batches = Batches(self.corpus, english, seed)
        model = self.teacher.model
        optimizer = torch.optim.AdamW(model.parameters(), lr=options.teacher_rate, weight_decay=0.01)
        total = options.teacher_rounds * max(1, round(len(batches) / options.batch))
        step = 0
        for _ in range(options.teacher_rounds):
            model.train()
            for places in batches.one_pass(options.batch):
                at = torch.tensor(places, device=options.device)
                negative = self.negatives(at, generator)
                parts, positive = self.joined(len(places), generator)
                rows = [self.bert_goals[self.form(place, generator)] for place in places]
                goals = [[token for one in group for token in rows[one]][:180] for group in parts]
                body = generator.random
                skills = [(self.bert_short if body() < 0.5 else self.bert_whole)[place] for place in places]
                wrong = [
                    (self.bert_skill_short if body() < 0.5 else self.bert_skill_whole)[one] for one in negative.tolist()
                ]
                rate = min(1.0, (step + 1) / (0.08 * total)) * max(0.02, 1 - step / total)
                optimizer.param_groups[0]["lr"] = options.teacher_rate * rate
                own = self.owner[at]
                loss = contrastive(
                    self.teacher.encode(goals),
                    torch.cat([self.teacher.encode(skills), self.teacher.encode(wrong)]),
                    positive,
                    self.masked(own, torch.cat([own, negative])),
                )
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                step += 1
        self.log(f"teacher: {step} steps, loss {loss.item():.3f}", self.figures(self.teacher.embed))

    def save_teacher(self) -> None:
        """Write the tuned teacher in two files."""
        import numpy

        weights = packed({name: value.float().cpu().numpy() for name, value in self.teacher.model.state_dict().items()})
        names = sorted(weights, key=lambda name: -weights[name].nbytes)
        for number, part in enumerate((names[:1], names[1:])):
            numpy.savez(self.out / f"weights{number}.npz", **{name: weights[name] for name in part})

    # The table

    def teach(self) -> None:
        """What the teacher says about every text, on fewer axes."""
        import torch

        corpus, options = self.corpus, self.options
        sentences = corpus.sentences()
        english = [at for at, one in enumerate(corpus.english) if one]
        pairs = self.english_pairs.tolist()
        sources = list(dict.fromkeys(one[1] for one in corpus.translations))
        texts = [
            *(corpus.examples[at].phrase for at in pairs), *(corpus.short[at] for at in english),
            *(corpus.whole[at] for at in english), *sentences, *corpus.everyday, *sources,
        ]  # fmt: skip
        vectors = self.teacher.embed(texts, 180)
        self.log(f"teacher's vectors of {len(texts)} texts")
        first, second = len(pairs), len(pairs) + len(english)
        self.taught_goals = torch.zeros(len(corpus.pairs), 384, device=options.device)
        self.taught_goals[self.english_pairs] = vectors[:first]
        self.taught_skills = torch.zeros(len(corpus.skills), 384, device=options.device)
        both = vectors[first:second] + vectors[second : second + len(english)]
        self.taught_skills[self.english] = torch.nn.functional.normalize(both, dim=1)
        self.center = vectors.mean(0)
        self.axes = torch.pca_lowrank(
            vectors[:: max(1, len(vectors) // 200_000)] - self.center, q=options.dimensions, niter=6
        )[2]
        target = torch.nn.functional.normalize((vectors - self.center) @ self.axes, dim=1)
        place = {text: len(texts) - len(sources) + at for at, text in enumerate(sources)}
        names = {at: first + number for number, at in enumerate(english)}
        translated = [(one[2], place[one[1]]) for one in corpus.translations]
        twins = [(corpus.short[at], names[other]) for at, other in corpus.twins.items() if other in names] * 2
        self.lesson = Packed(
            self.tokenizer.of([*texts, *(text for text, _ in (*translated, *twins))], 256), options.device
        )
        other = torch.tensor([at for _, at in (*translated, *twins)], device=options.device)
        self.target = torch.cat([target, target[other]]) if len(other) else target
        self.foreign = len(texts)
        self.daily = (len(texts) - len(sources) - len(corpus.everyday), len(texts) - len(sources))
        self.log(f"lessons: {len(self.target)}, {len(self.target) - self.foreign} of other languages")

    def words_on_axes(self) -> Any:
        """Each entry by itself through the teacher, on the axes, times how rare it is."""
        import torch

        known = self.teacher.tokenizer
        rows = [
            [known.token_to_id(word)] if word.startswith(PIECE) and known.token_to_id(word) else
            known.encode(word.removeprefix(PIECE), add_special_tokens=False).ids[:16]
            for word in self.words
        ]  # fmt: skip
        vectors = (self.teacher.embed_tokens(rows) - self.center) @ self.axes
        counts = torch.bincount(self.lesson.flat, minlength=len(self.words)).float()
        rare = torch.log((len(self.target) + 1) / (counts + 1)).clamp(min=0.3)
        plain = torch.tensor([word.isascii() for word in self.words], device=vectors.device)
        table = torch.where(plain[:, None], vectors * rare[:, None], 0.05 * torch.randn_like(vectors))
        return table / table[plain].norm(dim=1).mean()

    def regress(self, table: Any, rate: float = 5e-3, batch: int = 4096) -> Any:
        """Fit the table to what the teacher says about sentences."""
        import torch

        table = torch.nn.Parameter(table.clone())
        optimizer = torch.optim.Adam([table], lr=rate)
        total = self.options.sentence_epochs * -(-len(self.target) // batch)
        step = 0
        for _ in range(self.options.sentence_epochs):
            for places in torch.randperm(len(self.target), device=self.options.device).split(batch):
                optimizer.param_groups[0]["lr"] = rate * max(0.02, 1 - step / total)
                loss = self.distance(table, places)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
        self.log(f"regression: distance {loss.item():.4f}", self.figures(self.encoder(table.detach())))
        return table.detach()

    def distance(self, table: Any, places: Any) -> Any:
        """One minus the cosine between the table's vectors and the teacher's."""
        from torch.nn import functional

        return (1 - (functional.normalize(self.lesson.sums(table, places), dim=1) * self.target[places]).sum(1)).mean()

    def contrast(self, table: Any, kept: Sequence[bool], seed: int) -> Any:
        """Rank skills for phrases, near the teacher's ranking, with everyday sentences near no skill."""
        import torch

        options, generator = self.options, random.Random(seed)
        torch.manual_seed(seed)
        batches = Batches(self.corpus, kept, seed)
        table = torch.nn.Parameter(table.clone())
        optimizer = torch.optim.Adam([table], lr=options.rate)
        size = 2 * options.batch
        total = options.rounds * max(1, round(len(batches) / size))
        step = 0
        for _ in range(options.rounds):
            for places in batches.one_pass(size):
                optimizer.param_groups[0]["lr"] = (
                    options.rate * min(1.0, (step + 1) / (0.05 * total)) * max(0.02, 1 - step / total)
                )
                loss = self.step_loss(table, torch.tensor(places, device=options.device), generator)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
        return table.detach()

    def step_loss(self, table: Any, at: Any, generator: random.Random) -> Any:
        """The loss of one batch of pairs."""
        import torch
        from torch.nn import functional

        options, count = self.options, len(at)
        negative, own = self.negatives(at, generator), self.owner[at]
        parts, positive = self.joined(count, generator)
        forms = torch.tensor([self.form(place, generator) for place in at.tolist()], device=at.device)
        single = self.static_goals.sums(table, forms, options.drop)
        rows = torch.tensor([row for row, group in enumerate(parts) for _ in group], device=at.device)
        columns = torch.tensor([one for group in parts for one in group], device=at.device)
        goals = functional.normalize(torch.zeros_like(single).index_add(0, rows, single[columns]), dim=1)
        skills = functional.normalize(
            torch.cat([self.own_skills(table, at, own), self.other_skills(table, negative)]), dim=1
        )
        loss = options.contrasted * contrastive(goals, skills, positive, self.masked(own, torch.cat([own, negative])))
        alone = torch.tensor([len(group) == 1 for group in parts], device=at.device) & self.english[own]
        columns_ = torch.cat([own, negative])
        fit = self.english[columns_]
        taught = self.taught_goals[at[alone]] @ self.taught_skills[columns_[fit]].T
        loss = loss + options.taught * divergence(goals[alone] @ skills[fit].T, taught)
        everyday = self.everyday(table, count // 4, generator)
        loss = loss + options.everyday * abstention(everyday, skills, (goals * skills[:count]).sum(1))
        lessons = torch.cat(
            [
                torch.randint(len(self.target), (count,), device=at.device),
                torch.randint(self.foreign, max(self.foreign + 1, len(self.target)), (count,), device=at.device).clamp(
                    max=len(self.target) - 1
                ),
            ]
        )
        return loss + options.anchored * self.distance(table, lessons)

    def own_skills(self, table: Any, at: Any, own: Any) -> Any:
        """The skills of pairs, short or whole, without the phrase; some by their twin in another language."""
        import torch

        brief = torch.rand(len(at), device=at.device) < 0.5
        sums = torch.where(
            brief[:, None],
            self.static_short.sums(table, at, self.options.drop),
            self.static_whole.sums(table, at, self.options.drop),
        )
        twin = torch.tensor([self.corpus.twins.get(one, -1) for one in own.tolist()], device=at.device)
        use = (twin >= 0) & (torch.rand(len(at), device=at.device) < 0.5)
        return torch.where(use[:, None], self.other_skills(table, twin.clamp(min=0)), sums)

    def other_skills(self, table: Any, places: Any) -> Any:
        """Skills, short or whole."""
        import torch

        brief = torch.rand(len(places), device=places.device) < 0.5
        return torch.where(
            brief[:, None],
            self.skill_short.sums(table, places, self.options.drop),
            self.skill_whole.sums(table, places, self.options.drop),
        )

    def everyday(self, table: Any, count: int, generator: random.Random) -> Any:
        """Everyday sentences, one to six of them joined."""
        import torch
        from torch.nn import functional

        sizes = torch.tensor([generator.choice((1, 1, 1, 2, 3, 6)) for _ in range(count)], device=self.options.device)
        places = torch.randint(*self.daily, (int(sizes.sum()),), device=self.options.device)
        rows = torch.repeat_interleave(torch.arange(count, device=sizes.device), sizes)
        sums = self.lesson.sums(table, places)
        return functional.normalize(
            torch.zeros(count, sums.shape[1], device=sums.device).index_add(0, rows, sums), dim=1
        )

    # Figures and files

    def encoder(self, table: Any) -> Any:
        """A function from texts to a table's vectors."""
        import torch

        def encode(texts: Sequence[str], limit: int = 256) -> Any:
            packed_ = Packed(self.tokenizer.of(texts, limit), self.options.device)
            return torch.nn.functional.normalize(
                packed_.sums(table, torch.arange(len(texts), device=table.device)), dim=1
            )

        return encode

    def figures(self, encode: Any) -> str:
        """Figures on the development goals, in one line."""
        found = self.measured(encode)
        return json.dumps({"overall": round(overall(found), 4), **found})

    def measured(self, encode: Any) -> dict[str, list[float]]:
        """Figures on the development goals."""
        from training.examples import short, whole

        skills = self.development["skills"]
        vectors = [
            encode([short(skill) for skill in skills]), encode([whole(skill) for skill in skills]),
            encode([goal[3] for goal in self.development["goals"]]),
        ]  # fmt: skip
        return measure(self.development, *(one.float().cpu().numpy() for one in vectors))

    def save(self, name: str, table: Any) -> None:
        """Write a table as int8 rows with a scale each."""
        import numpy
        import torch

        scale = table.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
        rows = (table / scale).round().clamp(-127, 127)
        self.log(name, "as int8", self.figures(self.encoder(rows * scale)))
        numpy.savez_compressed(
            self.out / f"{name}.npz",
            rows=rows.to(dtype=torch.int8).cpu().numpy(),
            scales=scale[:, 0].float().cpu().numpy(),
            words=numpy.frombuffer("\n".join(self.words).encode(), numpy.uint8),
        )


def train(data: Path, teacher: Path, out: Path, options: Options) -> None:
    """Train a table and write it to a folder, with the teacher."""
    run = Run(data, teacher, out, options)
    run.prepare()
    kept = run.consistent()
    published = {name: value.clone() for name, value in run.teacher.model.state_dict().items()}
    run.log("teacher as published", run.figures(run.teacher.embed))
    run.tune(kept)
    run.teacher.mix(published, options.tuned_share)
    run.log("teacher, mixed", run.figures(run.teacher.embed))
    run.save_teacher()
    run.teach()
    learned = run.regress(run.words_on_axes())
    tables = []
    for seed in range(options.seeds):
        tables.append(run.contrast(learned, kept, seed))
        run.log(f"seed {seed}", run.figures(run.encoder(tables[-1])))
    run.save("table", options.ranked_share * sum(tables) / len(tables) + (1 - options.ranked_share) * learned)
