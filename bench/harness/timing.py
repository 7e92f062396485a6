"""Timing in alternating rounds, so that other load on the machine affects all contenders alike."""

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
    """Elapsed seconds, and CPU seconds of all threads of a process."""

    elapsed: float
    cpu: float

    @classmethod
    def since(cls, start: Spent) -> Spent:
        """Return the time since `start`."""
        return cls(time.perf_counter() - start.elapsed, time.process_time() - start.cpu)

    @classmethod
    def now(cls) -> Spent:
        """Return the current time."""
        return cls(time.perf_counter(), time.process_time())


def time_process(run: Callable[[], object]) -> Spent:
    """Time a call that runs a child process to its end: elapsed time, and the child's CPU time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run()
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(took, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def spent(work: Callable[[], object]) -> Spent:
    """Time a call; a returned Spent, which leaves out setup, takes precedence."""
    gc.collect()
    start = Spent.now()
    result = work()
    took = Spent.since(start)
    return result if isinstance(result, Spent) else took


def alternate(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[Spent]]:
    """Time each contender once per round."""
    samples: dict[str, list[Spent]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            samples[name].append(spent(work))
    return samples


def coroutine(work: Callable[[], Coroutine[Any, Any, object]]) -> Callable[[], object]:
    """Turn a coroutine function into a contender."""
    return lambda: asyncio.run(work())


def median_ratio(ours: Sequence[float], floor: Sequence[float]) -> float:
    """Return the median ratio to the floor; each round is compared with its own floor."""
    return statistics.median(value / least for value, least in zip(ours, floor, strict=True))


def elapsed(samples: Sequence[Spent], scale: float = 1.0) -> list[float]:
    """Return the elapsed times, scaled."""
    return [sample.elapsed * scale for sample in samples]


def cpu(samples: Sequence[Spent], scale: float = 1.0) -> list[float]:
    """Return the CPU times, scaled."""
    return [sample.cpu * scale for sample in samples]


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of cost over size on logarithmic axes: 1 is linear, 2 is quadratic."""
    return float(statistics.linear_regression([_log(size) for size in sizes], [_log(cost) for cost in costs]).slope)


def _log(value: float) -> float:
    return log(max(value, 1e-9))
