"""The port of the models that answer both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_planner.model import Message, Reply


class Answering(Protocol):
    """Answers messages, possibly in batches."""

    @property
    def name(self) -> str:
        """The model's name."""

    async def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """Return an answer that follows the schema, if given."""
