"""Measures how time grows with size, independent of the speed and load of the machine."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Shorter times are noise.
_LEAST = 0.002
_ROUNDS = 3


def growth(work: Callable[[int], object], few: int, many: int) -> float:
    """Return the exponent of time over size: 1 is linear, 2 is quadratic."""
    # Alternating, so that a slowdown of the machine affects both sizes.
    rounds = [(_seconds(work, few), _seconds(work, many)) for _ in range(_ROUNDS)]
    less, more = (max(_LEAST, min(times)) for times in zip(*rounds, strict=True))
    return math.log(more / less) / math.log(many / few)


def _seconds(work: Callable[[int], object], count: int) -> float:
    began = time.thread_time()
    work(count)
    return time.thread_time() - began
