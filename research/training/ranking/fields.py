"""Goals of further collections, most of them in a field that no skill is for: those of `training/goals/fields`.

The skills are read from clones of public repositories. All goals are of the half `tune`: the encoder has seen these
skills.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from selection_quality.corpus import pool_of
from training.goals.check import Goal
from training.repositories import files

if TYPE_CHECKING:
    from goalwright_skills.skill import Skill

FOLDER = Path(__file__).parents[1] / "goals" / "fields"


def pools(clones: Path, made: Path) -> dict[str, list[Skill]]:
    """The skills of each collection; their files are written to `made`."""
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    with (FOLDER / "skills.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            wanted[row["repository"]][row["path"]] = row["pool"]
    for repository, paths in wanted.items():
        for number, found in enumerate(files(clones, repository, paths.__contains__)):
            folder = made / paths[found.path] / f"{repository.replace('/', '+')}-{number}"
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(found.text, encoding="utf-8")
    return {folder.name: pool_of(folder) for folder in sorted(made.iterdir())}


def goals() -> list[Goal]:
    """The goals of all collections."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.jsonl"))]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    return [Goal(row["id"], row["set"], "tune", row["pool"], row["goal"], tuple(row["expected"])) for row in rows]
