"""Asks the client's user the open requests of a run, in both forms of the protocol."""

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

_MAX_REQUESTS = 20
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
    """Return the requests that the client can ask its user: forms, pages to open, or both; by default forms."""
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities is not None else None
    if declared is None:
        return []
    pages, forms = declared.url is not None, declared.form is not None or declared.url is None
    answerable = [row for row in waiting if row["kind"] != "login"]
    return [row for row in answerable if (pages if _page(row) else forms)]


def in_call(ctx: Context[Any]) -> bool:
    """Return whether the client can be asked during the call, as in protocols before 2026."""
    return bool(ctx.request_context.session.can_send_request)


def needed(run_id: str, waiting: Sequence[Mapping[str, Any]]) -> InputRequiredResult:
    """Return the result that asks for answers; the client repeats the call with them and the run's id."""
    requests = {str(row["id"]): ElicitRequest(params=_params(row)) for row in waiting[:_MAX_REQUESTS]}
    return InputRequiredResult(input_requests={**requests}, request_state=run_id)


def responses_of(ctx: Context[Any]) -> list[tuple[str, Any]]:
    """Return the responses of the client to `needed`, when it repeats the call."""
    responses = ctx.input_responses or {}
    return [(name, response) for name, response in responses.items() if isinstance(response, ElicitResult)]


async def ask_now(ctx: Context[Any], waiting: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Ask the user each request during the call; returns the responses up to the first error of the client."""
    session, responses = ctx.request_context.session, []
    with suppress(MCPError, ValidationError):
        for row in waiting[:_MAX_REQUESTS]:
            params = _params(row)
            if isinstance(params, ElicitRequestURLParams):
                response = await session.elicit_url(params.message, params.url, row["id"], ctx.request_id)
            else:
                response = await session.elicit_form(params.message, params.requested_schema, ctx.request_id)
            responses.append((row["id"], response))
    return responses


def answers(
    responses: Sequence[tuple[str, ElicitResult]], waiting: Sequence[Mapping[str, Any]]
) -> list[tuple[str, Answer]]:
    """Convert responses to answers of the run; a cancelled one is left out."""
    rows = {row["id"]: row for row in waiting}
    converted = [(name, _answer(rows[name], response)) for name, response in responses if name in rows]
    return [(name, answer) for name, answer in converted if answer is not None]


def _page(row: Mapping[str, Any]) -> str | None:
    """Return the URL of the page that a question asks to open."""
    return (row.get("arguments") or {}).get("url") if row["kind"] == "question" else None


def _params(row: Mapping[str, Any]) -> ElicitRequestFormParams | ElicitRequestURLParams:
    if url := _page(row):
        return ElicitRequestURLParams(message=row["preview"], url=url, elicitation_id=row["id"])
    schema = row.get("schema") or _TEXT if row["kind"] == "question" else _DECISION
    return ElicitRequestFormParams(message=_message(row), requested_schema=schema)


def _message(row: Mapping[str, Any]) -> str:
    question = {"tool": f"May it call {row['tool']}?", "task": f"May the task {row['task']} run?"}.get(row["kind"], "")
    arguments = row.get("arguments") if row["kind"] == "tool" else None
    arguments_text = json.dumps(arguments, ensure_ascii=False)[:2_000] if arguments else ""
    return "\n".join(filter(None, (question, row.get("preview") or "", arguments_text)))


def _answer(row: Mapping[str, Any], response: ElicitResult) -> Answer | None:
    if response.action == "cancel":
        return None
    content = dict(response.content or {})
    if row["kind"] == "question":
        if response.action == "decline":
            return Answer("deny", by="mcp") if row.get("schema") is not None else None
        if row.get("schema") is None:
            return Answer("answer", text=str(content.get("answer") or ""), by="mcp")
        return Answer("answer", text=json.dumps(content, ensure_ascii=False) if content else "yes", by="mcp")
    allowed = response.action == "accept" and content.get("decision") == "allow"
    return Answer("allow" if allowed else "deny", note=str(content.get("note") or ""), by="mcp")
