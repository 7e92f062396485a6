"""The cost of starting: `weft --help` against `python -c pass`, the best of several rounds each.

    python -m bench.startup

Exits 1 if the bound is exceeded.
"""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 10
MAX_RATIO = 6.0


def best(*command: str) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> int:
    """Measure, print, and return 1 if the bound is exceeded."""
    floor = best(sys.executable, "-c", "pass")
    ours = best(sys.executable, "-m", "weft", "--help")
    print(f"python -c pass  {floor * 1e3:6.1f} ms")
    print(f"weft --help     {ours * 1e3:6.1f} ms   {ours / floor:.2f} x (at most {MAX_RATIO:g})")
    return 1 if ours / floor > MAX_RATIO else 0


if __name__ == "__main__":
    sys.exit(main())
