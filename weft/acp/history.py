"""A recorded conversation as the updates that a client was sent when it was held; no model is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp.helpers import update_user_message_text

from weft.acp.updates import Updates
from weft.runs.stored import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.runs.conversations.conversation import Conversation


def updates_of(conversation: Conversation) -> Iterator[Any]:
    """All turns in their order: what was asked, the plan as it ended, tool calls and answers."""
    weft = conversation.weft
    for turn in conversation.turns():
        yield update_user_message_text(turn.goal)
        told = Updates(weft.paths.workspace, turn.run_id)
        for row in weft.journal.store.rows(turn.run_id):
            event = records.event_of(row, weft.paths)
            if event is not None:
                yield from told.of(event)
