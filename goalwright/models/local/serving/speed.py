"""Measures how fast a model runs on this machine, and caches the result."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goalwright.models.local.serving.endpoint import call
from goalwright_planner.errors import Unreachable
from goalwright_skills import user_folders

_MAX_FILE_BYTES = 4096
# The measured call: enough for a result, and done in a few seconds on a slow machine.
_PROMPT, _ANSWER = 24, 5
_SECONDS = 300.0
# Tokens that every vocabulary has.
_VOCABULARY = range(300, 3000)
_STAT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Speed:
    """The seconds per token of the prompt and of the answer on an idle machine."""

    prompt: float
    answer: float

    def seconds(self, prompt: int, answer: int) -> float:
        """The shortest possible time of a call."""
        return prompt * self.prompt + answer * self.answer

    def __str__(self) -> str:
        return f"{_rate(self.prompt)} of a prompt and {_rate(self.answer)} of an answer a second"


def _rate(seconds: float) -> str:
    rate = 1 / seconds
    return f"{rate:,.0f} tokens" if rate >= 10 else f"{rate:.1f} tokens"


@dataclass(frozen=True, slots=True)
class SpeedStore:
    """The measured speeds, each in a small file named after its model, backend and processor."""

    folder: Path

    @classmethod
    def of_user(cls) -> SpeedStore:
        """The store in the user's cache folder."""
        return cls(user_folders.cache() / "local-speed")

    def find(self, name: str) -> Speed | None:
        """A measured speed; None if there is none, or its file is invalid."""
        try:
            with self._path(name).open(encoding="utf-8") as file:
                row = json.loads(file.read(_MAX_FILE_BYTES))
            speed = Speed(float(row["prompt"]), float(row["answer"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return speed if is_usable(speed) else None

    def keep(self, name: str, speed: Speed) -> None:
        """Store a speed if the cache is writable."""
        path = self._path(name)
        draft = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps({"of": name, **asdict(speed)}) + "\n", encoding="utf-8")
            draft.replace(path)

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"


def is_usable(speed: Speed) -> bool:
    """Whether a speed is plausible; a file may contain anything."""
    return all(math.isfinite(value) and 0 < value < 1e4 for value in (speed.prompt, speed.answer))


def measure(address: str, key: str, pid: int, threads: int) -> Speed | None:
    """Measure the speed by one short call; None if the server reports no timings.

    Uses CPU time if the system reports it, since other processes may use the machine at the same time.
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
    """The CPU seconds of a process and all its threads; None if the system has no /proc."""
    try:
        with Path(f"/proc/{pid}/stat").open(encoding="utf-8", errors="replace") as file:
            fields = file.read(_STAT_BYTES).rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
