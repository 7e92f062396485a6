"""How the time of some work grows with its amount: a figure that a slow or busy machine does not change."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Less than this is not told apart from noise.
_LEAST = 0.002


def growth(work: Callable[[int], object], few: int, many: int) -> float:
    """The power of the amount that the time grows with: 1 if twice as much takes twice as long, 2 if four times."""
    less, more = (max(_LEAST, min(_seconds(work, count) for _ in range(2))) for count in (few, many))
    return math.log(more / less) / math.log(many / few)


def _seconds(work: Callable[[int], object], count: int) -> float:
    began = time.thread_time()
    work(count)
    return time.thread_time() - began
