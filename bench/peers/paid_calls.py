"""Simulated paid calls, logged at start and end, so that a repeated call is detected.

Plain data without imports of goalwright, because peers make the same calls in their own environments.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness.graphs import layered

if TYPE_CHECKING:
    from collections.abc import Iterable

GRAPH = layered(6, 5, dependencies=2)
SECONDS = 0.005, 0.04


@dataclass(frozen=True, slots=True)
class Attempt:
    """One process's attempt at a run, in a folder shared by all attempts."""

    folder: Path
    run: int
    number: int

    @classmethod
    def from_arguments(cls) -> Attempt:
        """Read the attempt from the command line."""
        return cls(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

    async def call(self, task: str, inputs: Iterable[str]) -> str:
        """Make the call of a task; the answer encodes the task and its inputs."""
        self._log(task, "begun")
        await asyncio.sleep(random.uniform(*SECONDS))
        self._log(task, "answered")
        return answer(task, inputs)

    def begin(self) -> None:
        """Announce that the process may be killed from now on."""
        print("ready", flush=True)

    def finish(self, outputs: dict[str, str]) -> None:
        """Write the results of the run."""
        (self.folder / f"result-{self.run}.json").write_text(json.dumps(outputs), encoding="utf-8")

    def _log(self, task: str, event: str) -> None:
        line = json.dumps({"run": self.run, "attempt": self.number, "task": task, "what": event}) + "\n"
        descriptor = os.open(self.folder / "calls.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line.encode())
        os.close(descriptor)


def answer(task: str, inputs: Iterable[str]) -> str:
    """Return the answer of a call."""
    digest = hashlib.sha256(" ".join(sorted(inputs)).encode()).hexdigest()[:12]
    return f"{task}:{digest}"


def expected() -> dict[str, str]:
    """Return the results of an undisturbed run."""
    outputs: dict[str, str] = {}
    for task, before in GRAPH.items():
        outputs[task] = answer(task, [outputs[dependency] for dependency in before])
    return outputs
