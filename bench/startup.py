"""What it costs to start: `weft --help` against `python -c pass`, the best of several rounds each.

    python -m bench.startup

Exit status 1 where the bound is passed.
"""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 10
MOST = 6.0


def best(*command: str) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> int:
    """Print the ratio."""
    floor = best(sys.executable, "-c", "pass")
    ours = best(sys.executable, "-m", "weft", "--help")
    print(f"python -c pass  {floor * 1e3:6.1f} ms")
    print(f"weft --help     {ours * 1e3:6.1f} ms   {ours / floor:.2f} x (at most {MOST:g})")
    return 1 if ours / floor > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
