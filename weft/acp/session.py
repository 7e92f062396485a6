"""One session: a conversation of a workspace, and the turn of it that runs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from acp.helpers import update_agent_message_text

from weft.acp import modes
from weft.acp.permissions import Permissions
from weft.acp.prompt_blocks import goal_of
from weft.acp.updates import Updates
from weft.runs.conversations.conversation import Conversation
from weft.runs.run_id import new_run_id
from weft.runs.stop import Stop
from weft.runs.stored.requests import open_requests
from weft_planner.approvals import Answer
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from acp.interfaces import Client

    from weft.acp.modes import KeptModes, ModeName
    from weft.runs.runtime import Weft
    from weft_executor.history.result import Result
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
    _stop: Stop | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def conversation(self) -> Conversation:
        """Its conversation, with the settings of its mode."""
        return Conversation(self.open_weft(self.mode), self.id)

    async def prompt(self, blocks: Sequence[Any]) -> Literal["end_turn", "cancelled"]:
        """Run a prompt as the next turn, or as the answer to what the last one asked."""
        conversation, run_id = self.conversation, new_run_id()
        goal = goal_of(blocks, conversation.weft.paths.workspace, run_id)
        if self._turn.locked():
            raise InputError("a turn of this session is running", hint="wait for its end, or cancel it")
        if goal.text.strip() == CONTINUE:
            return await self.go_on()
        question = await asyncio.to_thread(self._question)
        if question is not None:
            answers = [(question, Answer("answer", text=goal.text, by="acp"))]
            return await self.go_on(answers)
        permissions = Permissions(self.client, self.id)
        review = permissions.review if self.mode == "plan" else None

        def turn(record: Record, stop: Stop) -> Awaitable[Result | None]:
            return conversation.turn(
                goal, record=record, stop=stop, approve=permissions.approve, review=review, run_id=run_id
            )

        return await self._told(turn, run_id)

    async def go_on(self, answers: Sequence[tuple[str, Answer]] = ()) -> Literal["end_turn", "cancelled"]:
        """Continue the last turn, which was cut off or waits; what it waits for is asked again."""
        conversation, permissions = self.conversation, Permissions(self.client, self.id)
        last = await asyncio.to_thread(lambda: conversation.last)

        def turn(record: Record, stop: Stop) -> Awaitable[Result | None]:
            return conversation.resume(record=record, stop=stop, approve=permissions.approve, answers=answers)

        return await self._told(turn, last.run_id if last is not None else "")

    def cancel(self) -> None:
        """Stop the turn that runs; what was finished stays."""
        if self._stop is not None:
            self._stop.set(by_user=True)

    def set_mode(self, mode: ModeName) -> None:
        """Use another mode from the next turn on."""
        self.mode = mode
        self.kept.set(self.id, mode)

    def waits(self) -> bool:
        """Whether the last turn waits for something that the client can be asked."""
        last = self.conversation.last
        return last is not None and last.status == "waiting" and self._question() is None

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self._stop is not None

    async def close(self) -> None:
        """Interrupt what runs, and wait for it; it can be continued."""
        if self._stop is not None:
            self._stop.set()
        async with self._turn:
            pass

    async def _told(
        self, turn: Callable[[Record, Stop], Awaitable[Result | None]], run_id: str
    ) -> Literal["end_turn", "cancelled"]:
        """Run a turn while the client is told of its events, in their order."""
        async with self._turn:
            self._stop = stop = Stop()
            events: asyncio.Queue[Event | None] = asyncio.Queue()
            loop = asyncio.get_running_loop()
            workspace = self.open_weft(self.mode).paths.workspace
            telling = asyncio.ensure_future(self._tell(events, Updates(workspace, run_id)))
            try:
                result = await turn(lambda event: loop.call_soon_threadsafe(events.put_nowait, event), stop)
                await asyncio.sleep(0)  # what other threads handed over
            finally:
                events.put_nowait(None)
                await telling
                self._stop = None
        if result is not None and result.status == "waiting":
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
        conversation = self.conversation
        last = conversation.last
        if last is None or last.status != "waiting":
            return []
        weft = conversation.weft
        return [opened.request for opened in open_requests(weft.journal.store, weft.paths, last.run_id)]

    def _question(self) -> str | None:
        """The question that the next prompt answers."""
        return next((request.id for request in self._open() if request.kind == "question"), None)

    def _waiting(self) -> str:
        asked = [request.preview for request in self._open() if request.kind == "question"]
        return "\n\n" + "\n".join(asked) if asked else _LATER
