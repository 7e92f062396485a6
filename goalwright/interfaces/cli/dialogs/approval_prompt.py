"""Ask the user for approvals and answers while the other tasks of a run continue."""

from __future__ import annotations

import asyncio
import json
import webbrowser
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli import request_text
from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.dialogs.terminal import typed_answer, typed_line
from goalwright.interfaces.cli.view import output
from goalwright.runs.stored.requests import approve_all
from goalwright_planner.approvals import Answer
from goalwright_skills.tools.form import fields

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_planner.approvals import ApprovalRequest, Approve

_CHOICES = "Allow it? [y]es, [n]o, [a]ll calls of this tool, [e]dit the arguments, [l]ater: "
_CHOICES_OF_TASK = "Allow it? [y]es, [n]o, [l]ater: "


def approver(
    mode: OutputMode,
    paused: Callable[[], AbstractContextManager[None]],
    *,
    allow: bool,
    log_in: Callable[[str], Awaitable[bool]] | None = None,
) -> Approve | None:
    """Return the function that answers a run's requests: --approve-all, the terminal, or None."""
    at_terminal = TerminalApprover(paused, log_in) if terminal.can_ask() and not mode.as_json else None
    if not allow:
        return at_terminal.ask if at_terminal is not None else None

    async def allow_all(request: ApprovalRequest) -> Answer | None:
        answer = await approve_all(request)
        return await at_terminal.ask(request) if answer is None and at_terminal is not None else answer

    return allow_all


@dataclass(slots=True)
class TerminalApprover:
    """Asks one request at a time; `paused` hides the progress meanwhile."""

    paused: Callable[[], AbstractContextManager[None]]
    log_in: Callable[[str], Awaitable[bool]] | None = None
    allowed_tools: set[str] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, request: ApprovalRequest) -> Answer | None:
        """Return the user's answer; None leaves the request for later (Ctrl-D)."""
        async with self._turn:
            if request.kind == "tool" and request.tool in self.allowed_tools:
                return Answer("allow", by="cli")  # allowed while this request waited
            with self.paused():
                if request.kind == "question":
                    return await _answer_question(request)
                if request.kind == "login":
                    return await self._log_in(request)
                output.say("\n" + "\n".join(request_text.lines(request)))
                return await self._decision(request)

    async def _log_in(self, request: ApprovalRequest) -> Answer | None:
        output.say(f"\n{request.preview}")
        match (await typed_line("Log in now? [y]es, [n]o, [l]ater: ") or "later").strip().lower()[:1]:
            case "y" if self.log_in is not None:
                done = await self.log_in(request_text.server_of(request))
                return Answer("allow", by="cli") if done else None
            case "n":
                return Answer("deny", by="cli")
        return None

    async def _decision(self, request: ApprovalRequest) -> Answer | None:
        choices = _CHOICES_OF_TASK if request.tool is None else _CHOICES
        while True:
            match (await typed_line(choices) or "later").strip().lower()[:1]:
                case "y":
                    return Answer("allow", by="cli")
                case "n":
                    return Answer("deny", note=(await typed_line("Why not (may be empty)? ") or "").strip(), by="cli")
                case "a" if request.tool is not None:
                    self.allowed_tools.add(request.tool)
                    return Answer("allow_rest", by="cli")
                case "e" if request.tool is not None:
                    if (arguments := await _edited(request)) is not None:
                        return Answer("edit", arguments=arguments, by="cli")
                case "l":
                    return None
                case _:
                    continue


async def _answer_question(request: ApprovalRequest) -> Answer | None:
    output.say("\n".join((f"\n{request.preview}", *request_text.form_lines(request))))
    if request.schema is not None:
        return await _filled_in(request)
    text = await typed_answer()
    return Answer("answer", text=text, by="cli") if text is not None else None


async def _filled_in(request: ApprovalRequest) -> Answer | None:
    """Ask for the fields of a form, or whether to open a page."""
    if url := (request.arguments or {}).get("url"):
        match (await typed_line(f"Open {url}? [y]es, [n]o, [l]ater: ") or "later").strip().lower()[:1]:
            case "y":
                await asyncio.to_thread(webbrowser.open, str(url))
                return Answer("answer", text="yes", by="cli")
            case "n":
                return Answer("deny", by="cli")
        return None
    while True:
        values: dict[str, Any] = {}
        for name in fields(request.schema or {}):
            text = await typed_line(f"{name} (empty: skip, -: decline): ")
            if text is None or text.strip() == "-":
                return None if text is None else Answer("deny", by="cli")
            if text.strip():
                values[name] = text.strip()
        answer = Answer("answer", text=json.dumps(values, ensure_ascii=False), by="cli")
        if (fault := answer.fault(request)) is None:
            return answer
        output.say(fault)


async def _edited(request: ApprovalRequest) -> Mapping[str, Any] | None:
    """Ask for new arguments as JSON; None if the text is not a JSON object."""
    output.say(f"Now: {json.dumps(dict(request.arguments or {}), ensure_ascii=False)}")
    text = await typed_line("New arguments (one line of JSON): ")
    try:
        value = json.loads(text or "")
    except ValueError as error:
        output.say(f"This is not valid JSON: {error}")
        return None
    if not isinstance(value, dict):
        output.say('This is not a JSON object such as {"path": "report.md"}')
        return None
    return value
