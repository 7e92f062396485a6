"""Figures of a table on the development goals of one half."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.format import frontmatter

from selection_quality.corpus import pool_of
from training import bundle
from training.examples import short, whole
from training.goals.check import Goal, half
from training.goals.check import read as read_goals
from training.measure import measure
from training.pairs import beginning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.skill import Skill


def development(corpus: Path, which: str) -> dict[str, Any]:
    """The goals of a half for skills of the corpus, its own goals among them, with all its skills."""
    pools = pools_of(corpus)
    bodies = {
        skill.name: beginning(frontmatter.split(frontmatter.decode(read_all(skill.path))).body)
        for pool in pools.values()
        for skill in pool
    }
    goals = [*read_goals(), *single_goals(corpus, pools)]
    chosen = [goal for goal in goals if goal.half == which and (goal.pool == "all" or goal.pool in pools)]
    return bundle.development(chosen, pools, bodies)


def pools_of(corpus: Path) -> dict[str, list[Skill]]:
    """The skills of each collection of a corpus."""
    return {one.name: pool_of(one) for one in sorted((corpus / "skills").iterdir()) if one.is_dir()}


def single_goals(corpus: Path, pools: Mapping[str, Sequence[Skill]]) -> list[Goal]:
    """The corpus's own goals for one skill, as the set `single`; their halves follow from their ids too."""
    names = {pool: {skill.name for skill in skills} for pool, skills in pools.items()}
    rows = [json.loads(line) for line in (corpus / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    return [
        Goal(row["id"], "single", half(row["id"]), row["pool"], row["goal"], (row["expected"],), "en")
        for row in rows
        if row["expected"] in names.get(row["pool"], ())
    ]


def evaluate(table: Table, document: Mapping[str, Any]) -> dict[str, list[float]]:
    """R@1, R@5 and R@30 by set, and the AUROC of the best cosine against everyday goals."""
    import numpy

    def vectors(texts: Sequence[str]) -> Any:
        return numpy.array([table.vector(text) or [0.0] * table.dimensions for text in texts], numpy.float32)

    skills = document["skills"]
    return measure(
        document,
        vectors([short(skill) for skill in skills]),
        vectors([whole(skill) for skill in skills]),
        vectors([goal[3] for goal in document["goals"]]),
    )
