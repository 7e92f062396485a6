"""Killed with -9 at random moments over a 30-task graph: nothing is lost, mixed up or paid twice."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.conftest import replayed
from tests.soak import Soak, check

if TYPE_CHECKING:
    from pathlib import Path


def test_fifteen_kills_end_in_the_same_answer_and_no_finished_call_is_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    soak = Soak(folder)
    soak.until(15, random.Random())
    assert soak.kills >= 15
    check(soak.runs)
    assert all(drift == [] for drift in replayed(folder).values())
