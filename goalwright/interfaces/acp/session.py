"""A session: a conversation of a workspace, and its current turn."""

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

    from goalwright.interfaces.acp.modes import ModeName, ModeStore
    from goalwright.runs.callbacks import Review
    from goalwright.runs.runtime import Goalwright
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Event, Record

CONTINUE = "/continue"
_WAITING = "\n\nThe run waits for an answer: run `goalwright approvals`, or load this session again."


@dataclass(slots=True)
class Session:
    """A session of a client; `open_goalwright` returns the runtime of a mode."""

    id: str
    client: Client
    open_goalwright: Callable[[ModeName], Goalwright]
    modes_store: ModeStore
    mode: ModeName = modes.DEFAULT
    _is_prompted: bool = False
    _is_closed: bool = False
    _stops: list[Stop] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def conversation(self) -> Conversation:
        """The conversation, with the settings of the mode."""
        return Conversation(self.open_goalwright(self.mode), self.id)

    async def prompt(self, blocks: Sequence[Any]) -> Literal["end_turn", "cancelled"]:
        """Run a prompt as the next turn, or as the answer to the question of the last one."""
        if self._is_closed:
            raise InputError("the session is being loaded", hint="send the prompt again")
        if self._is_prompted:
            raise InputError("a turn of this session is running", hint="wait for its end, or cancel it")
        self._is_prompted = True
        try:
            return await self._run_prompt(blocks)
        finally:
            self._is_prompted = False

    async def _run_prompt(self, blocks: Sequence[Any]) -> Literal["end_turn", "cancelled"]:
        async with self._running() as stop:
            conversation, run_id = self.conversation, new_run_id()
            question, workspace = await asyncio.to_thread(self._question), conversation.goalwright.paths.workspace
            if question is not None:
                text = await asyncio.to_thread(answer_of, blocks, workspace)
                answers = [] if text.strip() == CONTINUE else [(question, Answer("answer", text=text, by="acp"))]
                return await self._continue(stop, answers)
            goal = await asyncio.to_thread(goal_of, blocks, workspace, run_id)
            if goal.text.strip() == CONTINUE:
                return await self._continue(stop)

            def turn(record: Record, approve: Approve, review: Review | None) -> Awaitable[Result | None]:
                return conversation.turn(goal, record=record, stop=stop, approve=approve, review=review, run_id=run_id)

            return await self._run(turn, stop, Updates(workspace, run_id, self._warned))

    async def resume(self) -> None:
        """Continue the last turn, which waits, and ask its open requests again."""
        async with self._running() as stop:
            if not self._is_closed:
                await self._continue(stop)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Stop]:
        """Wait for the current turn to end, and yield the `Stop` of the next one; `cancel` works during the wait."""
        self._stops.append(stop := Stop())
        try:
            async with self._turn:
                yield stop
        finally:
            self._stops.remove(stop)

    async def _continue(
        self, stop: Stop, answers: Sequence[tuple[str, Answer]] = ()
    ) -> Literal["end_turn", "cancelled"]:
        """Continue the last turn, with answers to its requests."""
        conversation = self.conversation
        updates = await asyncio.to_thread(lambda: history.last_turn(conversation, self._warned))

        def turn(record: Record, approve: Approve, review: Review | None) -> Awaitable[Result | None]:
            return conversation.resume(record=record, stop=stop, approve=approve, review=review, answers=answers)

        return await self._run(turn, stop, updates)

    def cancel(self) -> None:
        """Stop the current turn; finished tasks are modes_store."""
        for stop in self._stops:
            stop.set(by_user=True)

    def set_mode(self, mode: ModeName) -> None:
        """Use another mode from the next turn."""
        self.mode = mode
        self.modes_store.set(self.id, mode)

    def waits(self) -> bool:
        """Return whether the last turn waits for a request that the client can be asked about."""
        requests = self._open_requests()
        return bool(requests) and not any(map(is_for_prompt, requests))

    @property
    def is_running(self) -> bool:
        """Whether a turn is running."""
        return bool(self._stops)

    async def close(self) -> None:
        """Interrupt the current turn and wait for its end; a new session can continue it."""
        self._is_closed = True
        for stop in self._stops:
            stop.set()
        async with self._turn:
            pass

    async def _run(
        self,
        turn: Callable[[Record, Approve, Review | None], Awaitable[Result | None]],
        stop: Stop,
        updates: Updates,
    ) -> Literal["end_turn", "cancelled"]:
        """Run a turn, and send its events to the client in order."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        sender = asyncio.ensure_future(self._send(events, updates))

        async def flushed() -> None:
            await asyncio.sleep(0)  # let pending callbacks fill the queue
            joined = asyncio.ensure_future(events.join())
            try:
                await asyncio.wait({joined, sender}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                joined.cancel()

        permissions = Permissions(self.client, self.id, updates, flushed)
        review = permissions.review if self.mode == "plan" else None
        try:
            result = await turn(
                lambda event: loop.call_soon_threadsafe(events.put_nowait, event), permissions.approve, review
            )
            await asyncio.sleep(0)  # let callbacks from other threads fill the queue
        finally:
            events.put_nowait(None)
            await sender
        if result is None:
            await self._send_text("There is nothing to continue: the last turn is done.")
        elif result.status == "waiting" and updates.question is None:
            await self._send_text(_WAITING)
        return "cancelled" if stop.by_user else "end_turn"

    async def _send(self, events: asyncio.Queue[Event | None], updates: Updates) -> None:
        while (event := await events.get()) is not None:
            for update in updates.of(event):
                with suppress(ConnectionError):  # the run continues without its client
                    await self.client.session_update(session_id=self.id, update=update)
            events.task_done()

    async def _send_text(self, text: str) -> None:
        with suppress(ConnectionError):
            await self.client.session_update(session_id=self.id, update=update_agent_message_text(text))

    def _open_requests(self) -> list[Any]:
        """Return the open requests of the last turn; a turn that a person stopped has none."""
        conversation = self.conversation
        last = conversation.last
        if last is None or last.status not in ("waiting", "interrupted") or last.stopped_by_user:
            return []
        goalwright = conversation.goalwright
        return [opened.request for opened in open_requests(goalwright.journal.store, goalwright.paths, last.run_id)]

    def _question(self) -> str | None:
        """Return the id of the question that the next prompt answers."""
        return next((request.id for request in self._open_requests() if is_for_prompt(request)), None)
