"""One session: a conversation of a workspace, and the turn of it that runs."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from acp.helpers import update_agent_message_text

from weft.acp import history, modes
from weft.acp.permissions import Permissions
from weft.acp.prompt_blocks import answer_of, goal_of
from weft.acp.updates import Updates
from weft.runs.conversations.conversation import Conversation
from weft.runs.run_id import new_run_id
from weft.runs.stop import Stop
from weft.runs.stored.requests import open_requests
from weft_planner.approvals import Answer
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from acp.interfaces import Client

    from weft.acp.modes import KeptModes, ModeName
    from weft.runs.runtime import Weft
    from weft.runs.steps.reviewing import Review
    from weft_executor.history.result import Result
    from weft_planner.approvals import Approve
    from weft_planner.events import Event, Record

CONTINUE = "/continue"
_LATER = "\n\nThe run waits: `weft approvals` shows what for, or load this session again."


@dataclass(slots=True)
class Session:
    """A session of a client; `open_weft` gives the runtime of a mode, all with one journal."""

    id: str
    client: Client
    open_weft: Callable[[ModeName], Weft]
    kept: KeptModes
    mode: ModeName = modes.DEFAULT
    _is_prompted: bool = False
    _stops: list[Stop] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def conversation(self) -> Conversation:
        """Its conversation, with the settings of its mode."""
        return Conversation(self.open_weft(self.mode), self.id)

    async def prompt(self, blocks: Sequence[Any]) -> Literal["end_turn", "cancelled"]:
        """Run a prompt as the next turn, or as the answer to what the last one asked."""
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
            question, workspace = await asyncio.to_thread(self._question), conversation.weft.paths.workspace
            if question is not None:
                text = await asyncio.to_thread(answer_of, blocks, workspace)
                answers = [] if text.strip() == CONTINUE else [(question, Answer("answer", text=text, by="acp"))]
                return await self._resume(stop, answers)
            goal = await asyncio.to_thread(goal_of, blocks, workspace, run_id)
            if goal.text.strip() == CONTINUE:
                return await self._resume(stop)
            approve, review = self._asks()

            def turn(record: Record) -> Awaitable[Result | None]:
                return conversation.turn(goal, record=record, stop=stop, approve=approve, review=review, run_id=run_id)

            return await self._told(turn, stop, Updates(workspace, run_id, self._warned))

    async def go_on(self) -> None:
        """Continue the last turn, which waits; what it waits for is asked again."""
        async with self._running() as stop:
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
        conversation, (approve, review) = self.conversation, self._asks()
        told = await asyncio.to_thread(lambda: history.last_turn(conversation, self._warned))

        def turn(record: Record) -> Awaitable[Result | None]:
            return conversation.resume(record=record, stop=stop, approve=approve, review=review, answers=answers)

        return await self._told(turn, stop, told)

    def _asks(self) -> tuple[Approve, Review | None]:
        """What asks the client in this mode: for permissions, and whether a plan may run."""
        permissions = Permissions(self.client, self.id)
        return permissions.approve, permissions.review if self.mode == "plan" else None

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
        kinds = {request.kind for request in self._open()}
        return bool(kinds) and "question" not in kinds

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return bool(self._stops)

    async def close(self) -> None:
        """Interrupt what runs, and wait for it; it can be continued."""
        for stop in self._stops:
            stop.set()
        async with self._turn:
            pass

    async def _told(
        self, turn: Callable[[Record], Awaitable[Result | None]], stop: Stop, updates: Updates
    ) -> Literal["end_turn", "cancelled"]:
        """Run a turn while the client is told of its events, in their order."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        telling = asyncio.ensure_future(self._tell(events, updates))
        try:
            result = await turn(lambda event: loop.call_soon_threadsafe(events.put_nowait, event))
            await asyncio.sleep(0)  # what other threads handed over
        finally:
            events.put_nowait(None)
            await telling
        if result is None:
            await self._say("There is nothing to continue: the last turn is done.")
        elif result.status == "waiting":
            await self._say(await asyncio.to_thread(self._waiting))
        return "cancelled" if stop.by_user else "end_turn"

    async def _tell(self, events: asyncio.Queue[Event | None], updates: Updates) -> None:
        while (event := await events.get()) is not None:
            for update in updates.of(event):
                with suppress(ConnectionError):  # the run goes on without its client
                    await self.client.session_update(session_id=self.id, update=update)

    async def _say(self, text: str) -> None:
        with suppress(ConnectionError):
            await self.client.session_update(session_id=self.id, update=update_agent_message_text(text))

    def _open(self) -> list[Any]:
        """What the last turn asks a person; one that a person stopped asks nothing any more."""
        conversation = self.conversation
        last = conversation.last
        if last is None or last.status not in ("waiting", "interrupted") or last.stopped_by_user:
            return []
        weft = conversation.weft
        return [opened.request for opened in open_requests(weft.journal.store, weft.paths, last.run_id)]

    def _question(self) -> str | None:
        """The question that the next prompt answers."""
        return next((request.id for request in self._open() if request.kind == "question"), None)

    def _waiting(self) -> str:
        asked = [request.preview for request in self._open() if request.kind == "question"]
        return "\n\n" + "\n".join(asked) if asked else _LATER
