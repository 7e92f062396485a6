"""What a plan may use, and the limits that it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Known:
    """The skills and tools that a plan may use, and its limits.

    - `tools`: the JSON schema of the parameters of each tool.
    - `max_grown`: the number of tasks that may join a running plan. `max_depth`: the nesting of sub-goals.
    - `models`: the names by which a task may choose a model.
    - `quoted`: texts such as the goal; a reference that a plan quotes from them stays text.
    - `absent`: other tools, and why they cannot be used here. `unusable`: the same for other skills.
    - `earlier`: references to tasks of earlier turns of the conversation.
    - `direct`: whether an answer may replace the plan.
    """

    skills: Sequence[str] = ()
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    max_tasks: int = 100
    max_grown: int = 1_000
    max_depth: int = 2
    models: Sequence[str] = ()
    quoted: Sequence[str] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    earlier: Collection[str] = ()
    direct: bool = False
    unusable: Mapping[str, str] = field(default_factory=dict)

    def quotes(self, text: str) -> bool:
        """Whether a text occurs in one of the quoted texts."""
        return any(text in quoted for quoted in self.quoted)
