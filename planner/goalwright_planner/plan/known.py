"""What a plan may use, and the limits that it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Known:
    """What a plan may use: skills, tools with the JSON schema of their parameters, and at most `max_tasks` tasks.

    While it runs it may grow by `max_grown` tasks in all, with sub-goals `max_depth` deep. `models` are the names by
    which tasks may choose one. What a plan quotes from `quoted` texts, such as the goal, refers to nothing. `absent`
    says of further tools why they cannot be used here, `unusable` what is the matter with further skills. `earlier`
    are tasks of earlier turns of the conversation that have a result, as they are referred to. Where `direct`, there
    may be an answer instead of a plan.
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
        """Whether a text stands in what may be quoted."""
        return any(text in quoted for quoted in self.quoted)
