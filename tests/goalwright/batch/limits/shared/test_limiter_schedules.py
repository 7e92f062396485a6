"""Schedules of messages, deaths and clocks; `scripts/soak limiter-schedules` has thousands."""

from __future__ import annotations

import pytest

from tests.limiter_schedule import run_schedule

PART = 12


@pytest.mark.parametrize("part", range(4))
def test_in_no_schedule_does_a_call_wait_for_ever_or_exceed_the_rate(part: int) -> None:
    assert sum(map(run_schedule, range(part * PART, (part + 1) * PART))) > PART
