"""The text of requests that wait for the user, and the commands that answer them."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import width
from goalwright_skills.tools.form import described, fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from goalwright_planner.approvals import ApprovalRequest

_SHORT = 8  # characters of a hash
_MAX_LINES = 60


def short_id(request: ApprovalRequest) -> str:
    """Return the displayed id: the beginning of the hash, and the number among equal requests."""
    call, _, number = request.id.partition("#")
    return f"{call[:_SHORT]}#{number}" if number else call[:_SHORT]


def title(request: ApprovalRequest) -> str:
    """Return a title for a request."""
    match request.kind:
        case "login":
            return f"task {request.task} needs a login"
        case "question" if request.schema is not None:
            return f"task {request.task} was asked by {request.tool}"
        case "question":
            return f"task {request.task} asks a question" if request.task else "the planner asks a question"
        case "task":
            return f"task {request.task} wants to start"
        case _:
            return f"task {request.task} wants to call {request.tool}"


def lines(request: ApprovalRequest, max_width: int | None = None) -> Iterator[str]:
    """Yield the lines of a request: id, title, arguments and preview."""
    yield f"{short_id(request)}  {title(request)}"
    if request.arguments:
        yield from _arguments(request.arguments, max_width)
    if request.preview and not _repeats(request):
        yield from (f"    {line}" for line in _shortened(_lines(request.preview)))
    yield from (f"    {line}" for line in form_lines(request))


def command(resume: Sequence[str], requests: Sequence[ApprovalRequest]) -> str:
    """Return the command that answers the first request; `resume` resumes its run."""
    first = requests[0]
    if first.kind == "login":
        return f"{resume[0]} mcp login {shlex.quote(server_of(first))} && {shlex.join(resume)}"
    if first.kind == "question":
        only = sum(request.kind == "question" for request in requests) == 1
        value = "TEXT" if first.schema is None or len(fields(first.schema)) == 1 else "JSON"
        value = "yes" if first.schema is not None and not fields(first.schema) else value
        return f"{shlex.join(resume)} --answer {value if only else shlex.quote(f'{short_id(first)}={value}')}"
    return shlex.join([*resume, "--approve", short_id(first)])


def commands(resume: Sequence[str], requests: Sequence[ApprovalRequest]) -> list[str]:
    """Return the commands that answer the first login, question and approval."""
    firsts: dict[str, ApprovalRequest] = {}
    for request in requests:
        firsts.setdefault(request.kind if request.kind in ("login", "question") else "approval", request)
    return [command(resume, [first, *(r for r in requests if r is not first)]) for first in firsts.values()]


def server_of(request: ApprovalRequest) -> str:
    """Return the MCP server that needs a login."""
    return str((request.arguments or {}).get("server") or "")


def form_lines(request: ApprovalRequest) -> Iterator[str]:
    """Yield the fields of a form with their types."""
    return (f"  {line}" for line in described(request.schema or {}))


def _arguments(arguments: Mapping[str, Any], max_width: int | None) -> Iterator[str]:
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *others = _shortened(_lines(text))
        line = f"    {name}: {first}"
        yield line if max_width is None else width.wrap(line, max_width, 6)
        yield from (f"      {line}" for line in others)


def _repeats(request: ApprovalRequest) -> bool:
    """Whether the preview only repeats the call."""
    return request.tool is not None and request.preview.startswith(f"{request.tool}(")


def _lines(text: str) -> list[str]:
    """Split a text at newlines only, so that no part of an added line of a diff looks like a context line."""
    return text.removesuffix("\n").replace("\r\n", "\n").split("\n")


def _shortened(texts: list[str]) -> list[str]:
    if len(texts) <= _MAX_LINES:
        return texts
    return [*texts[:_MAX_LINES], f"… {len(texts) - _MAX_LINES} more lines"]
