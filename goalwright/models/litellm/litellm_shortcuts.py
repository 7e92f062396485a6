"""Leaves out what litellm and its OpenAI client do for a call without effect: about a third of its CPU time.

The client walks through messages and tools to rename fields, of which chat completions have none; litellm prepares a
log entry for callbacks, of which there are none unless a program has set them, and of a streamed answer one more after
its end.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

_CLIENT = "openai.resources.chat.completions.completions"
_CALLBACKS = (
    "callbacks", "input_callback", "success_callback", "failure_callback",
    "_async_input_callback", "_async_success_callback", "_async_failure_callback",
)  # fmt: skip


def install() -> None:
    """Have the client send plain JSON as it is; it is imported late, so every call comes here."""
    client = sys.modules.get(_CLIENT)
    transform = getattr(client, "async_maybe_transform", None)
    if transform is not None and not hasattr(transform, "__wrapped__"):
        client.async_maybe_transform = _or_as_it_is(transform)  # type: ignore[union-attr]


def is_heard(litellm: Any, arguments: Mapping[str, Any]) -> bool:
    """Whether a program has set a callback that hears of a call."""
    return any(arguments.get(name) or getattr(litellm, name, None) for name in _CALLBACKS)


def is_over(stream: Any) -> bool:
    """Whether litellm has said what a streamed answer used, which comes last: all that is left is to log it."""
    return bool(getattr(stream, "sent_stream_usage", False))


@contextmanager
def unlogged(litellm: Any, arguments: Mapping[str, Any]) -> Iterator[None]:
    """Keep litellm from preparing a log entry for the call made within, if nobody would get it."""
    internal = getattr(sys.modules.get("litellm._internal_context"), "is_internal_call", None)
    if internal is None or is_heard(litellm, arguments):
        yield
        return
    token = internal.set(True)
    try:
        yield
    finally:
        internal.reset(token)


def _or_as_it_is(transform: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
    @wraps(transform)
    async def maybe_transform(data: Any, expected_type: Any) -> Any:
        from openai._utils import is_given

        if type(data) is dict and not renames(expected_type):
            given = {name: value for name, value in data.items() if is_given(value)}
            if is_json(given):
                return given
        return await transform(data, expected_type)

    return maybe_transform


def is_json(value: Any) -> bool:
    """Whether a value consists of nothing but what JSON has."""
    kind = type(value)
    if kind is dict:
        return all(map(is_json, value.values()))
    if kind is list:
        return all(map(is_json, value))
    return kind in (str, int, float, bool, type(None))


@cache
def renames(expected_type: Any) -> bool:
    """Whether the client would write a field of this type under another name or in another form."""
    from openai._utils import PropertyInfo
    from typing_extensions import is_typeddict

    seen: set[Any] = set()
    left = [expected_type]
    while left:
        annotation = left.pop()
        if isinstance(annotation, PropertyInfo) and (annotation.alias or annotation.format):
            return True
        if annotation not in seen:
            seen.add(annotation)
            left += (
                get_type_hints(annotation, include_extras=True).values()
                if is_typeddict(annotation)
                else get_args(annotation)
            )
    return False
