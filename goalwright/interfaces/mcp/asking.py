"""What a run waits for, asked by way of the client: its own user answers, in either form of the protocol."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, InputRequiredResult
from pydantic import ValidationError

from goalwright_planner.approvals import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.server.mcpserver import Context

_MOST = 20
_DECISION = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Allow it?", "enum": ["allow", "deny"]},
        "note": {"type": "string", "title": "Why not, or a note"},
    },
    "required": ["decision"],
}
_TEXT = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def askable(ctx: Context[Any], waiting: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What the client says that it can ask its user: forms, pages to open, or both; naming neither means forms."""
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities is not None else None
    if declared is None:
        return []
    pages, forms = declared.url is not None, declared.form is not None or declared.url is None
    asked = [row for row in waiting if row["kind"] != "login"]  # which nobody can answer here
    return [row for row in asked if (pages if _page(row) else forms)]


def in_call(ctx: Context[Any]) -> bool:
    """Whether the client can be asked while the call goes on, as before 2026."""
    return bool(ctx.request_context.session.can_send_request)


def needed(run_id: str, waiting: Sequence[Mapping[str, Any]]) -> InputRequiredResult:
    """The answer that asks for answers: the client makes the call again with them, and with the run's id."""
    requests = {str(row["id"]): ElicitRequest(params=_params(row)) for row in waiting[:_MOST]}
    return InputRequiredResult(input_requests={**requests}, request_state=run_id)


def given(ctx: Context[Any]) -> list[tuple[str, Any]]:
    """What the client brings when it makes the call again."""
    responses = ctx.input_responses or {}
    return [(name, said) for name, said in responses.items() if isinstance(said, ElicitResult)]


async def ask_now(ctx: Context[Any], waiting: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """What the user says to each request, asked in the middle of the call; a client that fails is asked no further."""
    session, found = ctx.request_context.session, []
    with suppress(MCPError, ValidationError):
        for row in waiting[:_MOST]:
            params = _params(row)
            if isinstance(params, ElicitRequestURLParams):
                said = await session.elicit_url(params.message, params.url, row["id"], ctx.request_id)
            else:
                said = await session.elicit_form(params.message, params.requested_schema, ctx.request_id)
            found.append((row["id"], said))
    return found


def answers(said: Sequence[tuple[str, ElicitResult]], waiting: Sequence[Mapping[str, Any]]) -> list[tuple[str, Answer]]:
    """The answers as a run takes them; one that was put off is none."""
    rows = {row["id"]: row for row in waiting}
    found = [(name, _answer(rows[name], result)) for name, result in said if name in rows]
    return [(name, answer) for name, answer in found if answer is not None]


def _page(row: Mapping[str, Any]) -> str | None:
    """The address of the page that a question asks to open."""
    return (row.get("arguments") or {}).get("url") if row["kind"] == "question" else None


def _params(row: Mapping[str, Any]) -> ElicitRequestFormParams | ElicitRequestURLParams:
    if url := _page(row):
        return ElicitRequestURLParams(message=row["preview"], url=url, elicitation_id=row["id"])
    schema = row.get("schema") or _TEXT if row["kind"] == "question" else _DECISION
    return ElicitRequestFormParams(message=_message(row), requested_schema=schema)


def _message(row: Mapping[str, Any]) -> str:
    what = {"tool": f"May it call {row['tool']}?", "task": f"May the task {row['task']} run?"}.get(row["kind"], "")
    arguments = row.get("arguments") if row["kind"] == "tool" else None
    shown = json.dumps(arguments, ensure_ascii=False)[:2_000] if arguments else ""
    return "\n".join(filter(None, (what, row.get("preview") or "", shown)))


def _answer(row: Mapping[str, Any], said: ElicitResult) -> Answer | None:
    if said.action == "cancel":
        return None
    content = dict(said.content or {})
    if row["kind"] == "question":
        if said.action == "decline":
            return Answer("deny", by="mcp") if row.get("schema") is not None else None
        if row.get("schema") is None:
            return Answer("answer", text=str(content.get("answer") or ""), by="mcp")
        return Answer("answer", text=json.dumps(content, ensure_ascii=False) if content else "yes", by="mcp")
    allowed = said.action == "accept" and content.get("decision") == "allow"
    return Answer("allow" if allowed else "deny", note=str(content.get("note") or ""), by="mcp")
