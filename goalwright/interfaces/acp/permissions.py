"""What a run asks a person, asked through the client."""

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
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Permissions:
    """Asks the client of one session, in a turn of it; nobody answers for it, and silence leaves a run waiting.

    What asks for a call names it as `updates` told it; `heard` returns when the client was told of all events so far.
    """

    client: Client
    session: str
    updates: Updates
    heard: Callable[[], Awaitable[None]]

    async def approve(self, request: ApprovalRequest) -> Answer | None:
        """The answer to a request; None leaves the run waiting, as a question does, which the next prompt answers."""
        if is_for_prompt(request):
            return None
        if page := request.page:
            return await self._opened(request, page)
        await self.heard()
        title = call_title(request.tool, request.arguments or {}) if request.tool else f"Start the task {request.task}"
        options = [_ALLOW, _ALLOW_REST, _REJECT] if request.tool else [_ALLOW, _REJECT]
        name = self.updates.call_of(request) or self._name(request.id)
        change = self.updates.change(request.tool or "", request.arguments or {})
        chosen = await self._ask(name, title, request.preview, options, request.arguments, change or ())
        if chosen is None:
            return None
        if chosen == _REJECT.option_id:
            return Answer("deny", by="acp")
        return Answer("allow_rest" if chosen == _ALLOW_REST.option_id else "allow", by="acp")

    async def _opened(self, request: ApprovalRequest, page: str) -> Answer | None:
        """Whether the person has opened a page, as a server asks; they see its address first."""
        text = f"{request.preview}\n\n{page}"
        chosen = await self._ask(self._name(request.id), "Open this page, then allow", text, [_ALLOW, _REJECT], None)
        if chosen is None:
            return None
        return Answer("answer", text="yes", by="acp") if chosen == _ALLOW.option_id else Answer("deny", by="acp")

    async def review(self, plan: Plan) -> Plan | None:
        """The plan if it may run; None if it may not."""
        lines = "\n".join(f"{number}. {task.title or task.id}" for number, task in enumerate(plan.tasks, 1))
        chosen = await self._ask(self._name("plan"), "Run this plan?", lines, [_ALLOW, _REJECT], None)
        return plan if chosen == _ALLOW.option_id else None

    def _name(self, about: str) -> str:
        """An id of what is no tool call: equal requests of several turns are not one."""
        return f"{self.updates.turn}-{about}"

    async def _ask(
        self,
        name: str,
        title: str,
        text: str,
        options: list[PermissionOption],
        given: Any,
        change: Sequence[Any] = (),
    ) -> str | None:
        call = ToolCallUpdate(
            tool_call_id=name,
            title=title,
            status="pending",
            content=[*change, *([tool_content(text_block(text[:_MOST_TEXT]))] if text else [])] or None,
            raw_input=dict(given) if given is not None else None,
        )
        try:
            reply = await self.client.request_permission(session_id=self.session, tool_call=call, options=options)
        except (RequestError, ConnectionError):  # the editor was closed
            return None
        outcome = reply.outcome
        known = {option.option_id for option in options}
        return outcome.option_id if isinstance(outcome, AllowedOutcome) and outcome.option_id in known else None
