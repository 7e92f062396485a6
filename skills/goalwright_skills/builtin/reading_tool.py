"""The base class of the tools that read files, and their common argument checks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import TEXT_LIMIT, Context, Envelope, failure, time_since
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from goalwright_skills.builtin.readable_roots import ReadableRoots
    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.tools.envelope import Code

    Work = Callable[[Path, Mapping[str, Any]], tuple[str, dict[str, Any], bool]]


class ReadingTool:
    """A read-only tool for files below the roots."""

    def __init__(self, roots: ReadableRoots) -> None:
        self._roots = roots

    @classmethod
    def of(cls, run: ToolContext) -> Self:
        """Return the tool of one task."""
        return cls(run.roots)

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """Return that a call only reads."""
        return READ_ONLY


async def in_thread(roots: ReadableRoots, arguments: Mapping[str, Any], work: Work) -> Envelope:
    """Do the work in a thread, so that a slow disk does not block other tasks."""
    import asyncio  # lazy: listing skills does not need it

    return await asyncio.to_thread(_answer, roots, arguments, work)


def _answer(roots: ReadableRoots, arguments: Mapping[str, Any], work: Work) -> Envelope:
    """Resolve the path, do the work, and return the result or the error as an envelope."""
    start = time.monotonic()
    context = Context(str(roots.workspace), dict(arguments))
    try:
        real = roots.resolve(_path(roots, arguments))
        context = Context(str(roots.workspace), dict(arguments), str(real))
        text, data, partial = work(real, arguments)
    except ToolFault as error:
        return failure(error.code, error.message, context, time_ms=time_since(start))
    except OSError as error:
        is_denied = isinstance(error, PermissionError)
        reason = f"the operating system denies access: {error}" if is_denied else f"the file cannot be read: {error}"
        message = f"{reason}; read another file, or continue without it"
        code: Code = "PERMISSION_DENIED" if is_denied else "EXECUTION_ERROR"
        return failure(code, message, context, time_ms=time_since(start))
    return Envelope("partial" if partial else "success", text, context, data, time_ms=time_since(start))


def _path(roots: ReadableRoots, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path")
    if not isinstance(path, str):
        raise ToolFault("INVALID_PARAM", f"path must be a string, not {path!r}; give one relative to {roots.workspace}")
    return path


def fitting(lines: Iterable[str], room: int) -> tuple[str, int]:
    """Join the lines that fit into an answer with `room` left for notes; returns the text and their number."""
    text, shown = "", 0
    for line in lines:
        if len(text) + len(line) + room > TEXT_LIMIT:
            break
        text, shown = f"{text}{line}\n", shown + 1
    return text, shown


def number(arguments: Mapping[str, Any], name: str, default: int, minimum: int) -> int:
    """Return an integer argument; raises ToolFault if it is not an integer of at least `minimum`."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ToolFault(
            "INVALID_PARAM", f"{name} must be an integer of at least {minimum}, not {value!r}; omit it for {default}"
        )
    return value
