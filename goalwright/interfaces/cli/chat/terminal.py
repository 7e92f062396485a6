"""A chat at a terminal: a line to type at, with the turn that runs above it.

What is typed while a turn runs waits as the next one, and `!text` is a remark for its tasks that have not begun. A
request for an approval takes the line's place until it is answered.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import deque
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.chat import commands, prompt
from goalwright.interfaces.cli.dialogs.approval_prompt import TerminalApprover
from goalwright.interfaces.cli.dialogs.plan_review import PlanReview
from goalwright.interfaces.cli.view import output
from goalwright.interfaces.cli.view.live.live_view import TurnView
from goalwright.runs.goal import Goal
from goalwright.runs.stop import Stop
from goalwright.runs.stored.requests import approve_all
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from prompt_toolkit import PromptSession

    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright.runs.callbacks import Review
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Answer, ApprovalRequest
    from goalwright_planner.plan.plan import Plan

_PROMPT = "› "
_TWICE = 2.0  # seconds between two Ctrl-C that leave
_REFRESH = 0.5
# Commands that only look at what is recorded, and so need not wait for the turn.
_AT_ONCE = ("/help", "/cost", "/files", "/model", "/open")


@dataclass(slots=True)
class TerminalChat:
    """Reads lines and runs turns until the person leaves."""

    chat: Chat
    allow_all: bool = False
    reviews: bool = False
    _line: PromptSession[str] = field(init=False)
    _waiting: deque[Goal | str] = field(default_factory=deque)
    _kept: str = ""  # what was typed and not sent when a turn ended
    _stop: Stop | None = None
    _command: asyncio.Future[Goal | str | None] | None = None
    _interrupted: float = float("-inf")
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _free: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        where = self.chat.goalwright.paths
        history = where.data / "chat-history"
        self._line = prompt.session(history, commands.COMMANDS, self.chat.skill_names, where.workspace)
        self._free.set()

    async def talk(self, first: Goal | str | None = None, *, resume: bool = False) -> None:
        """Talk until the person leaves; `first` is a goal, with `resume` the last turn goes on before it."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        if first is not None:
            self._waiting.append(first)
        try:
            if resume:
                await self._said(self._follow("resume"))
            while True:
                text = await self._read()
                if isinstance(text, Goal) or text.strip():
                    await self._take(text)
        except (commands.Quit, EOFError):
            pass
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if self.chat.conversation.last is not None:
            output.say(f"Continue with: {self.chat.continue_command()}")

    async def _read(self) -> Goal | str:
        """What waits, or a line, typed while nothing runs; Ctrl-C clears it, and a second one leaves."""
        while not self._waiting:
            kept, self._kept = self._kept, ""
            try:
                text = await self._line.prompt_async(_PROMPT, default=kept, refresh_interval=0, handle_sigint=False)
            except KeyboardInterrupt:
                self._interrupt()
                continue
            except EOFError:
                if self._waiting:  # a signal took the line away
                    break
                raise
            output.say(_PROMPT + text.replace("\n", "\n  "))
            return text
        return self._waiting.popleft()

    async def _take(self, text: Goal | str) -> None:
        """Carry out a command, or run a goal."""
        if isinstance(text, str) and text.startswith("!"):
            output.say("No turn runs: a remark is for tasks that have not begun.")
        else:
            await self._said(self._taken(text))

    async def _taken(self, text: Goal | str) -> None:
        if isinstance(text, Goal):
            following: Goal | str | None = text
        else:
            begin = partial(commands.carry_out, self.chat) if text.startswith("/") else self.chat.goal
            following = await self._interruptible(begin(text))
        if following is not None:
            await self._follow(following)

    async def _interruptible(self, work: Coroutine[Any, Any, Goal | str | None]) -> Goal | str | None:
        """What comes of a command, or of reading a goal; None if Ctrl-C gave it up."""
        self._command = command = asyncio.ensure_future(work)
        try:
            await asyncio.wait([command])
        finally:
            self._command = None
            command.cancel()
        return None if command.cancelled() else command.result()

    async def _follow(self, following: Goal | str) -> None:
        """Run a goal, or continue the last turn."""
        if isinstance(following, Goal):
            await self._run(partial(self.chat.turn, following, review=self._review_of(following.text)))
        else:
            last = await asyncio.to_thread(lambda: self.chat.conversation.last)
            await self._run(partial(self.chat.resume, review=self._review_of(last.goal if last else "")))

    async def _said(self, work: Awaitable[None]) -> None:
        """Do something; what is wrong with it is said, and the chat goes on."""
        try:
            await work
        except GoalwrightError as error:
            commands.say_error(error)

    async def _run(self, begin: Callable[..., Coroutine[Any, Any, Result | None]]) -> None:
        """Run a turn with the line below it."""
        view, self._stop = TurnView(), Stop()
        turn = asyncio.ensure_future(begin(record=view.note, stop=self._stop, approve=self._approve))
        turn.add_done_callback(lambda _: self._end_line())
        try:
            while not turn.done():
                await self._free.wait()
                if not turn.done():
                    await self._read_while(turn, view)
            result = await turn
        finally:
            if not turn.done():
                self._stop.set(by_user=True)
                await asyncio.gather(turn, return_exceptions=True)
            self._stop = None
        for said in view.said:
            output.say(said)
        if result is not None:
            self.chat.show(result)

    async def _read_while(self, turn: asyncio.Future[Result | None], view: TurnView) -> None:
        """A line that is typed while a turn runs; ends with the turn, or when a request takes its place."""
        from prompt_toolkit.formatted_text import ANSI

        def above() -> ANSI:
            size = self._line.app.output.get_size()
            return ANSI(view.drawn(size.columns, size.rows) + _PROMPT)

        kept, self._kept = self._kept, ""
        try:
            text = await self._line.prompt_async(above, default=kept, refresh_interval=_REFRESH, handle_sigint=False)
        except KeyboardInterrupt:
            self._interrupt()
            return
        except EOFError:
            if not turn.done() and self._free.is_set() and not self._kept:
                output.say("The turn goes on; Ctrl-C stops it.")
            return
        await self._heard(text)

    async def _heard(self, text: str) -> None:
        """Take what was typed while a turn runs."""
        if text.startswith("!"):
            heard = self.chat.conversation.remark(text[1:])
            output.say(f"{_PROMPT}{text}" if heard else f"Every task has begun: the remark was not used: {text}")
        elif text.partition(" ")[0] in _AT_ONCE and " " not in text.strip():
            try:
                await commands.carry_out(self.chat, text)
            except GoalwrightError as error:
                commands.say_error(error)
        elif text.strip() in ("/quit", "/exit"):
            self._waiting.appendleft("/quit")
            if self._stop is not None:
                self._stop.set(by_user=True)
        elif text.strip():
            self._waiting.append(text)
            output.say(f"{_PROMPT}{text}\n  (waits for the turn to end)")

    def _end_line(self) -> None:
        """Take the line away; what was typed and not sent is kept for the next one."""
        app = self._line.app
        if app.is_running and not app.is_done:
            self._kept = self._line.default_buffer.text
            with suppress(Exception):  # it may be ending by itself
                app.exit(exception=EOFError())

    def _interrupt(self) -> None:
        """Ctrl-C, as a key or, between two lines, as a signal: stop the turn or the command; a second one leaves."""
        now = time.monotonic()
        before, self._interrupted = self._interrupted, now
        leaves = now - before < _TWICE
        if leaves:
            self._waiting.clear()
            self._waiting.append("/quit")
        if self._stop is not None:
            output.say("Stopping the turn …")
            self._stop.set(by_user=True)
        elif self._command is not None:
            output.say("Stopping …")
            self._command.cancel()
        elif leaves:
            self._end_line()
        else:
            output.say("Ctrl-C again, Ctrl-D or /quit leaves.")

    async def _approve(self, request: ApprovalRequest) -> Answer | None:
        """Ask in the line's place."""
        if self.allow_all and (answer := await approve_all(request)) is not None:
            return answer
        async with self._in_place():
            return await TerminalApprover(nullcontext).ask(request)

    def _review_of(self, goal: str) -> Review | None:
        return partial(self._review, goal) if self.reviews else None

    async def _review(self, goal: str, plan: Plan) -> Plan | None:
        """Show a plan in the line's place, and ask about it."""
        async with self._in_place():
            earlier = (await asyncio.to_thread(self.chat.conversation.seen)).earlier_ids
            return await PlanReview(self.chat.goalwright, goal, nullcontext, earlier).ask(plan)

    @asynccontextmanager
    async def _in_place(self) -> AsyncIterator[None]:
        """Within the block, nothing else asks, and the line is away."""
        async with self._asking:
            self._free.clear()
            self._end_line()
            try:
                while self._line.app.is_running:  # noqa: ASYNC110 - it ends within a frame, and tells nobody
                    await asyncio.sleep(0.01)
                yield
            finally:
                self._free.set()
