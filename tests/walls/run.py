"""Runs the attacks as this user, under one wall after the other."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.confinement import bubblewrap, landlock, seccomp
from tests.skills.workbench import Workbench, walls
from tests.walls.registry import Skipped, known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.walls.registry import Probe

WALLS = ("bubblewrap", "landlock")


@dataclass(frozen=True)
class Outcome:
    """What came of an attack under a wall: held, LEAKED or skipped, and what or why."""

    theme: str
    probe: str
    wall: str
    result: str
    note: str = ""


def missing(wall: str) -> str:
    """Why a wall cannot be put up here; empty if it can."""
    if wall == "bubblewrap":
        return "" if bubblewrap.working() else "bubblewrap is not installed or cannot make its namespaces"
    return "" if landlock.version() and seccomp.machine() else "the kernel has no Landlock, or its calls are not known"


def outcome(probe: Probe, wall: str) -> Outcome:
    """Make one attack in a fresh workspace."""
    why = missing(wall)
    if why:
        return Outcome(probe.theme, probe.name, wall, "skipped", why)
    root = Path(tempfile.mkdtemp(prefix="goalwright-walls-"))
    bench = Workbench(root)
    bench.confinement = walls(wall, bench.home)
    try:
        leaked = asyncio.run(_attacked(probe, bench))
    except Skipped as reason:
        return Outcome(probe.theme, probe.name, wall, "skipped", str(reason))
    except Exception:  # noqa: BLE001  an attack that breaks down has shown nothing
        return Outcome(probe.theme, probe.name, wall, "LEAKED", f"the attack broke down: {traceback.format_exc()}")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return Outcome(probe.theme, probe.name, wall, "LEAKED" if leaked else "held", leaked)


async def _attacked(probe: Probe, bench: Workbench) -> str:
    return await probe.attack(bench)


def outcomes(only: str = "") -> Iterator[dict[str, str]]:
    """Make all attacks whose theme or name contains a text, as plain values."""
    for probe in known():
        if only in probe.theme or only in probe.name:
            for wall in WALLS:
                yield asdict(outcome(probe, wall))
