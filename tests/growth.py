"""How the time of some work grows with its amount: a figure that a slow or busy machine does not change."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Less than this is not told apart from noise.
_LEAST = 0.002
_ROUNDS = 3


def growth(work: Callable[[int], object], few: int, many: int) -> float:
    """The power of the amount that the time grows with: 1 if twice as much takes twice as long, 2 if four times."""
    # In turns, so that a machine that slows down in between slows both down.
    rounds = [(_seconds(work, few), _seconds(work, many)) for _ in range(_ROUNDS)]
    less, more = (max(_LEAST, min(times)) for times in zip(*rounds, strict=True))
    return math.log(more / less) / math.log(many / few)


def _seconds(work: Callable[[int], object], count: int) -> float:
    began = time.thread_time()
    work(count)
    return time.thread_time() - began
