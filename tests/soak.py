"""Kill a run with -9 at random moments, take it up again, and see that nothing is lost, mixed up or paid twice.

    python -m tests.soak 200            kills of a 30-task run, one after the other; a new run whenever one is done

A process of its own carries out each sitting with the real runtime and a scripted model, which notes every call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.model import Message, Reply, Request, ToolCall, Usage

GOAL = "Weave thirty threads"
LAYERS, WIDTH = 6, 5
ROOT = Path(__file__).parent.parent


def plan() -> dict[str, Any]:
    """Six layers of five tasks, each waiting for two of the layer before."""
    tasks = []
    for layer in range(LAYERS):
        for place in range(WIDTH):
            before = [f"t{layer - 1}-{(place + step) % WIDTH}" for step in (0, 2)] if layer else []
            tasks.append({"id": f"t{layer}-{place}", "action_type": "llm", "instruction": "go", "depends_on": before})
    return {"tasks": tasks, "synthesis": "all of it"}


@dataclass(frozen=True)
class Scripted:
    """Answers from what it is asked alone, after a short while; notes each call in a file before it answers."""

    log: Path
    name: str = "scripted"

    async def complete(self, request: Request) -> Reply:
        note = json.dumps({"sitting": os.environ["SITTING"], "request": request.key}) + "\n"
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, note.encode())
        os.close(descriptor)
        await asyncio.sleep(random.uniform(0.005, 0.04))
        return replying(request)


def replying(request: Request) -> Reply:
    """What the scripted model says: a task's answer tells whose it is and what it was given."""
    if request.role == "decomposer":
        return Reply(json.dumps(plan()), usage=Usage(1, 10, 5), cost=0.01)
    if request.role == "task" and request.messages[-1].role != "tool":
        call = ToolCall("c1", "ListFiles", '{"path": "."}')
        return Reply("", (call,), Usage(1, 10, 5), 0.01, "tool_calls")
    return Reply(f"{request.task or 'answer'}:{_digest(request.messages)}", usage=Usage(1, 10, 5), cost=0.01)


def _digest(messages: tuple[Message, ...]) -> str:
    asked = next(message.content for message in messages if message.role == "user")
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


async def sit(workspace: Path, run: str | None) -> None:
    """One sitting: a new run, or one taken up again."""
    from weft.runs.runtime import Weft
    from weft.settings.settings import Settings

    model = Scripted(workspace / "calls.jsonl")
    async with Weft(workspace, Settings(model="scripted"), open_model=lambda _: model) as weft:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        result = await (weft.run(GOAL) if run is None else weft.resume(run))
    sys.stdout.write(json.dumps(result.to_dict()) + "\n")


@dataclass
class Soak:
    """Kills sittings of one run after another in a workspace."""

    workspace: Path
    kills: int = 0
    runs: list[dict[str, Any]] = field(default_factory=list)
    _sitting: int = 0

    def until(self, kills: int, draw: random.Random) -> None:
        """Kill that often, each time at a random moment; let the last run end, and make one that nobody disturbs."""
        while self.kills < kills:
            run: str | None = None
            done = None
            while done is None:
                done = self._sit(run, draw.uniform(0.0, 0.45) if self.kills < kills else None)
                run = self._last_run()
            self.runs.append(done)
        untroubled = self._sit(None, None)
        assert untroubled is not None
        self.runs.append(untroubled)

    def _sit(self, run: str | None, seconds: float | None) -> dict[str, Any] | None:
        self._sitting += 1
        finished = self._finished()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak", "--sit", str(self.workspace), *([run] if run else [])],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "SITTING": str(self._sitting), "HOME": str(self.workspace), "PYTHONPATH": str(ROOT)},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if seconds is not None:
            time.sleep(seconds)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
        out = process.stdout.read()
        process.wait()
        process.stdout.close()
        self._check(finished)
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            return None
        assert process.returncode == 0
        result: dict[str, Any] = json.loads(out)
        return result

    def _check(self, finished: set[str]) -> None:
        """No call that was finished on record before a sitting was made again in it."""
        again = {note["request"] for note in self._calls() if note["sitting"] == str(self._sitting)} & finished
        assert not again, f"calls paid twice in sitting {self._sitting}: {again}"

    def _calls(self) -> list[dict[str, str]]:
        log = self.workspace / "calls.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def _finished(self) -> set[str]:
        run = self._last_run()
        if run is None:
            return set()
        store = self._store()
        try:
            return {row.body["request"] for row in store.rows(run, types=("call_finished",))}
        finally:
            store.close()

    def _last_run(self) -> str | None:
        if not (self.workspace / ".agents" / "journal.sqlite").exists():
            return None
        store = self._store()
        try:
            newest = next(store.summaries(1), None)
            return newest.run_id if newest is not None and newest.status != "done" else None
        finally:
            store.close()

    def _store(self) -> Any:
        from executor.journal.open_store import open_store
        from executor.stores.urls import url_of

        return open_store(url_of(self.workspace / ".agents" / "journal.sqlite"), create=False)


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended in the same answer, and every output stands in its own task's place."""
    assert {run["status"] for run in runs} == {"done"}
    assert len({run["answer"] for run in runs}) == 1
    for run in runs:
        outputs = {task["id"]: task["output"] for task in run["tasks"]}
        assert len(outputs) == LAYERS * WIDTH
        assert all(output.startswith(f"{name}:") for name, output in outputs.items())
        # one call to plan, two for each task, one for the answer: what was recorded is counted once
        assert run["usage"]["calls"] == 2 * LAYERS * WIDTH + 2


def main() -> None:
    """Run a sitting, or soak."""
    if sys.argv[1:2] == ["--sit"]:
        asyncio.run(sit(Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None))
        return
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder))
        soak.until(kills, random.Random(seed))
        check(soak.runs)
        made = Counter(note["request"] for note in soak._calls())
        repeated = sum(made.values()) - len(soak.runs) * (2 * LAYERS * WIDTH + 2)
        print(f"{soak.kills} kills, {len(soak.runs)} runs, all with the same answer; seed {seed}")
        print(f"{repeated} calls were in flight when they were killed and were made again; none that was finished")


if __name__ == "__main__":
    main()
