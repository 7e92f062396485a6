"""The tools that MCP clients call: goals, runs and skills of a workspace."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.mcp.goal_runs import GoalRuns
from goalwright.runs.goal import Goal
from goalwright.runs.stored.requests import open_requests
from goalwright.workspace.skills import WorkspaceSkills
from goalwright_executor.stores.errors import UnknownRun
from goalwright_planner.approvals import Answer
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from goalwright.interfaces.mcp.goal_runs import GoalRun, TaskProgress
    from goalwright.runs.runtime import Goalwright
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.store import Store
    from goalwright_planner.approvals import ApprovalRequest

MAX_WAIT = 3_600.0
_POLL = 0.5
_MAX_SKILLS = 20
_MAX_RUNS = 200
_DECISIONS = ("allow", "deny")
_NEEDS_PERSON = "a person answers this: goalwright approvals"


@dataclass(slots=True)
class GoalTools:
    """The tools of the server; with `allow_approvals` a client may also answer approvals."""

    goalwright: Goalwright
    allow_approvals: bool = False
    runs: GoalRuns = field(default_factory=GoalRuns)
    _skills: WorkspaceSkills | None = None
    _skills_lock: threading.Lock = field(default_factory=threading.Lock)

    async def run_goal(
        self, goal: str, skills: Sequence[str], wait: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> dict[str, Any]:
        """Run a goal, and wait up to `wait` seconds for its end."""
        request = Goal(goal, skills=tuple(skills), stream=False)
        return await self._run(partial(self.goalwright.run, request), wait, report)

    async def get_run(self, run: str, wait: float, report: Callable[[TaskProgress], Awaitable[None]]) -> dict[str, Any]:
        """Return the state of a run of any process, after waiting up to `wait` seconds for its end."""
        if self.runs.holds(run):  # it may not be stored yet
            return await self._result(run, wait, report)
        summary = await asyncio.to_thread(self._store().find, run)
        return await self._result(summary.run_id, wait, report)

    async def answer_run(
        self,
        run: str,
        answers: Mapping[str, Any],
        wait: float,
        report: Callable[[TaskProgress], Awaitable[None]],
    ) -> dict[str, Any]:
        """Answer the requests of a run, and continue it."""
        store = self._store()
        run_id = store.find(run).run_id
        requests = [opened.request for opened in open_requests(store, self.goalwright.paths, run_id)]
        converted = [(name, self._answer(name, value, requests)) for name, value in answers.items()]
        if not converted:
            raise InputError(
                "there are no answers", hint="pass {id: text} for the requests that get_run lists as waiting"
            )
        return await self._run(partial(self.goalwright.resume, run_id, answers=converted), wait, report)

    async def continue_run(
        self,
        run: str,
        answers: Sequence[tuple[str, Answer]],
        wait: float,
        report: Callable[[TaskProgress], Awaitable[None]],
    ) -> dict[str, Any]:
        """Continue a run with the answers of the client's user."""
        return await self._run(partial(self.goalwright.resume, run, answers=list(answers)), wait, report)

    def waiting(self, run: str) -> list[dict[str, Any]]:
        """Return the open requests of a run, as `--json` prints them."""
        store = self._store()
        return [
            opened.request.to_dict() for opened in open_requests(store, self.goalwright.paths, store.find(run).run_id)
        ]

    async def plan_goal(self, goal: str, skills: Sequence[str]) -> dict[str, Any]:
        """Return a plan for a goal without running it."""
        return (await self.goalwright.plan(Goal(goal, skills=tuple(skills)))).to_dict()

    def list_skills(self, query: str) -> dict[str, Any]:
        """Return the skills of the workspace, or the best matches for a query."""
        with self._skills_lock:
            if self._skills is None:
                self._skills = WorkspaceSkills(self.goalwright.paths, self.goalwright.settings)
            selectable = self._skills.preferences.selectable(self._skills.active())
            by_name = {skill.name: skill for skill in selectable}
            if not query.strip():
                return {
                    "skills": [{"name": skill.name, "description": skill.description} for skill in by_name.values()]
                }
            best = self._skills.ranked.rank(query, list(by_name.values()), _MAX_SKILLS)
        return {
            "skills": [
                {"name": row.name, "description": by_name[row.name].description, "score": round(row.score, 3)}
                for row in best
                if row.name in by_name and row.score > 0
            ]
        }

    def list_runs(self, limit: int) -> dict[str, Any]:
        """Return the runs of the workspace, newest first."""
        settings, paths = self.goalwright.settings, self.goalwright.paths
        if not settings.journal and not (paths.agents / "journal.sqlite").exists():
            return {"runs": []}
        return {"runs": [run.to_dict() for run in self._store().summaries(max(1, min(limit, _MAX_RUNS)))]}

    async def close(self) -> list[str]:
        """Interrupt the runs of this process, and return their ids."""
        interrupted = await self.runs.close()
        await self.goalwright.close()
        return interrupted

    async def _run(
        self, run: GoalRun, wait: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> dict[str, Any]:
        """Start or continue a run and wait for its end; cancelling the call stops the run."""
        started = await self.runs.begin(run)
        try:
            return await self._result(started, wait, report)
        except asyncio.CancelledError:
            if isinstance(started, str):
                self.runs.stop(started)
            raise

    async def _result(
        self, started: str | Result, seconds: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> dict[str, Any]:
        """Return the result of a run, or the status `running` after `seconds`."""
        if not isinstance(started, str):
            return started.to_dict()
        seconds = max(0.0, min(float(seconds), MAX_WAIT))
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        result = await self.runs.wait(started, seconds, report)
        if result is not None:
            return result.to_dict()
        while not self.runs.holds(started):  # a run of another process, or ended
            if await asyncio.to_thread(self._status, started) != "running":
                return (await asyncio.to_thread(self.goalwright.result, started)).to_dict()
            if loop.time() >= deadline:
                break
            await asyncio.sleep(min(_POLL, max(0.0, deadline - loop.time())))
        return {"run_id": started, "status": "running"}

    def _status(self, run_id: str) -> str:
        return self._store().find(run_id).status

    def _store(self) -> Store:
        """Return the recorded runs; raises UnknownRun if there are none."""
        goalwright = self.goalwright
        if not goalwright.settings.journal and not (goalwright.paths.agents / "journal.sqlite").exists():
            raise UnknownRun("nothing has been run in this workspace yet", hint="start with run_goal")
        return goalwright.journal.store

    def _answer(self, name: str, value: Any, requests: Sequence[ApprovalRequest]) -> Answer:
        """Convert a client's answer; approvals are refused unless `allow_approvals` is set."""
        matching = [request for request in requests if request.id.startswith(name)]
        if all(request.kind == "question" for request in matching):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            return Answer("answer", text=text, by="mcp")
        if not self.allow_approvals:
            raise InputError(_NEEDS_PERSON, hint="or start the server with --allow-approvals")
        decision = value if isinstance(value, dict) else {"decision": value}
        if decision.get("decision") not in _DECISIONS:
            message = f"the answer to {name} must be 'allow' or 'deny', or {{'decision', 'note'}}"
            raise InputError(message, hint="answer again")
        return Answer(decision["decision"], note=str(decision.get("note") or ""), by="mcp")
