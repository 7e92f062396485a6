"""A recorded conversation as the updates that a client was sent when it was held, without its warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp.helpers import update_user_message_text

from weft.acp.updates import Updates
from weft.runs.stored import records
from weft_planner.events import Warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.runs.conversations.conversation import Conversation
    from weft_planner.events import Event


def updates_of(conversation: Conversation) -> Iterator[Any]:
    """All turns in their order: what was asked, the plan as it ended, tool calls and answers; no model is called."""
    for turn in conversation.turns():
        yield update_user_message_text(turn.goal)
        told = Updates(conversation.weft.paths.workspace, turn.run_id)
        for event in _events(conversation, turn.run_id):
            if not isinstance(event, Warned):  # they were about that time
                yield from told.of(event)


def last_turn(conversation: Conversation, warned: set[str]) -> Updates:
    """Where the updates of the last turn stand, for what continues it; its warnings are added to those `warned` of."""
    told, last = Updates(conversation.weft.paths.workspace, warned=warned), conversation.last
    if last is not None:
        told.turn = last.run_id
        for event in _events(conversation, last.run_id):
            told.of(event)
    return told


def _events(conversation: Conversation, run_id: str) -> Iterator[Event]:
    weft = conversation.weft
    for row in weft.journal.store.rows(run_id):
        event = records.event_of(row, weft.paths)
        if event is not None:
            yield event
