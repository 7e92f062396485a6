"""Train the encoder that selects skills, from public repositories to the file in the wheel.

git clone --bare https://github.com/OWNER/NAME CLONES/OWNER+NAME     for each line of training/repositories.tsv
python -m training extract CLONES skills.jsonl --names N --shingles S --corpus CORPUS
python -m training bundle CLONES skills.jsonl bundle.xz --vocabulary vocab.txt --corpus CORPUS
python -m training write bundle.xz MODEL.gguf requests.json          on an accelerator, about eight minutes
python -m training train bundle.xz MINILM OUT --requests requests.json      likewise, longer
python -m training average OUT/table.npz EARLIER.bin bundle.xz mean.npz
python -m training export mean.npz bundle.xz encoder.bin
python -m training refine encoder.bin bundle.xz refined.npz          on an accelerator, about three minutes
python -m training export refined.npz bundle.xz encoder.bin
python -m training evaluate encoder.bin --corpus CORPUS --half tune
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

NAME = "goalwright-static-1"


def main() -> int:
    """Run one step."""
    parser = argparse.ArgumentParser(
        "python -m training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(required=True, metavar="STEP")
    extract = steps.add_parser("extract", help="skills to train on, without those that are kept back")
    extract.add_argument("clones", type=Path)
    extract.add_argument("out", type=Path)
    extract.add_argument("--names", type=Path, required=True, help="digests of names that are kept back")
    extract.add_argument("--shingles", type=Path, required=True, help="digests of runs of words that are kept back")
    extract.add_argument(
        "--corpus", type=Path, required=True, help="the corpus of the development goals, kept back too"
    )
    extract.set_defaults(run=_extract)
    bundle = steps.add_parser("bundle", help="everything that training reads, in one file")
    bundle.add_argument("clones", type=Path)
    bundle.add_argument("skills", type=Path)
    bundle.add_argument("out", type=Path)
    bundle.add_argument("--vocabulary", type=Path, required=True, help="vocab.txt of all-MiniLM-L6-v2")
    bundle.add_argument("--corpus", type=Path, required=True)
    bundle.set_defaults(run=_bundle)
    write = steps.add_parser(
        "write", help="have a language model write requests for the skills and everyday messages, and translate some"
    )
    write.add_argument("bundle", type=Path)
    write.add_argument("gguf", type=Path, help="a model that follows instructions, such as Qwen2.5-Coder-1.5B")
    write.add_argument("out", type=Path)
    write.set_defaults(run=_write)
    train = steps.add_parser("train", help="tune the teacher, train a table")
    train.add_argument("bundle", type=Path)
    train.add_argument(
        "teacher",
        type=Path,
        help="folder with model.safetensors and tokenizer.json of a BERT, such as all-MiniLM-L6-v2",
    )
    train.add_argument("out", type=Path)
    train.add_argument("--requests", type=Path, help="what `write` wrote")
    train.set_defaults(run=_train)
    average = steps.add_parser("average", help="the mean of a trained table and an earlier one")
    average.add_argument("table", type=Path)
    average.add_argument("earlier", type=Path)
    average.add_argument("bundle", type=Path)
    average.add_argument("out", type=Path)
    average.set_defaults(run=_average)
    refine = steps.add_parser("refine", help="train a table further with the requests of `training/written`")
    refine.add_argument("earlier", type=Path)
    refine.add_argument("bundle", type=Path)
    refine.add_argument("out", type=Path)
    refine.set_defaults(run=_refine)
    export = steps.add_parser("export", help="the file in the wheel")
    export.add_argument("table", type=Path)
    export.add_argument("bundle", type=Path)
    export.add_argument("out", type=Path)
    export.add_argument("--requests", type=Path, help="what `write` wrote, to tell everyday talk by")
    export.add_argument("--dimensions", type=int, default=128)
    export.set_defaults(run=_export)
    evaluate = steps.add_parser("evaluate", help="figures on the development goals")
    evaluate.add_argument("table", type=Path)
    evaluate.add_argument("--corpus", type=Path, required=True)
    evaluate.add_argument("--half", choices=("tune", "report"), default="tune")
    evaluate.set_defaults(run=_evaluate)
    arguments = parser.parse_args()
    arguments.run(arguments)
    return 0


def _extract(arguments: argparse.Namespace) -> None:
    from training.evaluate import pools_of
    from training.exclusion import Exclusion
    from training.extract import extract

    pools = pools_of(arguments.corpus)
    exclusion = Exclusion.read(arguments.names, arguments.shingles).with_skills(
        (skill.name, skill.description) for pool in pools.values() for skill in pool
    )
    for reason, count in extract(arguments.clones, exclusion, arguments.out).most_common():
        sys.stdout.write(f"{count:>7} {reason}\n")


def _bundle(arguments: argparse.Namespace) -> None:
    from training import bundle, extract
    from training.evaluate import development
    from training.translations import everyday, translations

    document = bundle.bundle(
        extract.read(arguments.skills),
        list(translations(arguments.clones)),
        list(dict.fromkeys(everyday(arguments.clones))),
        arguments.vocabulary.read_text(encoding="utf-8").split("\n"),
        development(arguments.corpus, "tune"),
    )
    bundle.write(arguments.out, document)
    sys.stdout.write(f"{document['counts']}\n")


def _train(arguments: argparse.Namespace) -> None:
    from training.learning.options import Options
    from training.learning.train import train

    arguments.out.mkdir(parents=True, exist_ok=True)
    train(arguments.bundle, arguments.teacher, arguments.out, Options(), arguments.requests)


def _write(arguments: argparse.Namespace) -> None:
    from training.learning import writing

    writing.write(arguments.bundle, *writing.load(arguments.gguf), arguments.out)


def _average(arguments: argparse.Namespace) -> None:
    from training import bundle
    from training.average import average

    near = average(arguments.table, arguments.earlier, bundle.read(arguments.bundle), arguments.out)
    sys.stdout.write(f"mean cosine {near:.3f}\n")


def _refine(arguments: argparse.Namespace) -> None:
    from training.learning.refining import Refining, refine

    refine(arguments.earlier, arguments.bundle, arguments.out, Refining())


def _export(arguments: argparse.Namespace) -> None:
    from training import bundle
    from training.export import export

    document = bundle.read(arguments.bundle)
    if arguments.requests:
        document = bundle.with_written(document, json.loads(arguments.requests.read_text(encoding="utf-8")))
    export(arguments.table, document, arguments.out, NAME, arguments.dimensions)


def _evaluate(arguments: argparse.Namespace) -> None:
    from goalwright_skills.selection.encoder import Table

    from training.evaluate import development, evaluate

    for name, values in evaluate(Table.open(arguments.table), development(arguments.corpus, arguments.half)).items():
        sys.stdout.write(f"{name:<18} {'  '.join(f'{value:.3f}' for value in values)}\n")


if __name__ == "__main__":
    sys.exit(main())
