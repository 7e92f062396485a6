"""Runs the attacks as the current user in each kind of confinement."""

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
from tests.walls.registry import Skipped, all_probes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.walls.registry import Probe

WALLS = ("bubblewrap", "landlock")


@dataclass(frozen=True)
class Outcome:
    """The result of an attack in a confinement: held, LEAKED or skipped, with the leak or the reason."""

    theme: str
    probe: str
    wall: str
    result: str
    note: str = ""


def missing(wall: str) -> str:
    """Return why a confinement is not available here; empty if it is."""
    if wall == "bubblewrap":
        return "" if bubblewrap.working() else "bubblewrap is not installed or cannot create its namespaces"
    return (
        ""
        if landlock.version() and seccomp.machine()
        else "the kernel has no Landlock, or its architecture is not supported"
    )


def outcome(probe: Probe, wall: str) -> Outcome:
    """Make one attack in a fresh workspace."""
    reason = missing(wall)
    if reason:
        return Outcome(probe.theme, probe.name, wall, "skipped", reason)
    root = Path(tempfile.mkdtemp(prefix="goalwright-walls-"))
    bench = Workbench(root)
    bench.confinement = walls(wall, bench.home)
    try:
        leak = asyncio.run(_attack(probe, bench))
    except Skipped as skipped:
        return Outcome(probe.theme, probe.name, wall, "skipped", str(skipped))
    except Exception:  # noqa: BLE001  an attack that fails proves nothing
        return Outcome(probe.theme, probe.name, wall, "LEAKED", f"the attack failed: {traceback.format_exc()}")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return Outcome(probe.theme, probe.name, wall, "LEAKED" if leak else "held", leak)


async def _attack(probe: Probe, bench: Workbench) -> str:
    return await probe.attack(bench)


def outcomes(only: str = "") -> Iterator[dict[str, str]]:
    """Make all attacks whose theme or name contains a text, and yield their results as dictionaries."""
    for probe in all_probes():
        if only in probe.theme or only in probe.name:
            for wall in WALLS:
                yield asdict(outcome(probe, wall))
