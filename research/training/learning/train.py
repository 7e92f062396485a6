"""Train a table: tune the teacher, let it explain sentences to the table, then rank skills for phrases.

bundle ── tune ──> teacher ── fit ──> table ── contrast, several seeds ──> tables ── mean ──> one table
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from training import bundle
from training.learning import mining
from training.learning.contrast import Contrast
from training.learning.corpus import Corpus
from training.learning.drawing import Drawing
from training.learning.figures import Log, encoder, figures
from training.learning.lessons import Lessons
from training.learning.packed import Tokenizer
from training.learning.sequences import OF_TABLE, OF_TEACHER, sequences
from training.learning.teacher import Teacher, centred, packed
from training.learning.tuning import consistent, tune
from training.table_file import read_trained, write_trained

if TYPE_CHECKING:
    from pathlib import Path

    from training.learning.options import Options


def train(data: Path, teacher_folder: Path, out: Path, options: Options, requests: Path | None = None) -> None:
    """Train a table and write it to a folder, with the teacher."""
    import torch

    log = Log()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    document = bundle.read(data)
    words, development = document["vocabulary"], document["development"]
    written = json.loads(requests.read_text(encoding="utf-8")) if requests else {"requests": [], "everyday": []}
    corpus = Corpus(document, written, options.processes)
    tokenizer = Tokenizer(words, options.processes)
    teacher = Teacher(teacher_folder, options.device)
    log(f"{len(corpus.skills)} skills, {len(corpus.pairs)} pairs, {len(words)} entries")

    by_table = sequences(corpus, tokenizer.of, OF_TABLE)
    mined = mining.lexical(by_table.phrases, by_table.whole, len(words), options.device)
    log("mined", tuple(mined.shape))
    by_teacher = sequences(corpus, teacher.tokens, OF_TEACHER)
    skills = teacher.embed_tokens(by_teacher.short)
    kept = consistent(teacher, by_teacher, corpus, skills, options.rank)
    log(f"kept {sum(kept)} of {len(kept)} pairs, {sum(kept[at] for at in corpus.english_pairs)} of the English ones")
    drawing = Drawing(corpus, mined, centred(skills, skills.mean(0)), options.device)

    published = {name: value.clone() for name, value in teacher.model.state_dict().items()}
    log("teacher as published", figures(teacher.embed, development))
    steps, loss = tune(teacher, by_teacher, corpus, kept, drawing, options)
    log(f"teacher: {steps} steps, loss {loss:.3f}", figures(teacher.embed, development))
    teacher.mix(published, options.tuned_share)
    log("teacher, mixed", figures(teacher.embed, development))
    _save_teacher(out, teacher)

    lessons = Lessons(corpus, teacher, tokenizer, options.dimensions)
    log(f"lessons: {len(lessons)}, {len(lessons) - lessons.foreign} of other languages")
    learned, distance = lessons.fitted(lessons.words(words), options)
    log(f"fitted: distance {distance:.4f}", figures(encoder(learned, tokenizer), development))
    contrast = Contrast(corpus, by_table.on(options.device), drawing, lessons, options)
    tables = []
    for seed in range(options.seeds):
        tables.append(contrast.train(learned, kept, seed))
        log(f"seed {seed}", figures(encoder(tables[-1], tokenizer), development))
        table = options.ranked_share * sum(tables) / len(tables) + (1 - options.ranked_share) * learned
        write_trained(out / "table.npz", table.float().cpu().numpy(), words)  # one that ends early leaves something
    stored = torch.from_numpy(read_trained(out / "table.npz")[1]).to(options.device)
    log("table as int8", figures(encoder(stored, tokenizer), development))


def _save_teacher(out: Path, teacher: Teacher) -> None:
    """Write the tuned teacher in two files."""
    import numpy

    weights = packed({name: value.float().cpu().numpy() for name, value in teacher.model.state_dict().items()})
    names = sorted(weights, key=lambda name: -weights[name].nbytes)
    for number, part in enumerate((names[:1], names[1:])):
        numpy.savez(out / f"weights{number}.npz", **{name: weights[name] for name in part})
