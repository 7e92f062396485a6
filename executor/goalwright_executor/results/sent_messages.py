"""Conversations as they were sent: where today's words differ from the record, they go on from the recorded ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.model import Message, Request, Role

_Messages = tuple["Message", ...]


@dataclass(slots=True)
class SentMessages:
    """What was sent in place of today's messages, by role and task."""

    _recorded: dict[tuple[Role, str | None], tuple[_Messages, _Messages]] = field(default_factory=dict)

    def note(self, request: Request, recorded: _Messages) -> None:
        """Let a conversation that begins with this request go on from the recorded messages."""
        self._recorded[request.role, request.task] = request.messages, recorded

    def as_sent(self, request: Request) -> Request:
        """The request with the messages that were sent before it as they are on record."""
        begun = self._recorded.get((request.role, request.task))
        if begun is None:
            return request
        today, recorded = begun
        if request.messages[: len(today)] != today:
            return request
        return replace(request, messages=(*recorded, *request.messages[len(today) :]))
