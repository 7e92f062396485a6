"""Kill a run of 30 tasks with -9 at random moments, resume it, and see that nothing is lost, mixed up or paid twice.

Each attempt is a process of its own with the real runtime and a scripted model, which notes every call.
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
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import url_of
from goalwright_planner.model import Message, Reply, Request, ToolCall, Usage
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_executor.stores.store import Store
    from tests.nursery import Nursery, Process

GOAL = "Weave thirty threads"
LAYERS, WIDTH = 6, 5
CALLS = 2 * LAYERS * WIDTH + 2  # one call to plan, two for each task, one for the answer
ATTEMPT = "SOAK_ATTEMPT"


def plan() -> dict[str, Any]:
    """Six layers of five tasks, each waiting for two of the layer before."""
    tasks = []
    for layer in range(LAYERS):
        for place in range(WIDTH):
            before = [f"t{layer - 1}-{(place + step) % WIDTH}" for step in (0, 2)] if layer else []
            tasks.append({"id": f"t{layer}-{place}", "action_type": "llm", "instruction": "go", "depends_on": before})
    return {"tasks": tasks, "synthesis": "all of it"}


@dataclass(frozen=True)
class NotingModel:
    """Answers from what it is asked alone, after a short while; notes each call in a file before it answers."""

    log: Path
    name: str = "scripted"

    async def complete(self, request: Request) -> Reply:
        note = json.dumps({"attempt": os.environ[ATTEMPT], "request": request.key}) + "\n"
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
    return Reply(saying(request), usage=Usage(1, 10, 5), cost=0.01)


def saying(request: Request) -> str:
    """Whose answer it is, and a hash of what it was given."""
    return f"{request.task or 'answer'}:{_digest(request.messages)}"


def _digest(messages: tuple[Message, ...]) -> str:
    asked = next(message.content for message in messages if message.role == "user")
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


async def attempt(
    workspace: Path, run: str | None, goal: str = GOAL, model: NotingModel | None = None, **settings: Any
) -> None:
    """In a process of its own: a new run, or one that is resumed."""
    from goalwright.runs.runtime import Goalwright
    from goalwright.settings.settings import Settings

    asked = model or NotingModel(workspace / "calls.jsonl")
    async with Goalwright(workspace, Settings(model="scripted", **settings), open_model=lambda _: asked) as goalwright:
        print("ready", flush=True)
        result = await (goalwright.run(goal) if run is None else goalwright.resume(run))
    print(json.dumps(result.to_dict()))


@dataclass
class KilledRuns:
    """Kills attempts at one run after another in a workspace; `module` makes an attempt.

    Each is killed after a moment, and after some new calls first, up to `most_calls` of them: a busy machine may not
    come to any within a moment.
    """

    nursery: Nursery
    workspace: Path
    module: str = __name__
    most_calls: int = 0
    kills: int = 0
    runs: list[dict[str, Any]] = field(default_factory=list)
    attempts: int = 0

    def until(self, kills: int, draw: random.Random) -> None:
        """Kill that often, each time at a random moment; let the last run end, and make one that nobody disturbs."""
        while self.kills < kills:
            run: str | None = None
            done = None
            while done is None:
                calls = draw.randrange(self.most_calls + 1)
                seconds = draw.uniform(0.0, 0.05 if calls else 0.45)
                done = self._attempt(run, seconds if self.kills < kills else None, calls)
                run = self._unfinished()
            self.runs.append(done)
        undisturbed = self._attempt(None, None)
        assert undisturbed is not None
        self.runs.append(undisturbed)

    def soak(self, kills: int, draw: random.Random, check: Callable[[list[dict[str, Any]]], None]) -> None:
        """Kill and resume, check the results, and replay every run strictly."""
        from tests.conftest import replayed

        self.until(kills, draw)
        check(self.runs)
        assert all(drift == [] for drift in replayed(self.workspace).values())

    def summary(self, same: str, calls: int | None = None) -> str:
        """What was done, in a line; with the `calls` of a run, how many were in flight and made again."""
        told = f"{self.kills} kills, {len(self.runs)} runs with the same {same}"
        if calls is None:
            return told
        return f"{told}, {len(self.calls()) - len(self.runs) * calls} calls in flight made again"

    def _attempt(self, run: str | None, seconds: float | None, calls: int = 0) -> dict[str, Any] | None:
        """The result; None where the process was killed."""
        self.attempts += 1
        finished = self._finished()
        command = ["-m", self.module, str(self.workspace), *([run] if run else [])]
        process = self.nursery.start(
            command, stdout=subprocess.PIPE, env={**os.environ, ATTEMPT: str(self.attempts)}, cwd=self.workspace
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if seconds is not None:
            self._wait_for(len(self.calls()) + calls, process)
            time.sleep(seconds)
            process.kill()
        out, _ = process.communicate()
        again = {note["request"] for note in self.calls() if note["attempt"] == str(self.attempts)} & finished
        assert not again, f"calls paid twice in attempt {self.attempts}: {again}"
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            return None
        assert process.returncode == 0
        result: dict[str, Any] = json.loads(out)
        return result

    def _wait_for(self, calls: int, process: Process) -> None:
        """Wait until so many calls were begun in all, or the process has ended."""
        while len(self.calls()) < calls and process.poll() is None:
            time.sleep(0.005)

    def calls(self) -> list[dict[str, str]]:
        """Every call that was begun."""
        log = self.workspace / "calls.jsonl"
        lines = log.read_text().splitlines(keepends=True) if log.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]  # the last one may still be written

    def _finished(self) -> set[str]:
        """The calls of the unfinished run that are on record."""
        run = self._unfinished()
        if run is None:
            return set()
        store = self._store()
        try:
            return {row.body["request"] for row in store.rows(run, types=("call_finished",))}
        finally:
            store.close()

    def _unfinished(self) -> str | None:
        """The newest run, unless it is done."""
        if not (self.workspace / ".agents" / "journal.sqlite").exists():
            return None
        store = self._store()
        try:
            newest = next(store.summaries(1), None)
            return newest.run_id if newest is not None and newest.status != "done" else None
        finally:
            store.close()

    def _store(self) -> Store:
        return open_store(url_of(self.workspace / ".agents" / "journal.sqlite"), create=False)


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended in the same answer, and every output stands in its own task's place."""
    assert {run["status"] for run in runs} == {"done"}
    assert len({run["answer"] for run in runs}) == 1
    for run in runs:
        outputs = {task["id"]: task["output"] for task in run["tasks"]}
        assert len(outputs) == LAYERS * WIDTH
        assert all(output.startswith(f"{name}:") for name, output in outputs.items())
        assert run["usage"]["calls"] == CALLS, "a call on record is counted once"


def check_same_tasks(runs: list[dict[str, Any]], calls: int) -> None:
    """Every run ended in the same way, with the same tasks and so many calls."""
    assert {run["status"] for run in runs} == {"done"}, [run["error"] for run in runs]
    tasks = [{task["id"]: (task["status"], task["output"]) for task in run["tasks"]} for run in runs]
    assert all(ended == tasks[0] for ended in tasks)
    assert {run["usage"]["calls"] for run in runs} == {calls}, "a call on record is counted once"


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the answers, and replay every run strictly."""
    killed = KilledRuns(nursery, folder)
    killed.soak(kills, draw, check)
    return killed.summary("answer", CALLS)


SOAK = Soak("kill-run", "kills a run of 30 tasks and resumes it", soak, short=3)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
