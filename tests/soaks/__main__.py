"""`scripts/soak [NAME [N [SEED]]]`."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.nursery import open_nursery
from tests.soaks.registry import SOAKS


def main(arguments: list[str]) -> int:
    """List the soaks, or run one and print its figures; a fault ends it with a traceback and the seed."""
    if not arguments:
        print(
            "\n".join(f"{soak.name:20} {soak.summary} (default: {soak.kills} {soak.unit})" for soak in SOAKS.values())
        )
        return 0
    if arguments[0] not in SOAKS:
        print(f"There is no soak '{arguments[0]}'; there are: {', '.join(SOAKS)}", file=sys.stderr)
        return 2
    soak = SOAKS[arguments[0]]
    kills = int(arguments[1]) if len(arguments) > 1 else soak.kills
    seed = int(arguments[2]) if len(arguments) > 2 else random.randrange(10**6)
    print(f"{soak.name}: {kills} {soak.unit}, seed {seed}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_nursery() as nursery:
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        work.mkdir()
        os.environ["HOME"] = str(home)
        figures = soak.run(nursery, work, kills, random.Random(seed))
    print(f"{figures}; {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
