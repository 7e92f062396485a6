"""What a soak is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from tests.nursery import Nursery


@dataclass(frozen=True)
class Soak:
    """Runs with so many kills in an empty folder, raises at the first fault, and returns its figures.

    What counts as a kill has another `unit` where nothing is killed.
    The tests run it with `short` kills; not at all if that is 0, because another test does the same in less time.
    """

    name: str
    summary: str
    run: Callable[[Nursery, Path, int, Random], str]
    kills: int = 200
    short: int = 3
    unit: str = "kills"
