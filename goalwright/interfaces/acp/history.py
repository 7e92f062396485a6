"""Converts a recorded conversation to session updates, without warnings."""

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
    """Yield the updates of all turns in order: prompts, final plans, tool calls and answers."""
    for turn in conversation.turns():
        yield update_user_message_text(turn.goal)
        yield from _turn_updates(
            _events(conversation, turn.run_id), Updates(conversation.goalwright.paths.workspace, turn.run_id)
        )


def _turn_updates(events: Iterator[Event], updates: Updates) -> Iterator[Any]:
    """Yield the updates of a turn and the answers to its questions; a question that was lost in a crash is added."""
    has_ended = False
    for event in events:
        match event:
            case Warned():  # no longer relevant
                continue
            case ApprovalGiven(withdrawn=False):
                yield from _answer(event, updates)
            case RunFinished() | RunResumed():
                has_ended = isinstance(event, RunFinished)
        yield from updates.of(event)
    if not has_ended:
        yield from updates.ask()


def _answer(event: ApprovalGiven, updates: Updates) -> Iterator[Any]:
    """Yield a question, if it was not shown yet, and the person's answer."""
    request = updates.requests.asked.get(event.call)
    if request is not None and is_for_prompt(request):
        if updates.shown != request.id:
            yield from updates.ask(request)
        yield update_user_message_text(event.text or event.note or event.decision)


def last_turn(conversation: Conversation, warned: set[str]) -> Updates:
    """Return the state of the updates after the last turn, to continue it; its warnings are added to `warned`."""
    updates, last = Updates(conversation.goalwright.paths.workspace, warned=warned), conversation.last
    if last is not None:
        updates.turn = last.run_id
        for event in _events(conversation, last.run_id):
            updates.of(event)
    return updates


def _events(conversation: Conversation, run_id: str) -> Iterator[Event]:
    goalwright = conversation.goalwright
    for row in goalwright.journal.store.rows(run_id):
        event = records.event_of(row, goalwright.paths)
        if event is not None:
            yield event
