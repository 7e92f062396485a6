"""Conversations: the list, one with its turns, starting a turn, and undoing the last one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies, shapes
from goalwright.interfaces.web.replies import in_thread, json_reply
from goalwright.runs.conversations.stored_turns import StoredTurns
from goalwright.runs.run_id import new_run_id
from goalwright.runs.stored import records
from goalwright_executor.stores.errors import UnknownRun

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stop import Stop
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import ConversationSummary, RunSummary
    from goalwright_planner.events import Record

# Longer answers are cut; the page of the run has them whole.
LONGEST_ANSWER = 100_000
_TURN_KEYS = ("goal", "files", "skills", "answers", "plan", "settings")


@in_thread
def list_conversations(site: Site, request: Request) -> dict[str, Any]:
    """Return the conversations, latest turn first; `more` is whether there are others."""
    most = max(1, bodies.number(request, "most", 50, bodies.PAGE))
    store = site.store()
    rows = list(store.conversations(most + 1)) if store is not None else []
    return {"conversations": [_local(site, row).to_dict() for row in rows[:most]], "more": len(rows) > most}


@in_thread
def show_conversation(site: Site, request: Request) -> dict[str, Any]:
    """Return the last turns of a conversation, in order; `earlier` is the `before` of the previous page.

    Turns that were undone are left out; `goal` is the goal of the first turn.
    """
    summary = _find(site, request.path_params["conversation"])
    most = max(1, bodies.number(request, "most", 20, 100))
    stored = StoredTurns(site.reading(), site.paths)
    runs = list(islice(stored.newest_first(summary.conversation, request.query_params.get("before", "")), most + 1))
    shown = runs[:most][::-1]
    return {
        **summary.to_dict(),
        "turn_count": summary.turns,
        "turns": [_turn(site, stored, run) for run in shown],
        "earlier": shown[0].run_id if len(runs) > most else None,
    }


def _turn(site: Site, stored: StoredTurns, run: RunSummary) -> dict[str, Any]:
    turn = stored.turn(run)
    cut = {"cut": True} if len(turn.answer) > LONGEST_ANSWER else {}
    texts = {"number": turn.number, "answer": turn.answer[:LONGEST_ANSWER], "error": turn.error[:LONGEST_ANSWER]}
    return shapes.summary(site.local(run)) | {"held_by": site.held_by(run)} | texts | cut


async def take_turn(site: Site, request: Request) -> Response:
    """Start the next turn of a conversation, or the first of a new one; respond once its first event is on disk."""
    from goalwright.interfaces.web.routes.steer import check_local, files_in, goal_in
    from goalwright.runs.conversations.conversation import Conversation  # late, as below: most requests only read

    body = await bodies.document(request, *_TURN_KEYS, limit=bodies.PLAN)
    name = request.path_params.get("conversation")
    if name is not None:
        await asyncio.to_thread(_find, site, name)
    resolved = site.resolved(bodies.mapping(body, "settings"))
    goalwright = await asyncio.to_thread(site.runtime, resolved.settings)
    conversation = Conversation(goalwright, name) if name is not None else Conversation.new(goalwright)
    files = await asyncio.to_thread(files_in, site, body)
    run_id = new_run_id()

    async def run(*, record: Record, stop: Stop) -> Result:
        def ready() -> Any:
            check_local(goalwright, None)
            return goal_in(body, goalwright, files.copied(run_id))

        goal = await asyncio.to_thread(ready)
        return await conversation.turn(goal, record=record, stop=stop, run_id=run_id)

    async with site.turning:  # if two tabs send at once, the second sees the turn of the first
        with files.used_by(run_id):
            await site.work.begin(run)
    return json_reply({"conversation": conversation.id, "run_id": run_id}, 202)


async def take_back(site: Site, request: Request) -> Response:
    """Undo the last turn and its file changes; `left` lists files that have changed since and were kept."""
    await bodies.document(request)
    name = (await asyncio.to_thread(_find, site, request.path_params["conversation"])).conversation
    async with site.turning:
        undone = await (await asyncio.to_thread(_open, site, name)).take_back()
    return json_reply({"conversation": name, "run_id": undone.turn.run_id, "left": list(undone.left)})


def _open(site: Site, name: str) -> Conversation:
    from goalwright.runs.conversations.conversation import Conversation

    goalwright: Goalwright = site.runtime(site.settings)
    return Conversation(goalwright, name)


def _find(site: Site, name: str) -> ConversationSummary:
    """Return the conversation of exactly this id."""
    row = next(iter(site.reading().conversations(1, name)), None)
    if row is None:
        raise UnknownRun(f"there is no conversation {name[:80]!r}", hint="see the list of conversations")
    return _local(site, row)


def _local(site: Site, row: ConversationSummary) -> ConversationSummary:
    """Return a conversation's summary with the paths of this checkout."""
    return replace(row, goal=records.local_text(row.goal, row.first, site.paths))
