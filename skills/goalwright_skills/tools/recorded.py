"""A tool of which only the record is left: offered as it was, so that a run asks as it did, but not called again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class RecordedTool:
    """The name, description and parameters of a function that a run was offered when it began."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Say that it cannot be called here; in a replay, its results come from the record."""
        what = f"{self.name} was a function where this run began, and is not here — go on without it"
        return failure("NOT_FOUND", what, Context("", dict(arguments)))
