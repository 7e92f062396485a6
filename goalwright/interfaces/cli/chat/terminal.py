"""A chat at a terminal: an input line with the live view of the current turn above it.

Text typed during a turn is queued as the next turn; `!text` is a remark for the tasks that have not begun. A request
for approval replaces the input line until it is answered.
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
_LEAVE_WITHIN = 2.0  # seconds between two Ctrl-C to leave
_REFRESH = 0.5
# Commands that only read recorded data, and can be executed during a turn.
_IMMEDIATE = ("/help", "/cost", "/files", "/model", "/open")


@dataclass(slots=True)
class TerminalChat:
    """Reads lines and runs turns until the person leaves."""

    chat: Chat
    allow_all: bool = False
    reviews: bool = False
    _line: PromptSession[str] = field(init=False)
    _queue: deque[Goal | str] = field(default_factory=deque)
    _unsent: str = ""  # the unsent input when a turn ended
    _stop: Stop | None = None
    _command: asyncio.Future[Goal | str | None] | None = None
    _interrupted: float = float("-inf")
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _line_allowed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        paths = self.chat.goalwright.paths
        history = paths.data / "chat-history"
        self._line = prompt.session(history, commands.COMMANDS, self.chat.skill_names, paths.workspace)
        self._line_allowed.set()

    async def talk(self, first: Goal | str | None = None, *, resume: bool = False) -> None:
        """Run turns until the person leaves; `resume` continues the last turn before the `first` goal."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        if first is not None:
            self._queue.append(first)
        try:
            if resume:
                await self._report_errors(self._follow("resume"))
            while True:
                text = await self._read()
                if isinstance(text, Goal) or text.strip():
                    await self._handle(text)
        except (commands.Quit, EOFError):
            pass
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if self.chat.conversation.last is not None:
            output.say(f"Continue with: {self.chat.continue_command()}")

    async def _read(self) -> Goal | str:
        """Return the next queued text or an input line; Ctrl-C clears the line, and a second one leaves."""
        while not self._queue:
            unsent, self._unsent = self._unsent, ""
            try:
                text = await self._line.prompt_async(_PROMPT, default=unsent, refresh_interval=0, handle_sigint=False)
            except KeyboardInterrupt:
                self._interrupt()
                continue
            except EOFError:
                if self._queue:  # a signal ended the input
                    break
                raise
            output.say(_PROMPT + text.replace("\n", "\n  "))
            return text
        return self._queue.popleft()

    async def _handle(self, text: Goal | str) -> None:
        """Execute a command or run a goal."""
        if isinstance(text, str) and text.startswith("!"):
            output.say("There is no running turn that could use the remark.")
        else:
            await self._report_errors(self._run_text(text))

    async def _run_text(self, text: Goal | str) -> None:
        if isinstance(text, Goal):
            next_turn: Goal | str | None = text
        else:
            start = partial(commands.execute, self.chat) if text.startswith("/") else self.chat.goal
            next_turn = await self._interruptible(start(text))
        if next_turn is not None:
            await self._follow(next_turn)

    async def _interruptible(self, work: Coroutine[Any, Any, Goal | str | None]) -> Goal | str | None:
        """Return the result of a command, or of reading a goal; None if Ctrl-C cancelled it."""
        self._command = command = asyncio.ensure_future(work)
        try:
            await asyncio.wait([command])
        finally:
            self._command = None
            command.cancel()
        return None if command.cancelled() else command.result()

    async def _follow(self, next_turn: Goal | str) -> None:
        """Run a goal, or continue the last turn."""
        if isinstance(next_turn, Goal):
            await self._run(partial(self.chat.turn, next_turn, review=self._review_of(next_turn.text)))
        else:
            last = await asyncio.to_thread(lambda: self.chat.conversation.last)
            await self._run(partial(self.chat.resume, review=self._review_of(last.goal if last else "")))

    async def _report_errors(self, work: Awaitable[None]) -> None:
        """Await `work`; an error is printed, and the chat continues."""
        try:
            await work
        except GoalwrightError as error:
            commands.say_error(error)

    async def _run(self, start: Callable[..., Coroutine[Any, Any, Result | None]]) -> None:
        """Run a turn with the input line below it."""
        view, self._stop = TurnView(), Stop()
        turn = asyncio.ensure_future(start(record=view.note, stop=self._stop, approve=self._approve))
        turn.add_done_callback(lambda _: self._end_line())
        try:
            while not turn.done():
                await self._line_allowed.wait()
                if not turn.done():
                    await self._read_while(turn, view)
            result = await turn
        finally:
            if not turn.done():
                self._stop.set(by_user=True)
                await asyncio.gather(turn, return_exceptions=True)
            self._stop = None
        for message in view.messages:
            output.say(message)
        if result is not None:
            self.chat.show(result)

    async def _read_while(self, turn: asyncio.Future[Result | None], view: TurnView) -> None:
        """Read a line during a turn; ends with the turn, or when a request replaces the line."""
        from prompt_toolkit.formatted_text import ANSI

        def above() -> ANSI:
            size = self._line.app.output.get_size()
            return ANSI(view.drawn(size.columns, size.rows) + _PROMPT)

        unsent, self._unsent = self._unsent, ""
        try:
            text = await self._line.prompt_async(above, default=unsent, refresh_interval=_REFRESH, handle_sigint=False)
        except KeyboardInterrupt:
            self._interrupt()
            return
        except EOFError:
            if not turn.done() and self._line_allowed.is_set() and not self._unsent:
                output.say("The turn continues; Ctrl-C stops it.")
            return
        await self._handle_input(text)

    async def _handle_input(self, text: str) -> None:
        """Handle a line that was typed during a turn."""
        if text.startswith("!"):
            is_used = self.chat.conversation.remark(text[1:])
            output.say(f"{_PROMPT}{text}" if is_used else f"All tasks have begun, so the remark was not used: {text}")
        elif text.partition(" ")[0] in _IMMEDIATE and " " not in text.strip():
            try:
                await commands.execute(self.chat, text)
            except GoalwrightError as error:
                commands.say_error(error)
        elif text.strip() in ("/quit", "/exit"):
            self._queue.appendleft("/quit")
            if self._stop is not None:
                self._stop.set(by_user=True)
        elif text.strip():
            self._queue.append(text)
            output.say(f"{_PROMPT}{text}\n  (queued until the turn ends)")

    def _end_line(self) -> None:
        """Remove the input line; unsent input is kept for the next one."""
        app = self._line.app
        if app.is_running and not app.is_done:
            self._unsent = self._line.default_buffer.text
            with suppress(Exception):  # it may end at the same time
                app.exit(exception=EOFError())

    def _interrupt(self) -> None:
        """Stop the turn or the command on Ctrl-C, a key or between two lines a signal; a second one leaves."""
        now = time.monotonic()
        previous, self._interrupted = self._interrupted, now
        leaves = now - previous < _LEAVE_WITHIN
        if leaves:
            self._queue.clear()
            self._queue.append("/quit")
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
        """Ask about a request in place of the input line."""
        if self.allow_all and (answer := await approve_all(request)) is not None:
            return answer
        async with self._without_line():
            return await TerminalApprover(nullcontext).ask(request)

    def _review_of(self, goal: str) -> Review | None:
        return partial(self._review, goal) if self.reviews else None

    async def _review(self, goal: str, plan: Plan) -> Plan | None:
        """Show a plan in place of the input line, and ask about it."""
        async with self._without_line():
            earlier = (await asyncio.to_thread(self.chat.conversation.seen)).earlier_ids
            return await PlanReview(self.chat.goalwright, goal, nullcontext, earlier).ask(plan)

    @asynccontextmanager
    async def _without_line(self) -> AsyncIterator[None]:
        """Remove the input line within the block, and ask nothing else."""
        async with self._asking:
            self._line_allowed.clear()
            self._end_line()
            try:
                while self._line.app.is_running:  # noqa: ASYNC110 - it ends within a frame, without an event
                    await asyncio.sleep(0.01)
                yield
            finally:
                self._line_allowed.set()
