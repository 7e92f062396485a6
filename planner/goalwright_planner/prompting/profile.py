"""Profiles: how to work with a kind of model, from prompts and the shape of plans to limits and sampling.

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

    `lines` describe its skills, `tool_lines` its tools; `material` is the kind of material in its goal, if any.
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

    - `agents` maps roles to agents of `seed/agents.yaml`.
    - `sampling` has each role's parameters for any provider, `server` the parameters of llama.cpp's server, and
      `providers` the parameters of one provider.
    - No model is asked to plan a goal that is one thing (`simple_by_rule`), whose parts are certain
      (`certain_by_rule`), or that lists parts (`parts_by_rule`). With `whole_goal`, lost parts are put back.
    - `joins_results` joins results without the model, which would only copy them.
    - `system_above_skill` puts the system prompt of all tasks above a skill's instructions.
    - In doubt, a model that plans chooses among `candidates` described skills, or `function_candidates` if the skills
      are single functions, and among `tool_candidates` tools if tools fit the goal.
    - Without `tools`, tasks call none; prompts hold up to `file_tokens` of the given files, and up to `file_parts`
      parts of longer files are read one by one.
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
        """Return the agent of `seed/agents.yaml` for a role; a `reader` reads files for models without tools."""
        return self.agents.get(role, role)


FULL = Profile()


@cache
def profiles() -> Mapping[str, Profile]:
    """Return the profiles by name."""
    rows = _document()["profiles"]
    shipped = {name: _profile(name, rows.get(row.get("like"), {}) | row) for name, row in rows.items()}
    return {FULL.name: FULL, **shipped}


def profile_of(model: str) -> Profile:
    """Return the profile of a model on another server, by its provider and the size in its name."""
    rule = _document()["by_size"]
    provider, _, name = model.lower().partition("/")
    size = _size(name)
    small = provider in rule["providers"] and size is not None and size <= rule["largest"]
    return fitting(rule["profile"], name) if small else FULL


def fitting(profile: str, model: str) -> Profile:
    """Return the profile of that name, or the one for models of this size that plan well."""
    rule = _document().get("planners", {})
    size = _size(model.lower())
    plans = profile in rule and size is not None and size >= rule[profile]["smallest"]
    return profiles()[rule[profile]["profile"] if plans else profile]


def _size(name: str) -> float | None:
    """Return the size in a model's name, in billions of parameters."""
    sizes = [float(number) / (1000 if unit == "m" else 1) for number, unit in _SIZE.findall(name)]
    return sizes[-1] if sizes else None


@cache
def _document() -> Any:
    return safe_yaml.load_own((SEED / "profiles.yaml").read_text(encoding="utf-8"))


def _profile(name: str, row: Mapping[str, Any]) -> Profile:
    examples = tuple(_example(example) for example in row.get("examples", ()))
    fields = {key: value for key, value in row.items() if key not in ("examples", "shape", "like")}
    return Profile(name=name, shape=SHAPES[row["shape"]], examples=examples, **fields)


def _example(row: Mapping[str, Any]) -> PlanExample:
    lists = {key: tuple(row.get(key, ())) for key in ("names", "tool_lines")}
    return PlanExample(**{**row, **lists})
