"""The goals that weights are learnt from and measured on, and the pools of skills that they choose from.

CORPUS    a folder with `skills/<collection>/…/SKILL.md` and `queries.jsonl`: goals for one skill, and for none
TOOLS     folders in TaskBench's form (`tool_desc.json`, `data.json`, `split_ids.json`): each tool is a skill
CLONES    clones of public repositories, for the goals of further collections
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.query.language import language

from plan_quality.taskbench import skill_name
from selection_quality import corpus
from training.goals.check import Goal
from training.ranking import fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright_skills.skill import Skill

GOALS = Path(__file__).parents[1] / "goals"
EVERYTHING, LIBRARY = "all", "library"
# A collection beside the skills that ship and skills in other languages, each the only one in its own.
WORKSPACE = "workspace"
JOINED = 300
_EVERYDAY = ("everyday-short", "everyday-long", "everyday-bench", "everyday-languages")
_CHOICE = re.compile(r"\b(?:or|vs|versus|which|between)\b", re.IGNORECASE)
_JOINED_FROM = (2, 2, 3, 2, 4, 3)


@dataclass(frozen=True, slots=True)
class Development:
    """All goals, and the pools by name."""

    pools: Mapping[str, Sequence[Skill]]
    goals: Sequence[Goal]

    @classmethod
    def read(cls, folder: Path, tools: Sequence[Path], made: Path, clones: Path | None = None) -> Development:
        """The goals of a corpus, of sets of tools and of further collections; files of skills are written to `made`."""
        read = corpus.Corpus.read(folder)
        pools: dict[str, Sequence[Skill]] = {**read.pools, EVERYTHING: read.everything, LIBRARY: corpus.library()}
        beside = [*corpus.library(), *corpus.pool_of(GOALS / "skills")]
        for name in (*read.pools, EVERYTHING):
            pools[f"{name}+{WORKSPACE}"] = list({one.name: one for one in (*beside, *pools[name])}.values())
        goals = [*_queries(read), *_joined(read), *_written(), *_own(), *_of_library()]
        for tool_folder in tools:
            names = _make_skills(tool_folder, made / tool_folder.name)
            pools[tool_folder.name] = corpus.pool_of(made / tool_folder.name)
            goals += _of_tools(tool_folder, names)
        if clones is not None:
            pools |= fields.pools(clones, made / "fields")
            goals += fields.goals()
        everyday = [goal for goal in goals if goal.set in _EVERYDAY]
        for pool in (*read.pools, LIBRARY, f"{EVERYTHING}+{WORKSPACE}"):  # an everyday goal needs a skill of none
            goals += [
                Goal(f"{goal.id}@{pool}", f"{goal.set}@{pool}", goal.half, pool, goal.goal, ())
                for goal in everyday
                if pool in read.pools or not _may_need_the_library(goal.goal)
            ]
        return cls(pools, goals)


def half_of(name: str) -> str:
    """The half that a goal belongs to, whatever other goals there are."""
    return "tune" if int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 else "report"


def _queries(read: corpus.Corpus) -> Iterator[Goal]:
    for number, goal in enumerate(read.goals):
        name = f"q-{number}"
        kind = "single" if goal.expected else "none"
        yield Goal(name, f"{kind}-{goal.pool}", half_of(name), goal.pool, goal.text, goal.expected)
        if goal.expected and number % 4 == 0:
            yield Goal(f"{name}-all", "single-all", half_of(name), EVERYTHING, goal.text, goal.expected)


def _joined(read: corpus.Corpus) -> Iterator[Goal]:
    """Goals of two to four goals of one pool and one half, joined in four ways; always the same ones."""
    chance = random.Random(11)
    halves = {id(goal): half_of(f"q-{number}") for number, goal in enumerate(read.goals)}
    for number in range(JOINED):
        pool, half = read.asked[number % len(read.asked)], half_of(f"joined-{number}")
        known = [goal for goal in read.labelled(pool) if halves[id(goal)] == half]
        picked: dict[str, str] = {}
        while len(picked) < _JOINED_FROM[number % len(_JOINED_FROM)]:
            goal = chance.choice(known)
            picked.setdefault(goal.expected[0], goal.text.strip().rstrip(".?!"))
        texts = list(picked.values())
        listed = "\n".join(f"{place}. {text}" for place, text in enumerate(texts, 1))
        text = (". ".join(texts) + ".", ", then ".join(texts), " and ".join(texts), listed)[number % 4]
        yield Goal(f"joined-{number}", "joined", half, pool, text, tuple(picked))
        if number % 2 == 0:
            yield Goal(f"joined-{number}-all", "joined-all", half, EVERYTHING, text, tuple(picked))


def _written() -> Iterator[Goal]:
    for number, goal in enumerate(corpus.goals_of(corpus.DATA / "several_skills.jsonl")):
        name = f"several-{number}"
        yield Goal(name, "several-bench", half_of(name), goal.pool, goal.text, goal.expected)
    for number, text in enumerate(corpus.everyday()):
        yield Goal(f"everyday-{number}", "everyday-bench", half_of(f"everyday-{number}"), EVERYTHING, text, ())


def _own() -> Iterator[Goal]:
    for file in sorted(GOALS.glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            kind, expected = row["set"], tuple(row["expected"])
            if kind in ("languages", "only-language"):
                yield from _in_language(row)
                continue
            yield Goal(row["id"], kind, row["half"], row["pool"], row["goal"], expected)
            if kind == "long-several" and row["pool"] != EVERYTHING:
                yield Goal(f"{row['id']}-all", "long-several-all", row["half"], EVERYTHING, row["goal"], expected)


def _in_language(row: Mapping[str, Any]) -> Iterator[Goal]:
    """A goal in another language than English: for its pool, and where one skill beside that is in its language."""
    name, half, text, expected = row["id"], row["half"], row["goal"], tuple(row["expected"])
    if row["pool"] == WORKSPACE:
        yield Goal(name, "only-language", half, f"{EVERYTHING}+{WORKSPACE}", text, expected)
        return
    kind = f"language-{row['language'] if row['language'] in ('zh', 'de') else 'other'}{'' if expected else '-none'}"
    if row["set"] == "languages":
        yield Goal(name, kind, half, row["pool"], text, expected)
    if expected or not _may_need_the_library(text):
        yield Goal(f"{name}+", f"{kind}+{WORKSPACE}", half, f"{row['pool']}+{WORKSPACE}", text, expected)


def _of_library() -> Iterator[Goal]:
    """Goals for the skills that ship, and goals for none of them."""
    library = json.loads((GOALS / "library-goals.json").read_text(encoding="utf-8"))
    for name, texts in library["goals"].items():
        for number, text in enumerate(texts):
            label = f"library-{name}-{number}"
            yield Goal(label, "library", half_of(label), LIBRARY, text, (name,))
    for number, text in enumerate(library["unrelated"]):
        label = f"library-none-{number}"
        yield Goal(label, "library-none", half_of(label), LIBRARY, text, ())


def _may_need_the_library(text: str) -> bool:
    """Whether an everyday goal may be for a skill that ships: those write Chinese and weigh a choice."""
    return language(text) == "Chinese" or _CHOICE.search(text) is not None


def _make_skills(folder: Path, made: Path) -> dict[str, str]:
    """Write each tool as a skill, and give the skills' names by the tools' ids."""
    names: dict[str, str] = {}
    for tool in json.loads((folder / "tool_desc.json").read_text(encoding="utf-8"))["nodes"]:
        names[tool["id"]] = name = skill_name(tool["id"])
        (made / name).mkdir(parents=True, exist_ok=True)
        text = f"---\nname: {name}\ndescription: {json.dumps(tool['desc'])}\n---\n"
        (made / name / "SKILL.md").write_text(text, encoding="utf-8")
    return names


def _of_tools(folder: Path, names: Mapping[str, str]) -> Iterator[Goal]:
    tested = json.loads((folder / "split_ids.json").read_text(encoding="utf-8"))["test_ids"]
    ids = {each for group in tested.values() for each in group}
    for row in map(json.loads, (folder / "data.json").read_text(encoding="utf-8").splitlines()):
        if row["id"] in ids:
            name = f"{folder.name}-{row['id']}"
            expected = tuple(dict.fromkeys(names[node["task"]] for node in row["task_nodes"]))
            yield Goal(name, folder.name, half_of(name), folder.name, row["user_request"].strip(), expected)
