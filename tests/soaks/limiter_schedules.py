"""Simulate workers that share a limiter: in no schedule does a call wait for ever or exceed the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.limiter_schedule import run_schedule
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.nursery import Nursery


def soak(_: Nursery, folder: Path, schedules: int, draw: Random) -> str:
    """As many schedules of messages, deaths and clocks; a fault names the seed of its own."""
    first = draw.randrange(10**6)
    calls = sum(run_schedule(first + number) for number in range(schedules))
    return f"{schedules} schedules from seed {first} on, {calls} calls: none waited for ever, no rate was exceeded"


SOAK = Soak(
    "limiter-schedules",
    "simulates messages, deaths and clocks of workers that share one limiter",
    soak,
    kills=10_000,
    short=0,
    unit="schedules",
)
