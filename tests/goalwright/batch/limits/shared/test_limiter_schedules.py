"""Schedules of messages, deaths and clocks; `scripts/soak limiter-schedules` runs thousands."""

from __future__ import annotations

import pytest

from tests.limiter_schedule import run_schedule

PART = 12


@pytest.mark.parametrize("part", range(4))
def test_no_schedule_blocks_a_call_or_exceeds_the_rate(part: int) -> None:
    assert sum(map(run_schedule, range(part * PART, (part + 1) * PART))) > PART
