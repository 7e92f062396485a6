"""The attacks on the sandbox as the current user; `python -m tests.walls` runs them as other users too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills.workbench import WALLS, Workbench, walls
from tests.walls.registry import Skipped, all_probes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.walls.registry import Probe

pytestmark = pytest.mark.slow

ATTACKS = [pytest.param(probe, id=probe.name, marks=[pytest.mark.slow] if probe.slow else []) for probe in all_probes()]


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("probe", ATTACKS)
async def test_attack_fails(probe: Probe, wall: str, tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.confinement = walls(wall, bench.home)
    try:
        assert await probe.attack(bench) == ""
    except Skipped as reason:
        pytest.skip(str(reason))
