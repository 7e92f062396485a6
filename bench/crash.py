"""Crashes: a run of 30 tasks is killed with -9 at random moments and resumed, repeatedly.

Counted are answered calls that were paid for again, those of them whose answer other tasks had already used, and
results that were lost or wrong in the end. Calls in flight at a kill are repeated by every contender and not counted.

Floor: nothing is repaid, lost or wrong. An answer that arrives just before a kill may not be on disk yet, but an answer
that other tasks have used must be.

Peers: LangGraph with its SQLite checkpointer (default durability, and "sync"), DBOS on SQLite.

    python -m bench.crash
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness import command
from bench.harness.machine import ROOT
from bench.harness.peers import MissingPeer, clean
from bench.harness.result import Aim, Benchmark, Cell, Column, Findings, Options, Table, cells
from bench.peers.paid_calls import GRAPH, expected

COLUMNS = tuple(map(Column, ("kills", "runs", "answers paid again", "used before", "results lost", "results wrong")))
GOALWRIGHT = "goalwright"
# Row: module, environment and further arguments.
PEERS = {
    "LangGraph, SQLite": ("crash_langgraph", "langgraph", ("async",)),
    'LangGraph, SQLite, "sync"': ("crash_langgraph", "langgraph", ("sync",)),
    "DBOS, SQLite": ("crash_dbos", "dbos", ()),
}
# Seconds until one attempt counts as hung, and for all attempts of one contender.
HUNG, LIMIT = 60.0, 75.0


class HungAttempt(Exception):
    """An attempt did not end in time."""


@dataclass(slots=True)
class Killed:
    """Runs and kills the attempts of one contender."""

    command: list[str]
    more: tuple[str, ...]
    env: dict[str, str]
    folder: Path
    draw: random.Random
    kills: int = 0
    runs: int = 0
    attempts: int = 0
    window: float = 0.5
    took: float = 0.0
    results: list[dict[str, str]] = field(default_factory=list)

    def until(self, kills: int) -> None:
        """Time an undisturbed run, then kill attempts until there were `kills` kills or the time is up."""
        self._attempt(None)
        self.window = min(self.took, 10.0)
        began = time.monotonic()
        while self.kills < kills and time.monotonic() - began < LIMIT:
            self.runs += 1
            while self.kills < kills and not self._attempt(self.draw.uniform(0.0, self.window)):
                pass
            if not self._result().exists():
                self._attempt(None)
        paths = [Path(self.folder, f"result-{run}.json") for run in range(self.runs + 1)]
        self.results = [json.loads(path.read_text(encoding="utf-8")) if path.exists() else {} for path in paths]

    def _attempt(self, seconds: float | None) -> bool:
        """Make an attempt and kill it after `seconds`; return whether the run has its result."""
        self.attempts += 1
        words = [*self.command, str(self.folder), str(self.runs), str(self.attempts), *self.more]
        process = subprocess.Popen(
            words, cwd=ROOT, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            assert process.stdout is not None
            process.stdout.readline()
            ready = time.monotonic()
            process.wait(HUNG if seconds is None else seconds)
            self.took = time.monotonic() - ready
        except subprocess.TimeoutExpired:
            if seconds is None:
                raise HungAttempt(f"run {self.runs} did not end within {HUNG:.0f} s") from None
            self.kills += 1
            return False
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        return self._result().exists()

    def _result(self) -> Path:
        return self.folder / f"result-{self.runs}.json"

    def row(self) -> tuple[Cell, ...]:
        """Return the figures of the contender."""
        again, used = repaid_calls((self.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines())
        right = expected()
        lost = sum(not result.get(task) for result in self.results for task in right)
        wrong = sum(
            bool(result.get(task)) and result[task] != text for result in self.results for task, text in right.items()
        )
        return cells(self.kills, len(self.results), again, used, lost, wrong)


def repaid_calls(lines: list[str]) -> tuple[int, int]:
    """Count answered calls that were made again, and those of them that other tasks had used."""
    after = {name: {other for other, before in GRAPH.items() if name in before} for name in GRAPH}
    begun: set[tuple[int, str]] = set()
    answered: set[tuple[int, str]] = set()
    again = used = 0
    for line in map(json.loads, lines):
        call = line["run"], line["task"]
        if line["what"] == "answered":
            answered.add(call)
            continue
        if call in answered:
            again += 1
            used += any((line["run"], other) in begun for other in after[line["task"]])
        begun.add(call)
    return again, used


def run(options: Options) -> Findings:
    """Kill each contender equally often."""
    kills = 1 if options.quick else 15
    rows = {GOALWRIGHT: _killed([sys.executable, "-m", "bench.harness.crash_goalwright"], (), kills)}
    for subject, (program, key, more) in PEERS.items() if options.peers is not None else ():
        assert options.peers is not None
        try:
            python = options.peers.python(key)
            rows[subject] = _killed([str(python), "-m", f"bench.peers.{program}"], more, kills)
        except MissingPeer as missing:
            rows[subject] = cells(*[str(missing)] * len(COLUMNS))
        except HungAttempt as hung:
            rows[subject] = cells(*[str(hung)] * len(COLUMNS))
    values = [cell.value or 0.0 for cell in rows[GOALWRIGHT]]
    aims = (
        Aim("used answers that goalwright paid for again", values[3], 0, is_count=True),
        Aim("results that goalwright lost or got wrong", values[4] + values[5], 0, is_count=True),
    )
    return Findings((Table("30 tasks, 5 at a time", COLUMNS, rows),), aims)


def _killed(words: list[str], more: tuple[str, ...], kills: int) -> tuple[Cell, ...]:
    # In the current folder, because the temporary folder may be in memory.
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="crash-") as name, tempfile.TemporaryDirectory() as home:
        killed = Killed(words, more, clean(home) | {"PYTHONPATH": str(ROOT)}, Path(name), random.Random(3))
        killed.until(kills)
        return killed.row()


BENCHMARK = Benchmark(
    "crash",
    "A run of 30 tasks killed with -9 at random moments: calls paid again, results lost or wrong.",
    "Nothing.",
    ("langgraph", "dbos"),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
