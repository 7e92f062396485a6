"""Kill a batch with -9 at random moments and resume it: every goal is there once, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

from tests.openai_server import Answer, Call, OpenAIServer, Say, instruction
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.nursery import Nursery

GOALS, CALLS = 50, 8  # so many goals that the calls are made in processes of their own
KILLS = 2  # of one batch


def answering(call: Call) -> Answer:
    """Plans two tasks and answers with the goal itself, so that a row in another's place shows."""
    goal = call.user.partition("<goal>\n")[2].partition("\n</goal>")[0]
    if call.role != "decomposer":
        return Say(f"did {instruction(call)}")
    first = {"id": "a", "action_type": "llm", "instruction": f"first of {goal}"}
    second = {"id": "b", "action_type": "llm", "instruction": f"second of {goal}", "depends_on": ["a"]}
    return Say(json.dumps({"tasks": [first, second]}))


def soak(nursery: Nursery, folder: Path, kills: int, draw: Random) -> str:
    """Batches, one after another, until there were enough kills; the last one ends undisturbed."""
    lines = [json.dumps({"id": f"g{number}", "goal": f"Goal number {number}"}) for number in range(GOALS)]
    (folder / "goals.jsonl").write_text("\n".join(lines), encoding="utf-8")
    killed = batches = again = 0
    while killed < kills:
        with OpenAIServer(answering) as server:
            now = _batch(nursery, server, folder / f"out-{batches}.jsonl", min(KILLS, kills - killed), draw)
        _check(folder / f"out-{batches}.jsonl")
        repeated = _repeated(server.calls)
        assert max(repeated.values(), default=0) <= now, (
            "only the call that a goal had under way at a kill is paid again"
        )
        killed, batches, again = killed + now, batches + 1, again + repeated.total()
    return f"{killed} kills, {batches} batches of {GOALS} goals, {again} calls in flight made again"


def _batch(nursery: Nursery, server: OpenAIServer, out: Path, kills: int, draw: Random) -> int:
    """Run one batch to its end; returns how often it was killed before."""
    killed = 0
    env = {**os.environ, "OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test"}
    while True:
        more = ["--resume"] if out.exists() else []
        command = ["-m", "goalwright", "batch", "goals.jsonl", "-o", out.name, "-q", "--model", "openai/test-model"]
        command += ["--max-calls", str(CALLS), *more]
        process = nursery.start(command, cwd=out.parent, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if killed < kills:
            calls = len(server.calls) + draw.randrange(max(1, 3 * GOALS - len(server.calls)))
            while len(server.calls) < calls and process.poll() is None:
                time.sleep(0.005)
            process.kill()
        _, err = process.communicate(timeout=120)  # which waits for all who hold its stderr: nothing outlives it
        if process.returncode == 0:
            return killed
        assert process.returncode == -9, err
        killed += 1


def _repeated(calls: list[Call]) -> Counter[str]:
    """How many calls of each goal were made again; a goal here makes one call after another."""
    asked = Counter((call.user.partition("Goal number ")[2].split()[0], call.user) for call in calls)
    return sum((Counter({goal: times - 1}) for (goal, _), times in asked.items()), Counter())


def _check(out: Path) -> None:
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == GOALS
    assert {row["id"]: row["answer"] for row in rows} == {
        f"g{number}": f"did second of Goal number {number}" for number in range(GOALS)
    }
    assert not out.with_name(f"{out.name}.runs").exists()


SOAK = Soak("kill-batch", f"kills a batch of {GOALS} goals and resumes it", soak, short=2)
