"""Timing: contenders take turns, round by round, so that other load on the machine affects all alike."""

from __future__ import annotations

import asyncio
import gc
import resource
import statistics
import time
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence


class Spent(NamedTuple):
    """Seconds on the clock, and of CPU time of all threads of this process."""

    elapsed: float
    cpu: float

    @classmethod
    def since(cls, start: Spent) -> Spent:
        """What was spent since `start`."""
        return cls(time.perf_counter() - start.elapsed, time.process_time() - start.cpu)

    @classmethod
    def now(cls) -> Spent:
        """A moment to measure from."""
        return cls(time.perf_counter(), time.process_time())


def of_process(run: Callable[[], object]) -> Spent:
    """What a call takes that runs another process to its end: its elapsed time, and that process's CPU time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run()
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(took, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def spent(work: Callable[[], object]) -> Spent:
    """What a call takes; where it returns what it measured itself, without its set-up, that counts."""
    gc.collect()
    start = Spent.now()
    found = work()
    took = Spent.since(start)
    return found if isinstance(found, Spent) else took


def in_turn(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[Spent]]:
    """What each contender takes, in each of so many rounds."""
    samples: dict[str, list[Spent]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            samples[name].append(spent(work))
    return samples


def coroutine(work: Callable[[], Coroutine[Any, Any, object]]) -> Callable[[], object]:
    """A coroutine function as a contender."""
    return lambda: asyncio.run(work())


def over(ours: Sequence[float], floor: Sequence[float]) -> float:
    """How many times the floor: the median over the rounds, each compared with its own floor."""
    return statistics.median(one / other for one, other in zip(ours, floor, strict=True))


def elapsed(samples: Sequence[Spent], scale: float = 1.0) -> list[float]:
    """The elapsed times, in other units."""
    return [sample.elapsed * scale for sample in samples]


def cpu(samples: Sequence[Spent], scale: float = 1.0) -> list[float]:
    """The CPU times, in other units."""
    return [sample.cpu * scale for sample in samples]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of cost over size on logarithmic axes: 1 is linear, 2 is quadratic."""
    return float(statistics.linear_regression([_log(size) for size in sizes], [_log(cost) for cost in costs]).slope)


def _log(value: float) -> float:
    return log(max(value, 1e-9))
