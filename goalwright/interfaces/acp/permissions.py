"""Asks the requests of a run through the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp.exceptions import RequestError
from acp.helpers import text_block, tool_content
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from goalwright.interfaces.acp.updates import call_title, is_for_prompt
from goalwright_planner.approvals import Answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from acp.interfaces import Client

    from goalwright.interfaces.acp.updates import Updates
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.plan.plan import Plan

_ALLOW = PermissionOption(option_id="allow", name="Allow", kind="allow_once")
_ALLOW_REST = PermissionOption(option_id="allow_rest", name="Allow for this run", kind="allow_always")
_REJECT = PermissionOption(option_id="reject", name="Reject", kind="reject_once")
_MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Permissions:
    """Asks the client of a session during a turn; without an answer the run waits.

    Requests about a tool call use its id in `updates`; `flushed` returns when all events so far have been sent.
    """

    client: Client
    session: str
    updates: Updates
    flushed: Callable[[], Awaitable[None]]

    async def approve(self, request: ApprovalRequest) -> Answer | None:
        """Return the answer to a request; None leaves the run waiting, for example until the next prompt."""
        if is_for_prompt(request):
            return None
        if page := request.page:
            return await self._ask_to_open(request, page)
        await self.flushed()
        title = call_title(request.tool, request.arguments or {}) if request.tool else f"Start the task {request.task}"
        options = [_ALLOW, _ALLOW_REST, _REJECT] if request.tool else [_ALLOW, _REJECT]
        call_id = self.updates.call_of(request) or self._call_id(request.id)
        change = self.updates.change(request.tool or "", request.arguments or {})
        chosen = await self._ask(call_id, title, request.preview, options, request.arguments, change or ())
        if chosen is None:
            return None
        if chosen == _REJECT.option_id:
            return Answer("deny", by="acp")
        return Answer("allow_rest" if chosen == _ALLOW_REST.option_id else "allow", by="acp")

    async def _ask_to_open(self, request: ApprovalRequest, page: str) -> Answer | None:
        """Ask the person to open a page of a server, showing its address first."""
        text = f"{request.preview}\n\n{page}"
        chosen = await self._ask(self._call_id(request.id), "Open this page, then allow", text, [_ALLOW, _REJECT], None)
        if chosen is None:
            return None
        return Answer("answer", text="yes", by="acp") if chosen == _ALLOW.option_id else Answer("deny", by="acp")

    async def review(self, plan: Plan) -> Plan | None:
        """Return the plan if it is accepted, otherwise None."""
        lines = "\n".join(f"{number}. {task.title or task.id}" for number, task in enumerate(plan.tasks, 1))
        chosen = await self._ask(self._call_id("plan"), "Run this plan?", lines, [_ALLOW, _REJECT], None)
        return plan if chosen == _ALLOW.option_id else None

    def _call_id(self, suffix: str) -> str:
        """Return an id for a request without a tool call, unique to the turn."""
        return f"{self.updates.turn}-{suffix}"

    async def _ask(
        self,
        call_id: str,
        title: str,
        text: str,
        options: list[PermissionOption],
        arguments: Any,
        change: Sequence[Any] = (),
    ) -> str | None:
        call = ToolCallUpdate(
            tool_call_id=call_id,
            title=title,
            status="pending",
            content=[*change, *([tool_content(text_block(text[:_MAX_TEXT]))] if text else [])] or None,
            raw_input=dict(arguments) if arguments is not None else None,
        )
        try:
            reply = await self.client.request_permission(session_id=self.session, tool_call=call, options=options)
        except (RequestError, ConnectionError):  # the editor was closed
            return None
        outcome = reply.outcome
        option_ids = {option.option_id for option in options}
        return outcome.option_id if isinstance(outcome, AllowedOutcome) and outcome.option_id in option_ids else None
