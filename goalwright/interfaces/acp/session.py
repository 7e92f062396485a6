"""One session: a conversation of a workspace, and the turn of it that runs."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from acp.helpers import update_agent_message_text

from goalwright.interfaces.acp import history, modes
from goalwright.interfaces.acp.permissions import Permissions
from goalwright.interfaces.acp.prompt_blocks import answer_of, goal_of
from goalwright.interfaces.acp.updates import Updates, is_for_prompt
from goalwright.runs.conversations.conversation import Conversation
from goalwright.runs.run_id import new_run_id
from goalwright.runs.stop import Stop
from goalwright.runs.stored.requests import open_requests
from goalwright_planner.approvals import Answer
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from acp.interfaces import Client

    from goalwright.interfaces.acp.modes import KeptModes, ModeName
    from goalwright.runs.callbacks import Review
    from goalwright.runs.runtime import Goalwright
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Event, Record

CONTINUE = "/continue"
_LATER = "\n\nThe run waits: `goalwright approvals` shows what for, or load this session again."


@dataclass(slots=True)
class Session:
    """A session of a client; `open_goalwright` gives the runtime of a mode, all with one journal."""

    id: str
    client: Client
    open_goalwright: Callable[[ModeName], Goalwright]
    kept: KeptModes
    mode: ModeName = modes.DEFAULT
    _is_prompted: bool = False
    _is_closed: bool = False
    _stops: list[Stop] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def conversation(self) -> Conversation:
        """Its conversation, with the settings of its mode."""
        return Conversation(self.open_goalwright(self.mode), self.id)

    async def prompt(self, blocks: Sequence[Any]) -> Literal["end_turn", "cancelled"]:
        """Run a prompt as the next turn, or as the answer to what the last one asked."""
        if self._is_closed:
            raise InputError("the session is being loaded", hint="send the prompt again")
        if self._is_prompted:
            raise InputError("a turn of this session is running", hint="wait for its end, or cancel it")
        self._is_prompted = True
        try:
            return await self._prompted(blocks)
        finally:
            self._is_prompted = False

    async def _prompted(self, blocks: Sequence[Any]) -> Literal["end_turn", "cancelled"]:
        async with self._running() as stop:
            conversation, run_id = self.conversation, new_run_id()
            question, workspace = await asyncio.to_thread(self._question), conversation.goalwright.paths.workspace
            if question is not None:
                text = await asyncio.to_thread(answer_of, blocks, workspace)
                answers = [] if text.strip() == CONTINUE else [(question, Answer("answer", text=text, by="acp"))]
                return await self._resume(stop, answers)
            goal = await asyncio.to_thread(goal_of, blocks, workspace, run_id)
            if goal.text.strip() == CONTINUE:
                return await self._resume(stop)

            def turn(record: Record, approve: Approve, review: Review | None) -> Awaitable[Result | None]:
                return conversation.turn(goal, record=record, stop=stop, approve=approve, review=review, run_id=run_id)

            return await self._told(turn, stop, Updates(workspace, run_id, self._warned))

    async def go_on(self) -> None:
        """Continue the last turn, which waits; what it waits for is asked again."""
        async with self._running() as stop:
            if not self._is_closed:
                await self._resume(stop)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Stop]:
        """A turn, after one that a load continues; a cancel reaches it from its very beginning."""
        self._stops.append(stop := Stop())
        try:
            async with self._turn:
                yield stop
        finally:
            self._stops.remove(stop)

    async def _resume(self, stop: Stop, answers: Sequence[tuple[str, Answer]] = ()) -> Literal["end_turn", "cancelled"]:
        """Continue the last turn, which is not done."""
        conversation = self.conversation
        told = await asyncio.to_thread(lambda: history.last_turn(conversation, self._warned))

        def turn(record: Record, approve: Approve, review: Review | None) -> Awaitable[Result | None]:
            return conversation.resume(record=record, stop=stop, approve=approve, review=review, answers=answers)

        return await self._told(turn, stop, told)

    def cancel(self) -> None:
        """Stop the turn that runs; what was finished stays."""
        for stop in self._stops:
            stop.set(by_user=True)

    def set_mode(self, mode: ModeName) -> None:
        """Use another mode from the next turn on."""
        self.mode = mode
        self.kept.set(self.id, mode)

    def waits(self) -> bool:
        """Whether the last turn waits for something that the client can be asked."""
        asked = self._open()
        return bool(asked) and not any(map(is_for_prompt, asked))

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return bool(self._stops)

    async def close(self) -> None:
        """Interrupt what runs, and wait for it; it can be continued, by a session that takes this one's place."""
        self._is_closed = True
        for stop in self._stops:
            stop.set()
        async with self._turn:
            pass

    async def _told(
        self,
        turn: Callable[[Record, Approve, Review | None], Awaitable[Result | None]],
        stop: Stop,
        updates: Updates,
    ) -> Literal["end_turn", "cancelled"]:
        """Run a turn while the client is told of its events, in their order."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        telling = asyncio.ensure_future(self._tell(events, updates))

        async def heard() -> None:
            await asyncio.sleep(0)  # what was handed over is in the queue then
            told = asyncio.ensure_future(events.join())
            try:
                await asyncio.wait({told, telling}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                told.cancel()

        permissions = Permissions(self.client, self.id, updates, heard)
        review = permissions.review if self.mode == "plan" else None
        try:
            result = await turn(
                lambda event: loop.call_soon_threadsafe(events.put_nowait, event), permissions.approve, review
            )
            await asyncio.sleep(0)  # what other threads handed over
        finally:
            events.put_nowait(None)
            await telling
        if result is None:
            await self._say("There is nothing to continue: the last turn is done.")
        elif result.status == "waiting" and updates.question is None:
            await self._say(_LATER)
        return "cancelled" if stop.by_user else "end_turn"

    async def _tell(self, events: asyncio.Queue[Event | None], updates: Updates) -> None:
        while (event := await events.get()) is not None:
            for update in updates.of(event):
                with suppress(ConnectionError):  # the run goes on without its client
                    await self.client.session_update(session_id=self.id, update=update)
            events.task_done()

    async def _say(self, text: str) -> None:
        with suppress(ConnectionError):
            await self.client.session_update(session_id=self.id, update=update_agent_message_text(text))

    def _open(self) -> list[Any]:
        """What the last turn asks a person; one that a person stopped asks nothing any more."""
        conversation = self.conversation
        last = conversation.last
        if last is None or last.status not in ("waiting", "interrupted") or last.stopped_by_user:
            return []
        goalwright = conversation.goalwright
        return [opened.request for opened in open_requests(goalwright.journal.store, goalwright.paths, last.run_id)]

    def _question(self) -> str | None:
        """The question that the next prompt answers."""
        return next((request.id for request in self._open() if is_for_prompt(request)), None)
