"""Pools of skills and goals: those of a corpus, larger ones made from them, and goals joined from several."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.discovery.locations import LIBRARY, Location
from goalwright_skills.discovery.scan import scan
from goalwright_skills.discovery.skill_file import context, read_all
from goalwright_skills.format import frontmatter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.skill import Skill

DATA = Path(__file__).parent / "data"
JOINED = 50
# How many characters of a body a neighbour has.
BODY = 2_000


@dataclass(frozen=True, slots=True)
class LabelledGoal:
    """A goal, the pool whose skills are its candidates, and the skills that it should select."""

    pool: str
    text: str
    expected: tuple[str, ...]
    keywords: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pools by name, and their goals."""

    pools: Mapping[str, list[Skill]]
    goals: Sequence[LabelledGoal]

    @classmethod
    def read(cls, folder: Path) -> Corpus:
        """The corpus in a folder."""
        pools = {one.name: pool_of(one) for one in sorted((folder / "skills").iterdir()) if one.is_dir()}
        return cls(pools, goals_of(folder / "queries.jsonl"))

    def labelled(self, pool: str) -> list[LabelledGoal]:
        """The goals of a pool that need a skill."""
        return [goal for goal in self.goals if goal.pool == pool and goal.expected]

    @property
    def asked(self) -> list[str]:
        """The pools that have goals."""
        return sorted({goal.pool for goal in self.goals})

    @property
    def everything(self) -> list[Skill]:
        """The skills of all pools, one for each name."""
        return list({skill.name: skill for pool in self.pools.values() for skill in pool}.values())

    def large(self, size: int, more: Sequence[Skill], folder: Path | None = None) -> list[Skill]:
        """A pool of that size: the skills of the pools that have goals, then others, then mixtures of those.

        With a folder, mixtures are files of their own there.
        """
        asked = {skill.name: skill for name in self.asked for skill in self.pools[name]}
        others = {skill.name: skill for skill in (*self.everything, *more) if skill.name not in asked}
        random.Random(1).shuffle(filling := list(others.values()))
        found = [*asked.values(), *filling][:size]
        missing = max(0, size - len(found))
        return [*found, *(neighbours(filling, missing, folder) if folder is not None else mixtures(filling, missing))]


def pool_of(folder: Path) -> list[Skill]:
    """The skills of one pool, one for each name."""
    place = Location(folder, "project")
    found = [skill for file in scan([place], ["SKILL.md"]).files for skill in context(file, place).skills]
    return list({skill.name: skill for skill in found if skill.state == "active"}.values())


def library() -> list[Skill]:
    """The skills that ship."""
    return [replace(skill, source="bundled") for skill in pool_of(LIBRARY)]


def goals_of(file: Path) -> list[LabelledGoal]:
    """The goals of a file."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        LabelledGoal(
            row["pool"],
            row["goal"],
            tuple([row["expected"]] if isinstance(row["expected"], str) else row["expected"] or ()),
            row.get("keywords", ""),
            row.get("language", ""),
        )
        for row in rows
    ]


def everyday() -> list[str]:
    """Goals that no skill is for."""
    return (DATA / "everyday.txt").read_text(encoding="utf-8").splitlines()


def mixtures(skills: Sequence[Skill], count: int) -> list[Skill]:
    """Skills that each have one's body, half of its description and half of another's; always the same ones."""
    chance = random.Random(2)
    found = []
    for number in range(count):
        one, other = chance.sample(skills, 2)
        words, more = one.description.split(), other.description.split()
        description = " ".join([*words[: len(words) // 2], *more[len(more) // 2 :]])
        name = f"{one.name[:24]}-{other.name[:24]}-{number}"
        found.append(replace(one, name=name, description=description, stamp=number + 1))
    return found


def neighbours(skills: Sequence[Skill], count: int, folder: Path) -> list[Skill]:
    """Mixtures as files of their own, with the beginning of one's body; those that are there are not written again."""
    found = []
    for one in mixtures(skills, count):
        path = folder / one.name / "SKILL.md"
        if not path.exists():
            body = frontmatter.split(frontmatter.decode(read_all(one.path))).body[:BODY]
            path.parent.mkdir(parents=True)
            text = f"---\nname: {one.name}\ndescription: {json.dumps(one.description)}\n---\n{body}\n"
            path.write_text(text, encoding="utf-8")
        found.append(replace(one, file=str(path)))
    return found


def joined(corpus: Corpus) -> list[LabelledGoal]:
    """Goals of two or three goals of one pool, joined in three ways; always the same ones."""
    chance = random.Random(7)
    found = []
    for number in range(JOINED):
        pool = corpus.asked[number % len(corpus.asked)]
        picked: dict[str, LabelledGoal] = {}
        while len(picked) < (3 if number % 5 in (2, 4) else 2):
            goal = chance.choice(corpus.labelled(pool))
            picked.setdefault(goal.expected[0], goal)
        texts = [goal.text.strip().rstrip(".?!") for goal in picked.values()]
        text = (". ".join(texts) + ".", ", then ".join(texts), " and ".join(texts))[number % 3]
        found.append(LabelledGoal(pool, text, tuple(picked)))
    return found
