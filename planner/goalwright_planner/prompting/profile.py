"""Profiles: how to work with a kind of model, from its prompts and the shape of its plans to limits and sampling.

Profiles are data in `seed/profiles.yaml`, whose keys are the fields of `Profile`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from goalwright_planner.prompting.prompts import SEED
from goalwright_planner.reading.shape import SHAPES, PlanShape
from goalwright_skills.format import safe_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.model import Role

# A model's name often ends in its size: qwen3:4b, gemma3:270m, llama3.2:1b-instruct.
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")


@dataclass(frozen=True, slots=True)
class PlanExample:
    """A goal and its plan, shown to the model as an earlier turn of the conversation.

    `lines` describe its skills, `tool_lines` its tools; `material` names what its goal brings along, if anything.
    """

    goal: str
    names: tuple[str, ...]
    plan: str
    lines: Mapping[str, str] = field(default_factory=dict)
    tool_lines: tuple[str, ...] = ()
    material: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """How to work with a kind of model; the defaults are for models that need no help.

    `agents` maps roles to agents of `seed/agents.yaml`. `sampling` has each role's parameters for any provider,
    `server` those that only llama.cpp's server accepts, `providers` those of one provider. A goal that is one thing
    (`simple_by_rule`), whose words leave no doubt about its parts (`certain_by_rule`), or that lists them
    (`parts_by_rule`) is planned without the model; what its plans lose of a goal is put back (`whole_goal`). Results
    that the model would only copy into the answer are joined without it (`joins_results`). What all tasks are told
    stands above a skill's instructions too (`system_above_skill`). Where the selection is in doubt, a model that plans
    chooses among so many `candidates`, and is shown a line of each; of skills that are single functions, among so many
    `function_candidates`. Where tools fit the goal, it chooses among so many `tool_candidates`. Without `tools`, its
    tasks call none, prompts hold up to `file_tokens` of the given files, and up to `file_parts` parts of them are read
    one by one.
    """

    name: str = "full"
    agents: Mapping[str, str] = field(default_factory=dict)
    shape: PlanShape = SHAPES["full"]
    most_tasks: int | None = None
    skills_shown: int | None = None
    candidates: int | None = None
    function_candidates: int | None = None
    tool_candidates: int | None = None
    prompt_tokens: int | None = None
    skill_characters: int | None = None
    tools: bool = True
    continuations: int = 3
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    server: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    examples: tuple[PlanExample, ...] = ()
    simple_by_rule: bool = False
    certain_by_rule: bool = False
    parts_by_rule: bool = False
    whole_goal: bool = False
    joins_results: bool = False
    system_above_skill: bool = False
    file_tokens: int = 0
    file_parts: int = 0

    def agent(self, role: Role | Literal["reader"]) -> str:
        """The agent of `seed/agents.yaml` that fills a role; a `reader` reads files for models without tools."""
        return self.agents.get(role, role)


FULL = Profile()


def profiles() -> Mapping[str, Profile]:
    """The profiles by name, as a run of these rules has them."""
    return _profiles()


@cache
def _profiles() -> Mapping[str, Profile]:
    rows = _document()["profiles"]
    shipped = {name: _profile(name, rows.get(row.get("like"), {}) | row) for name, row in rows.items()}
    return {FULL.name: FULL, **shipped}


def profile_of(model: str) -> Profile:
    """The profile of a model on another server, by its provider and the size in its name."""
    rule = _document()["by_size"]
    provider, _, name = model.lower().partition("/")
    size = _size(name)
    small = provider in rule["providers"] and size is not None and size <= rule["largest"]
    return fitting(rule["profile"], name) if small else FULL


def fitting(profile: str, model: str) -> Profile:
    """The profile of that name, or the one for models of this size that plan well."""
    rule = _document().get("planners", {})
    size = _size(model.lower())
    plans = profile in rule and size is not None and size >= rule[profile]["smallest"]
    return profiles()[rule[profile]["profile"] if plans else profile]


def _size(name: str) -> float | None:
    """The size in a model's name, in billions of parameters."""
    sizes = [float(number) / (1000 if unit == "m" else 1) for number, unit in _SIZE.findall(name)]
    return sizes[-1] if sizes else None


@cache
def _document() -> Any:
    return safe_yaml.load_own((SEED / "profiles.yaml").read_text(encoding="utf-8"))


def _profile(name: str, row: Mapping[str, Any]) -> Profile:
    examples = tuple(_example(example) for example in row.get("examples", ()))
    rest = {key: value for key, value in row.items() if key not in ("examples", "shape", "like")}
    return Profile(name=name, shape=SHAPES[row["shape"]], examples=examples, **rest)


def _example(row: Mapping[str, Any]) -> PlanExample:
    lists = {key: tuple(row.get(key, ())) for key in ("names", "tool_lines")}
    return PlanExample(**{**row, **lists})
