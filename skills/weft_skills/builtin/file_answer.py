"""What the tools that read files share: the answer to a call, and numbers among its arguments."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from weft_skills.builtin.readable_roots import PathRefused
from weft_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from weft_skills.builtin.readable_roots import ReadableRoots

    Work = Callable[[Path, Mapping[str, Any]], tuple[str, dict[str, Any], bool]]


async def in_thread(roots: ReadableRoots, arguments: Mapping[str, Any], work: Work) -> Envelope:
    """Answer from a thread, so that a slow disk does not block other tasks."""
    import asyncio  # lazily: listing skills does not need it

    return await asyncio.to_thread(_answer, roots, arguments, work)


def _answer(roots: ReadableRoots, arguments: Mapping[str, Any], work: Work) -> Envelope:
    """Resolve the path, do the work, and put the result or the error into an envelope."""
    started = time.perf_counter()
    context = Context(str(roots.workspace), dict(arguments))
    try:
        real = roots.resolve(_path(roots, arguments))
        context = Context(str(roots.workspace), dict(arguments), str(real))
        text, data, partial = work(real, arguments)
    except PathRefused as error:
        return failure(error.code, error.message, context, time_ms=_since(started))
    except PermissionError as error:
        return failure(
            "PERMISSION_DENIED",
            f"the operating system denies it: {error}; read another file, or continue without it",
            context,
            time_ms=_since(started),
        )
    except OSError as error:
        return failure(
            "EXECUTION_ERROR",
            f"it cannot be read: {error}; read another file, or continue without it",
            context,
            time_ms=_since(started),
        )
    return Envelope("partial" if partial else "success", text, context, data, time_ms=_since(started))


def _path(roots: ReadableRoots, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path")
    if not isinstance(path, str):
        raise PathRefused(
            "INVALID_PARAM", f"path must be a string, not {path!r}; give one relative to {roots.workspace}"
        )
    return path


def number(arguments: Mapping[str, Any], name: str, default: int, least: int) -> int:
    """A whole number among the arguments; raises PathRefused if it is not one."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise PathRefused(
            "INVALID_PARAM", f"{name} must be an integer of at least {least}, not {value!r}; omit it for {default}"
        )
    return value


def _since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
