"""The teacher, tuned on the English pairs that it does not find strange."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from training.learning.corpus import Batches
from training.learning.losses import contrastive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from training.learning.corpus import Corpus
    from training.learning.drawing import Drawing
    from training.learning.options import Options
    from training.learning.sequences import Sequences, Tokens
    from training.learning.teacher import Teacher


def consistent(teacher: Teacher, texts: Sequences[Tokens], corpus: Corpus, skills: Any, rank: int) -> list[bool]:
    """Which pairs are kept: those whose skill the untuned teacher ranks high; all of other languages.

    `skills` are the teacher's vectors of all skills.
    """
    import torch

    goals, own = teacher.embed_tokens(texts.phrases), teacher.embed_tokens(texts.own_short)
    kept = torch.ones(len(corpus.pairs), dtype=torch.bool, device=teacher.device)
    pool = skills[torch.tensor(corpus.english, device=teacher.device)]
    for part in torch.tensor(corpus.english_pairs, device=teacher.device, dtype=torch.long).split(8192):
        right = (goals[part] * own[part]).sum(1, keepdim=True)
        kept[part] = (goals[part] @ pool.T > right).sum(1) < rank
    return [bool(one) for one in kept.tolist()]


def tune(
    teacher: Teacher,
    texts: Sequences[Tokens],
    corpus: Corpus,
    kept: Sequence[bool],
    drawing: Drawing,
    options: Options,
    seed: int = 0,
) -> tuple[int, float]:
    """Tune the teacher on the English pairs that are kept; gives the number of steps and the last loss."""
    import torch

    generator = random.Random(seed)
    # A deep teacher's activations of a whole batch do not fit into memory: they are made again on the way back.
    teacher.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    english = [keep and corpus.english[pair[0]] for keep, pair in zip(kept, corpus.pairs, strict=True)]
    batches = Batches(corpus, english, seed)
    optimizer = torch.optim.AdamW(teacher.model.parameters(), lr=options.teacher_rate, weight_decay=0.01)
    total = options.teacher_rounds * max(1, round(len(batches) / options.batch))
    step = 0
    for _ in range(options.teacher_rounds):
        teacher.model.train()
        for places in batches.one_pass(options.batch):
            loss = _loss(teacher, texts, places, drawing, generator)
            rate = min(1.0, (step + 1) / (0.08 * total)) * max(0.02, 1 - step / total)
            optimizer.param_groups[0]["lr"] = options.teacher_rate * rate
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(teacher.model.parameters(), 1.0)
            optimizer.step()
            step += 1
    return step, loss.item()


def _loss(
    teacher: Teacher, texts: Sequences[Tokens], places: Sequence[int], drawing: Drawing, generator: random.Random
) -> Any:
    """The loss of one batch of pairs; each skill is read short or whole."""
    import torch

    at = torch.tensor(places, device=teacher.device)
    negative = drawing.negatives(at, generator)
    parts, positive = drawing.joined(len(places), generator)
    rows = [texts.goals[drawing.form(place, generator, translated=False)] for place in places]
    goals = [[token for one in group for token in rows[one]][:180] for group in parts]
    skills = [(texts.own_short if generator.random() < 0.5 else texts.own_whole)[place] for place in places]
    wrong = [(texts.short if generator.random() < 0.5 else texts.whole)[one] for one in negative.tolist()]
    own = drawing.owner[at]
    return contrastive(
        teacher.encode(goals),
        torch.cat([teacher.encode(skills), teacher.encode(wrong)]),
        positive,
        drawing.masked(own, torch.cat([own, negative])),
    )
