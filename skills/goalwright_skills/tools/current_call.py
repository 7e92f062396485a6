"""The key of the call that a tool is making: the same when a resumed run makes it again."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY: ContextVar[str] = ContextVar("call", default="")


def current_call() -> str:
    """The key of the current call; empty outside a run."""
    return _KEY.get()


@contextmanager
def calling(key: str) -> Iterator[None]:
    """Within the block, the current call has this key."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)
