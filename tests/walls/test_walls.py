"""The quick attacks, as this user: the short form of `python -m tests.walls`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills.workbench import WALLS, Workbench, walls
from tests.walls.registry import Skipped, known

if TYPE_CHECKING:
    from pathlib import Path

    from tests.walls.registry import Probe

pytestmark = pytest.mark.slow

ATTACKS = [pytest.param(one, id=one.name, marks=[pytest.mark.slow] if one.slow else []) for one in known()]


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("probe", ATTACKS)
async def test_the_wall_holds(probe: Probe, wall: str, tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.confinement = walls(wall, bench.home)
    try:
        assert await probe.attack(bench) == ""
    except Skipped as reason:
        pytest.skip(str(reason))
