"""Measure how fast a server runs its model, by one short call."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from goalwright.models.local.serving.endpoint import call
from goalwright.models.local.serving.speed import Speed, is_usable
from goalwright_planner.errors import Unreachable

# Enough for a figure, and over in a few seconds on a slow machine.
_PROMPT, _ANSWER = 24, 5
_SECONDS = 300.0
# Tokens that every vocabulary has.
_VOCABULARY = range(300, 3000)
_STAT_BYTES = 4096


def measure(address: str, key: str, pid: int, threads: int) -> Speed | None:
    """Make a short call; None if it gives no figures.

    Where the system tells CPU time, that counts rather than time on the clock: others may use the machine right now.
    """
    before = cpu_seconds(pid)
    try:
        timings = call(address, key, "POST", "/completion", _body(), _SECONDS)["timings"]
        prompt, answer = float(timings["prompt_ms"]) / 1000, float(timings["predicted_ms"]) / 1000
        counts = int(timings["prompt_n"]), int(timings["predicted_n"])
    except (Unreachable, KeyError, TypeError, ValueError):
        return None
    after = cpu_seconds(pid)
    elapsed = prompt + answer
    if not (elapsed > 0 and all(counts)):
        return None
    share = 1.0
    if before is not None and after is not None and after > before:
        share = min(1.0, (after - before) / threads / elapsed)
    speed = Speed(share * prompt / counts[0], share * answer / counts[1])
    return speed if is_usable(speed) else None


def _body() -> dict[str, Any]:
    tokens = random.Random(0).choices(_VOCABULARY, k=_PROMPT)  # noqa: S311 - no secret
    return {"prompt": tokens, "n_predict": _ANSWER, "ignore_eos": True, "cache_prompt": False, "temperature": 0}


def cpu_seconds(pid: int) -> float | None:
    """The CPU seconds of a process with all its threads; None where the system has no /proc."""
    try:
        with Path(f"/proc/{pid}/stat").open(encoding="utf-8", errors="replace") as file:
            fields = file.read(_STAT_BYTES).rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
