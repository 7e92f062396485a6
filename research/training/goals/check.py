"""Check the development goals against a corpus of skills: `python -m training.goals.check CORPUS`."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selection_quality.corpus import library, pool_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FOLDER = Path(__file__).parent
HALVES = ("tune", "report")
ENDINGS = ("ing", "ion", "es", "ed", "er", "s")
# Fewest and most words of a goal, and fewest goals, of each set.
SHAPES = {
    "other-words": (3, 130, 240),
    "long-several": (60, 250, 80),
    "everyday-short": (2, 30, 120),
    "everyday-long": (30, 120, 120),
    "near-none": (5, 90, 60),
    "nested": (5, 90, 60),
    "named": (3, 90, 40),
    "languages": (0, 120, 180),
    "everyday-languages": (0, 120, 120),
    "only-language": (0, 60, 48),
}
# Two goals of one set that share more of their words than this are one goal written twice.
ALIKE = 0.6
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also am an and any anything are as at be because been before being both but by can cannot
        could did do does doing don done down during each either else even every for from get gets go goes going got
        had has have having he her here him his how i if in instead into is it its just let like ll make makes making
        may me might more most much must my need needs never no none not now of off on once one only or other our out
        over please re s shall she should since so some someone something t than that the their them then there these
        they this those through to too two under until up us use used using ve very via want wants was we were what
        when where whether which while who whom whose why will with within without would yet you your
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Goal:
    """A line of a file of goals."""

    id: str
    set: str
    half: str
    pool: str
    goal: str
    expected: tuple[str, ...]
    language: str = "en"

    @property
    def words(self) -> list[str]:
        """The goal's words, as they stand."""
        return re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", self.goal)


def read(folder: Path = FOLDER) -> list[Goal]:
    """The goals of all files of a folder."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.jsonl"))]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    return [Goal(**{**row, "expected": tuple(row["expected"])}) for row in rows]


def half(identifier: str) -> str:
    """The half that a goal belongs to, always the same for its id."""
    return HALVES[hashlib.sha256(identifier.encode()).digest()[0] % 2]


def stem(word: str) -> str:
    """A word without its last endings and a silent e."""
    for _ in range(2):
        for ending in ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)]
                break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def content(text: str) -> set[str]:
    """The stems of a text's words, without stop words, numbers and single letters."""
    found = re.findall(r"[^\W_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    whole = re.findall(r"[^\W_]+", text.lower())
    return {stem(word) for word in (*found, *whole) if len(word) > 1 and word not in STOP_WORDS and not word.isdigit()}


def problems(goals: Sequence[Goal], pools: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Everything that is wrong; `pools` gives the description of each skill by pool and name."""
    yield from _repeated(goals)
    for goal in goals:
        yield from (f"{goal.id}: {fault}" for fault in _faults(goal, pools.get(goal.pool)))
    for name, (_, _, fewest) in SHAPES.items():
        if (count := sum(goal.set == name for goal in goals)) < fewest:
            yield f"{name}: {count} goals, at least {fewest} are needed"


def _faults(goal: Goal, pool: Mapping[str, str] | None) -> Iterator[str]:
    if goal.half != half(goal.id):
        yield f"is in half {goal.half!r}, its id says {half(goal.id)!r}"
    if pool is None:
        yield f"pool {goal.pool!r} is not in the corpus"
        return
    for name in goal.expected:
        if name not in pool:
            yield f"skill {name!r} is not in pool {goal.pool!r}"
        elif goal.set == "other-words" and (shared := content(goal.goal) & content(f"{name} {pool[name]}")):
            yield f"shares {', '.join(sorted(shared))} with {name}"
    fewest, most, _ = SHAPES[goal.set]
    if not fewest <= len(goal.words) <= most:
        yield f"has {len(goal.words)} words, {goal.set} has {fewest} to {most}"
    if goal.set == "long-several" and not 2 <= len(goal.expected) <= 6:
        yield f"expects {len(goal.expected)} skills, 2 to 6 are needed"


def _repeated(goals: Sequence[Goal]) -> Iterator[str]:
    for identifier, count in Counter(goal.id for goal in goals).items():
        if count > 1:
            yield f"{identifier}: {count} goals have this id"
    seen: dict[tuple[str, str], list[tuple[Goal, set[str]]]] = {}
    for goal in goals:
        words = content(goal.goal)
        group = seen.setdefault((goal.set, goal.language), [])
        for other, others in group:
            if words and len(words & others) > ALIKE * len(words | others):
                yield f"{goal.id}: nearly the same as {other.id}"
        group.append((goal, words))


def descriptions(corpus: Path) -> dict[str, dict[str, str]]:
    """Descriptions by pool and name, with those of "all" skills and of what a "workspace" has beside them."""
    folders = [one for one in sorted((corpus / "skills").iterdir()) if one.is_dir()]
    pools = {one.name: {skill.name: skill.description for skill in pool_of(one)} for one in folders}
    beside = {skill.name: skill.description for skill in (*library(), *pool_of(FOLDER / "skills"))}
    return {**pools, "all": {name: text for pool in pools.values() for name, text in pool.items()}, "workspace": beside}


def counts(goals: Iterable[Goal]) -> Iterator[str]:
    """A line for each set: goals by half, and how many different skills they expect."""
    by_set: dict[str, list[Goal]] = {}
    for goal in goals:
        by_set.setdefault(goal.set, []).append(goal)
    for name, group in by_set.items():
        halves = ", ".join(f"{one} {sum(goal.half == one for goal in group)}" for one in HALVES)
        skills = {skill for goal in group for skill in goal.expected}
        yield f"{name:<15} {len(group):>4} goals ({halves}), {len(skills)} skills"


def main() -> int:
    """Print the counts and what is wrong; 1 where something is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help="folder with skills/<collection>/…/SKILL.md")
    goals, pools = read(), descriptions(parser.parse_args().corpus)
    sys.stdout.writelines(f"{line}\n" for line in counts(goals))
    found = list(problems(goals, pools))
    sys.stdout.writelines(f"{line}\n" for line in found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
