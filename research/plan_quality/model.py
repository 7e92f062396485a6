"""The model that answers both sides: greedy, with the tokens that it used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_planner.model import Message, Reply


class Answering(Protocol):
    """Answers messages; how many at once is its own affair."""

    @property
    def name(self) -> str:
        """The model's name."""

    async def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """The answer; it has the form of the schema, if one is given."""
