"""Kill `goalwright trace import` at random moments: the journal has all of the file's runs, or none."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.record_version import packed
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    from random import Random

    from tests.nursery import Nursery

RECORDED = Path(__file__).parents[1] / "data" / "0.1.0"
COPIES, FEW = 10, 2  # of 1.5 MB each; few in the short form
LONGEST = 0.2  # seconds for each copy


def soak(nursery: Nursery, folder: Path, kills: int, draw: Random) -> str:
    """Import until there were enough kills, each into a journal of its own; then once more, to the end."""
    copies = COPIES if kills > Soak.short else FEW
    lines = [json.loads(line) for line in packed(RECORDED, "traces.jsonl").decode().splitlines()]
    text = "".join(
        json.dumps(line | {"run_id": f"{line['run_id']}-{copy}"}) + "\n" for copy in range(copies) for line in lines
    )
    (folder / "runs.jsonl").write_text(text, encoding="utf-8")
    every = {f"{line['run_id']}-{copy}" for line in lines for copy in range(copies)}
    killed = whole = 0
    while killed < kills:
        command = ["-m", "goalwright", "trace", "import", "runs.jsonl", "--journal", f"{whole}.sqlite"]
        process = nursery.start(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(draw.uniform(0.0, LONGEST * copies))
        process.kill()
        _, err = process.communicate(timeout=120)
        assert process.returncode in (0, -9), err
        killed += process.returncode == -9
        found = _runs(nursery, folder, whole)
        assert found in (set(), every), f"{len(found)} of {len(every)} runs are there"
        whole += found == every
    ran = nursery.run(["trace", "import", "runs.jsonl", "--journal", f"{whole}.sqlite"], cwd=folder)
    assert ran.status == 0, ran.err
    assert _runs(nursery, folder, whole) == every
    return f"{killed} kills, {whole + 1} whole imports of {len(text) / 1e6:.0f} MB, none in part"


def _runs(nursery: Nursery, folder: Path, number: int) -> set[str]:
    if not (folder / f"{number}.sqlite").exists():
        return set()
    listed = nursery.run(["trace", "list", "--json", "--journal", f"{number}.sqlite"], cwd=folder)
    assert listed.status == 0, listed.err
    return {run["run_id"] for run in json.loads(listed.out)}


SOAK = Soak("kill-import", "kills the import of a large trace file", soak)
