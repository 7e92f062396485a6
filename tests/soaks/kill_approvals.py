"""Kill a run whose calls and tasks ask a person with -9 at random moments; answers never get lost or mixed up.

Each attempt is a process of its own that resumes the run with a few random answers. However it is killed, a call runs
at most once for each time that it was allowed, and never if it was denied.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import url_of
from goalwright_planner.approvals import Answer
from goalwright_planner.model import Reply, Request, ToolCall, Usage
from tests.fakes import ScriptedModel
from tests.goalwright import approving
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import random

    from goalwright_executor.stores.store import Store
    from tests.nursery import Nursery

TASKS, CALLS = 6, 2
GOAL = "Note what was allowed"


def plan() -> dict[str, Any]:
    """Tasks side by side, every other one asked for, and each with calls that ask."""
    tasks = [
        {"id": f"t{number}", "action_type": "llm", "instruction": f"Note {number}"}
        | ({"needs_approval": True} if number % 2 else {})
        for number in range(TASKS)
    ]
    return {"tasks": tasks, "synthesis": "all of it"}


def replying(request: Request) -> Reply:
    """A plan, then for each task some calls at once, two of them equal, then what came back."""
    usage = Usage(1, 10, 5)
    if request.role == "decomposer":
        return Reply(json.dumps(plan()), usage=usage, cost=0.01)
    if request.role == "task" and request.messages[-1].role != "tool":
        texts = [request.task, request.task, f"{request.task}-other"]
        calls = [ToolCall(f"c{n}", "note_write", json.dumps({"text": text})) for n, text in enumerate(texts)]
        return Reply("", tuple(calls), usage, 0.01, "tool_calls")
    said = [json.loads(one.content)["status"] for one in request.messages if one.role == "tool"]
    return Reply(f"{request.task or 'answer'}: {' '.join(said)}", usage=usage, cost=0.01)


async def attempt(workspace: Path, run: str, answers: dict[str, dict[str, Any]]) -> None:
    """In a process of its own: a new run, or one that is resumed with answers."""
    model = ScriptedModel(replying)
    async with approving.goalwright(workspace, model) as goalwright:
        print("ready", flush=True)
        given = {name: Answer(**answer) for name, answer in answers.items()}
        result = await (goalwright.resume(run, answers=given) if run else goalwright.run(GOAL))
    print(json.dumps(result.to_dict() | {"asked": len(model.asked)}))


@dataclass
class AnsweredRuns:
    """Answers and kills one run after another in a workspace."""

    nursery: Nursery
    workspace: Path
    draw: random.Random
    kills: int = 0
    ended: list[dict[str, Any]] = field(default_factory=list)

    def until(self, kills: int) -> None:
        """Kill that often, each time at a random moment, and let every run come to its end."""
        while self.kills < kills or self._unfinished():
            seconds = self.draw.uniform(0.0, 1.2) if self.kills < kills else None
            result = self._attempt(self._unfinished(), seconds)
            if result is not None and result["status"] != "waiting":
                self._check(result)
                self.ended.append(result)

    def _attempt(self, run: str, seconds: float | None) -> dict[str, Any] | None:
        """The result; None if the process was killed."""
        answers = self._answers(run)
        process = self.nursery.start(
            ["-m", __name__, str(self.workspace), run, json.dumps(answers)],
            stdout=subprocess.PIPE,
            env=dict(os.environ),
            cwd=self.workspace,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if seconds is not None:
            time.sleep(seconds)
            process.kill()
        out, _ = process.communicate()
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            return None
        assert process.returncode == 0
        result: dict[str, Any] = json.loads(out)
        return result

    def _answers(self, run: str) -> dict[str, dict[str, Any]]:
        """Answers to some of what the run waits for."""
        waiting = self._requests(run) if run else {}
        some = self.draw.sample(sorted(waiting), self.draw.randint(0, len(waiting)))
        return {name: self._answer() for name in some}

    def _answer(self) -> dict[str, Any]:
        return {"decision": "allow"} if self.draw.random() < 0.7 else {"decision": "deny", "note": "no"}

    def _requests(self, run: str) -> dict[str, Any]:
        open_ones: dict[str, Any] = {}
        for row in self._rows(run):
            if row["type"] == "approval_asked":
                open_ones[row["id"]] = row
            elif row["type"] == "approval_given":
                open_ones.pop(row["call"], None)
        return open_ones

    def _check(self, result: dict[str, Any]) -> None:
        """Every call that ran was allowed as often as it ran; every denied one did not."""
        rows = self._rows(result["run_id"])
        asked = {row["id"]: row for row in rows if row["type"] == "approval_asked" and row["kind"] == "tool"}
        allowed = Counter(
            asked[row["call"]]["arguments"]["text"]
            for row in rows
            if row["type"] == "approval_given" and row["decision"] == "allow" and row["call"] in asked
        )
        results = Counter(
            row["envelope"]["context"]["params_input"]["text"]
            for row in rows
            if row["type"] == "tool_called" and row["envelope"]["status"] == "success"
        )
        file = self.workspace / ".agents/runs" / result["run_id"] / "artifacts" / "notes.txt"
        noted = Counter(file.read_text().split()) if file.exists() else Counter()
        for text, times in noted.items():
            assert results[text] <= times <= allowed[text], (text, results[text], times, allowed[text])
        assert not results - noted, "what has a result was done"
        calls = [row["request"] for row in rows if row["type"] == "call_finished"]
        assert len(calls) == len(set(calls)), "a call was paid twice"
        assert result["status"] in ("done", "partial"), result

    def _unfinished(self) -> str:
        if not (self.workspace / ".agents" / "journal.sqlite").exists():
            return ""
        store = self._store()
        try:
            newest = next(store.summaries(1), None)
            over = newest is None or newest.status in ("done", "partial")
            return "" if newest is None or over else newest.run_id
        finally:
            store.close()

    def _rows(self, run: str) -> list[dict[str, Any]]:
        store = self._store()
        try:
            return [row.to_dict() for row in store.rows(run)]
        finally:
            store.close()

    def _store(self) -> Store:
        return open_store(url_of(self.workspace / ".agents" / "journal.sqlite"), create=False)


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, answer, resume, check what was done, and replay every run strictly."""
    from tests.conftest import replayed

    approving.prepare(folder)
    killed = AnsweredRuns(nursery, folder, draw)
    killed.until(kills)
    assert all(drift == [] for drift in replayed(folder).values())
    return f"{killed.kills} kills, {len(killed.ended)} runs, no answer lost and no call made without one"


SOAK = Soak("kill-approvals", "kills a run whose calls ask a person, and answers it", soak, kills=50, short=2)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))
