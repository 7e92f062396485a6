"""A recorded conversation as the updates that a client was sent when it was held, without its warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp.helpers import update_user_message_text

from goalwright.interfaces.acp.updates import Updates, is_for_prompt
from goalwright.runs.stored import records
from goalwright_planner.events import ApprovalGiven, RunFinished, RunResumed, Warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright.runs.conversations.conversation import Conversation
    from goalwright_planner.events import Event


def updates_of(conversation: Conversation) -> Iterator[Any]:
    """All turns in their order: what was asked, the plan as it ended, tool calls and answers; no model is called."""
    for turn in conversation.turns():
        yield update_user_message_text(turn.goal)
        yield from _turn(
            _events(conversation, turn.run_id), Updates(conversation.goalwright.paths.workspace, turn.run_id)
        )


def _turn(events: Iterator[Event], told: Updates) -> Iterator[Any]:
    """A turn, with the answers to its questions; one that was not shown, since the process died, is shown after all."""
    has_ended = False
    for event in events:
        match event:
            case Warned():  # they were about that time
                continue
            case ApprovalGiven(withdrawn=False):
                yield from _answer(event, told)
            case RunFinished() | RunResumed():
                has_ended = isinstance(event, RunFinished)
        yield from told.of(event)
    if not has_ended:
        yield from told.ask()


def _answer(event: ApprovalGiven, told: Updates) -> Iterator[Any]:
    """What a person said to a question."""
    request = told.requests.asked.get(event.call)
    if request is not None and is_for_prompt(request):
        if told.shown != request.id:
            yield from told.ask(request)
        yield update_user_message_text(event.text or event.note or event.decision)


def last_turn(conversation: Conversation, warned: set[str]) -> Updates:
    """Where the updates of the last turn stand, for what continues it; its warnings are added to those `warned` of."""
    told, last = Updates(conversation.goalwright.paths.workspace, warned=warned), conversation.last
    if last is not None:
        told.turn = last.run_id
        for event in _events(conversation, last.run_id):
            told.of(event)
    return told


def _events(conversation: Conversation, run_id: str) -> Iterator[Event]:
    goalwright = conversation.goalwright
    for row in goalwright.journal.store.rows(run_id):
        event = records.event_of(row, goalwright.paths)
        if event is not None:
            yield event
