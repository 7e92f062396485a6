"""An event loop with virtual time: waiting takes no time, and every run is deterministic."""

from __future__ import annotations

import asyncio
import selectors
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class _Selector(selectors.DefaultSelector):
    """Sums up timeouts instead of waiting."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready: list[Any] = super().select(0)
        if not ready:
            assert timeout is not None, "deadlock: every task waits"
            self.waited += timeout
        return ready


class Inline(ThreadPoolExecutor):
    """Runs thread work inline, so that no virtual time passes meanwhile."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **options))
        except Exception as error:  # noqa: BLE001 - the caller gets it
            done.set_exception(error)
        return done


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock advances by its timeouts."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        self.set_default_executor(Inline())

    def time(self) -> float:
        return 1_000.0 + self._virtual.waited

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - asyncio's own
        """Do nothing, since there are no threads."""


def run_virtually(main: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main)
