"""Calls that cost something: each is noted before it is made and when it is answered, so that paying twice shows.

Plain data, without imports of goalwright: peers make the same calls in environments of their own.
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
    """One process's attempt at a run, in a folder that all attempts share."""

    folder: Path
    run: int
    number: int

    @classmethod
    def given(cls) -> Attempt:
        """The attempt that the command line names."""
        return cls(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

    async def call(self, task: str, inputs: Iterable[str]) -> str:
        """A call of a task: its answer tells whose it is and what it was given."""
        self._note(task, "begun")
        await asyncio.sleep(random.uniform(*SECONDS))
        self._note(task, "answered")
        return answer(task, inputs)

    def begin(self) -> None:
        """Say that the work begins: from now on the process may be killed."""
        print("ready", flush=True)

    def finish(self, outputs: dict[str, str]) -> None:
        """Hand over the results of the run."""
        (self.folder / f"result-{self.run}.json").write_text(json.dumps(outputs), encoding="utf-8")

    def _note(self, task: str, what: str) -> None:
        line = json.dumps({"run": self.run, "attempt": self.number, "task": task, "what": what}) + "\n"
        descriptor = os.open(self.folder / "calls.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line.encode())
        os.close(descriptor)


def answer(task: str, inputs: Iterable[str]) -> str:
    """What a call answers."""
    given = hashlib.sha256(" ".join(sorted(inputs)).encode()).hexdigest()[:12]
    return f"{task}:{given}"


def expected() -> dict[str, str]:
    """The results of a run that nothing disturbs."""
    outputs: dict[str, str] = {}
    for task, before in GRAPH.items():
        outputs[task] = answer(task, [outputs[one] for one in before])
    return outputs
