"""What the tools that read files share: the answer to a call, and numbers among its arguments."""

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
    """A tool that reads below the roots, and changes nothing."""

    def __init__(self, roots: ReadableRoots) -> None:
        self._roots = roots

    @classmethod
    def of(cls, run: ToolContext) -> Self:
        """The tool of one task."""
        return cls(run.roots)

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """It only reads."""
        return READ_ONLY


async def in_thread(roots: ReadableRoots, arguments: Mapping[str, Any], work: Work) -> Envelope:
    """Answer from a thread, so that a slow disk does not block other tasks."""
    import asyncio  # lazily: listing skills does not need it

    return await asyncio.to_thread(_answer, roots, arguments, work)


def _answer(roots: ReadableRoots, arguments: Mapping[str, Any], work: Work) -> Envelope:
    """Resolve the path, do the work, and put the result or the error into an envelope."""
    started = time.monotonic()
    context = Context(str(roots.workspace), dict(arguments))
    try:
        real = roots.resolve(_path(roots, arguments))
        context = Context(str(roots.workspace), dict(arguments), str(real))
        text, data, partial = work(real, arguments)
    except ToolFault as error:
        return failure(error.code, error.message, context, time_ms=time_since(started))
    except OSError as error:
        denied = isinstance(error, PermissionError)
        what = f"the operating system denies it: {error}" if denied else f"it cannot be read: {error}"
        message = f"{what}; read another file, or continue without it"
        code: Code = "PERMISSION_DENIED" if denied else "EXECUTION_ERROR"
        return failure(code, message, context, time_ms=time_since(started))
    return Envelope("partial" if partial else "success", text, context, data, time_ms=time_since(started))


def _path(roots: ReadableRoots, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path")
    if not isinstance(path, str):
        raise ToolFault("INVALID_PARAM", f"path must be a string, not {path!r}; give one relative to {roots.workspace}")
    return path


def fitting(lines: Iterable[str], room: int) -> tuple[str, int]:
    """As many lines as fit an answer that has `room` for something else, and how many these are."""
    text, shown = "", 0
    for line in lines:
        if len(text) + len(line) + room > TEXT_LIMIT:
            break
        text, shown = f"{text}{line}\n", shown + 1
    return text, shown


def number(arguments: Mapping[str, Any], name: str, default: int, least: int) -> int:
    """A whole number among the arguments; raises ToolFault if it is not one."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ToolFault(
            "INVALID_PARAM", f"{name} must be an integer of at least {least}, not {value!r}; omit it for {default}"
        )
    return value
