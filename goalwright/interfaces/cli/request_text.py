"""Requests that wait for a person, as text: what is asked, and the command that answers it."""

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

_SHORT = 8  # characters of a hash, which tell the requests of a run apart
_MAX_LINES = 60


def short_id(request: ApprovalRequest) -> str:
    """The id as it is shown: the beginning of the hash, and the number among equal requests."""
    call, _, number = request.id.partition("#")
    return f"{call[:_SHORT]}#{number}" if number else call[:_SHORT]


def title(request: ApprovalRequest) -> str:
    """What is asked for, in a few words."""
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
    """A request in full: who asks, for what, with which arguments, and its preview."""
    yield f"{short_id(request)}  {title(request)}"
    if request.arguments:
        yield from _arguments(request.arguments, max_width)
    if request.preview and not _repeats(request):
        yield from (f"    {line}" for line in _shortened(_lines(request.preview)))
    yield from (f"    {line}" for line in form_lines(request))


def command(resume: Sequence[str], requests: Sequence[ApprovalRequest]) -> str:
    """The command that answers the first request, of a run that `resume` resumes."""
    first = requests[0]
    if first.kind == "login":
        return f"{resume[0]} mcp login {shlex.quote(server_of(first))} && {shlex.join(resume)}"
    if first.kind == "question":
        only = sum(request.kind == "question" for request in requests) == 1
        what = "TEXT" if first.schema is None or len(fields(first.schema)) == 1 else "JSON"
        what = "yes" if first.schema is not None and not fields(first.schema) else what
        return f"{shlex.join(resume)} --answer {what if only else shlex.quote(f'{short_id(first)}={what}')}"
    return shlex.join([*resume, "--approve", short_id(first)])


def commands(resume: Sequence[str], requests: Sequence[ApprovalRequest]) -> list[str]:
    """The commands that answer the first request of each kind: a login, a question, an approval."""
    firsts: dict[str, ApprovalRequest] = {}
    for request in requests:
        firsts.setdefault(request.kind if request.kind in ("login", "question") else "approval", request)
    return [command(resume, [first, *(one for one in requests if one is not first)]) for first in firsts.values()]


def server_of(request: ApprovalRequest) -> str:
    """The MCP server that a login is needed at."""
    return str((request.arguments or {}).get("server") or "")


def form_lines(request: ApprovalRequest) -> Iterator[str]:
    """The fields of a form, each with what it takes."""
    return (f"  {line}" for line in described(request.schema or {}))


def _arguments(arguments: Mapping[str, Any], max_width: int | None) -> Iterator[str]:
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *more = _shortened(_lines(text))
        line = f"    {name}: {first}"
        yield line if max_width is None else width.wrap(line, max_width, 6)
        yield from (f"      {line}" for line in more)


def _repeats(request: ApprovalRequest) -> bool:
    """Whether the preview is only the call, which the arguments show already."""
    return request.tool is not None and request.preview.startswith(f"{request.tool}(")


def _lines(text: str) -> list[str]:
    """The lines of a text; nothing but a newline ends one, or part of an added line would look like an old one."""
    return text.removesuffix("\n").replace("\r\n", "\n").split("\n")


def _shortened(texts: list[str]) -> list[str]:
    if len(texts) <= _MAX_LINES:
        return texts
    return [*texts[:_MAX_LINES], f"… {len(texts) - _MAX_LINES} more lines"]
