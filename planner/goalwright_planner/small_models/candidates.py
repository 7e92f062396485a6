"""What a small model is shown to plan with: described skills, tools with their parameters, and examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from goalwright_planner.reading.shape import offered_arguments
from goalwright_planner.small_models.material import Material, material_of
from goalwright_planner.small_models.parts import parts_of
from goalwright_skills.discovery.listing import descriptions_of, lines_of
from goalwright_skills.selection.query.terms import terms
from goalwright_skills.text.formatting import cut
from goalwright_skills.tools.listing import LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.prompting.profile import PlanExample, Profile

# Length of a candidate's description: a small model reads every one.
_DESCRIPTION_LENGTH = 80
# Length of the list of a tool's arguments.
_ARGUMENTS_LENGTH = 500


@dataclass(frozen=True)
class Candidates:
    """The skills and tools that a model chooses from; full-size models are shown the selected skills only.

    `selected` and `certain` name skills, `called` names tools; `parameters` has the JSON schema of each known tool.
    """

    goal: str
    selected: tuple[str, ...]
    certain: tuple[str, ...]
    called: tuple[str, ...]
    skill_listing: str
    tool_listing: str
    parameters: Mapping[str, Mapping[str, Any]]
    profile: Profile

    @cached_property
    def functions(self) -> bool:
        """Whether the skills are single functions, several of which one sentence may need in sequence.

        A short description says everything about such a skill.
        """
        if not self.selected:
            return False
        descriptions = descriptions_of(self.skill_listing, self.profile.candidates or 0).values()
        return bool(descriptions) and median(map(len, descriptions)) <= _DESCRIPTION_LENGTH

    @cached_property
    def lines(self) -> dict[str, str]:
        """A description of each skill to choose from; empty where none is selected, or all are certain.

        Certain functions may need other functions. A function whose name describes it has an empty description.
        """
        most = self.profile.candidates
        if most is None or not (self.functions or set(self.selected).difference(self.certain)):
            return {}
        if not self.functions:
            return lines_of(self.skill_listing, most, _DESCRIPTION_LENGTH)
        lines = lines_of(self.skill_listing, self.profile.function_candidates or most, _DESCRIPTION_LENGTH)
        return {name: "" if _name_describes(name, line) else line for name, line in lines.items()}

    @cached_property
    def skills(self) -> tuple[str, ...]:
        """The skills that the model is shown: those to choose from, or else the selected ones."""
        return tuple(self.lines) or self.selected[: self.profile.skills_shown]

    @cached_property
    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The tools that the model may call, with the JSON schema of their parameters."""
        return {name: self.parameters[name] for name in self.called}

    @property
    def tool_lines(self) -> tuple[str, ...]:
        """The name, parameters and description of each tool that the model may call."""
        descriptions = descriptions_of(self.tool_listing, LIMIT)
        return tuple(
            f"{name}({cut(', '.join(offered_arguments(schema)), _ARGUMENTS_LENGTH)}): "
            f"{cut(descriptions.get(name, ''), _DESCRIPTION_LENGTH)}"
            for name, schema in self.tools.items()
        )

    @property
    def material(self) -> Material | None:
        """The kind of material in the goal, if there are neither skills nor tools to choose from."""
        return material_of(self.goal) if not self.skills and not self.called else None

    @property
    def examples(self) -> tuple[PlanExample, ...]:
        """The profile's examples that resemble this goal.

        Goals with tools get examples of calls, goals with material examples with such material, and goals that ask
        functions for one thing get examples of chains.
        """
        examples = self.profile.examples
        if self.called:
            return tuple(example for example in examples if example.tool_lines)
        similar = tuple(example for example in examples if example.material and example.material == self.material)
        if similar:
            return similar
        chained = self.functions and parts_of(self.goal).simple
        plain = (example for example in examples if not example.tool_lines and not example.material)
        return tuple(example for example in plain if bool(example.lines) == chained)


def _name_describes(name: str, line: str) -> bool:
    """Whether a function's name has several words, and shares one with its description."""
    words = name.replace("_", "-").split("-")
    return len(words) > 1 and not set(terms(" ".join(words))).isdisjoint(terms(line))
