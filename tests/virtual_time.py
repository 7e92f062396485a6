"""An event loop whose time passes at once: minutes of waiting take no time, and every run is the same."""

from __future__ import annotations

import asyncio
import selectors
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class _Selector(selectors.DefaultSelector):
    """Does not wait for time to pass, but notes how long it would have."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        found: list[Any] = super().select(0)
        if not found:
            assert timeout is not None, "nothing will ever happen: every task waits"
            self.waited += timeout
        return found


class Inline(ThreadPoolExecutor):
    """Does at once what a thread would do: while one works, no time must pass; to start one takes time too."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **options))
        except Exception as error:  # noqa: BLE001 - the caller gets it
            done.set_exception(error)
        return done


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock is moved by what its tasks wait for."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        self.set_default_executor(Inline())

    def time(self) -> float:
        return 1_000.0 + self._virtual.waited

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - asyncio's own
        """There are no threads to wait for, and no thread may be waited for: no time passes meanwhile."""


def run_virtually(main: Coroutine[Any, Any, object]) -> None:
    """Run to the end without waiting for time to pass."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main)
