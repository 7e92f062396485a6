"""What MCP clients can call: goals, runs and skills of a workspace."""

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

LONGEST_WAIT = 3_600.0
_POLL = 0.5
_MOST_SKILLS = 20
_MOST_RUNS = 200
_DECISIONS = ("allow", "deny")
_PERSON = "a person answers this: goalwright approvals"


@dataclass(slots=True)
class GoalTools:
    """The tools of the server; with `allow_approvals`, a client may answer what a person is asked for."""

    goalwright: Goalwright
    allow_approvals: bool = False
    runs: GoalRuns = field(default_factory=GoalRuns)
    _skills: WorkspaceSkills | None = None
    _selecting: threading.Lock = field(default_factory=threading.Lock)

    async def run_goal(
        self, goal: str, skills: Sequence[str], wait: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> dict[str, Any]:
        """Start a goal and wait for its end, up to a time."""
        given = Goal(goal, skills=tuple(skills), stream=False)
        return await self._begun(partial(self.goalwright.run, given), wait, report)

    async def get_run(self, run: str, wait: float, report: Callable[[TaskProgress], Awaitable[None]]) -> dict[str, Any]:
        """How a run stands, of this process or another; waits for its end, up to a time."""
        if self.runs.holds(run):  # it may be too young to be stored
            return await self._waited(run, wait, report)
        found = await asyncio.to_thread(self._reading().find, run)
        return await self._waited(found.run_id, wait, report)

    async def answer_run(
        self,
        run: str,
        answers: Mapping[str, Any],
        wait: float,
        report: Callable[[TaskProgress], Awaitable[None]],
    ) -> dict[str, Any]:
        """Answer what a run waits for, and continue it."""
        store = self._reading()
        run_id = store.find(run).run_id
        asked = [opened.request for opened in open_requests(store, self.goalwright.paths, run_id)]
        given = [(name, self._answer(name, value, asked)) for name, value in answers.items()]
        if not given:
            raise InputError("there are no answers", hint="pass {id: text} for what get_run lists as waiting")
        return await self._begun(partial(self.goalwright.resume, run_id, answers=given), wait, report)

    async def continue_run(
        self,
        run: str,
        answers: Sequence[tuple[str, Answer]],
        wait: float,
        report: Callable[[TaskProgress], Awaitable[None]],
    ) -> dict[str, Any]:
        """Continue a run with what the client's own user said."""
        return await self._begun(partial(self.goalwright.resume, run, answers=list(answers)), wait, report)

    def waiting(self, run: str) -> list[dict[str, Any]]:
        """What a run waits for, as `--json` prints it."""
        store = self._reading()
        return [
            opened.request.to_dict() for opened in open_requests(store, self.goalwright.paths, store.find(run).run_id)
        ]

    async def plan_goal(self, goal: str, skills: Sequence[str]) -> dict[str, Any]:
        """The plan for a goal, which is not run."""
        return (await self.goalwright.plan(Goal(goal, skills=tuple(skills)))).to_dict()

    def list_skills(self, query: str) -> dict[str, Any]:
        """The skills of the workspace, or those that fit a query best."""
        with self._selecting:
            if self._skills is None:
                self._skills = WorkspaceSkills(self.goalwright.paths, self.goalwright.settings)
            selectable = self._skills.preferences.selectable(self._skills.active())
            known = {skill.name: skill for skill in selectable}
            if not query.strip():
                return {
                    "skills": [{"name": listed.name, "description": listed.description} for listed in known.values()]
                }
            best = self._skills.ranked.rank(query, list(known.values()), _MOST_SKILLS)
        rows = [
            (selection, known[selection.name]) for selection in best if selection.name in known and selection.score > 0
        ]
        return {
            "skills": [
                {"name": selection.name, "description": skill.description, "score": round(selection.score, 3)}
                for selection, skill in rows
            ]
        }

    def list_runs(self, limit: int) -> dict[str, Any]:
        """The runs of the workspace, newest first."""
        settings, paths = self.goalwright.settings, self.goalwright.paths
        if not settings.journal and not (paths.agents / "journal.sqlite").exists():
            return {"runs": []}
        return {"runs": [run.to_dict() for run in self._reading().summaries(max(1, min(limit, _MOST_RUNS)))]}

    async def close(self) -> list[str]:
        """Interrupt the runs of this process; returns their ids."""
        interrupted = await self.runs.close()
        await self.goalwright.close()
        return interrupted

    async def _begun(
        self, run: GoalRun, wait: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> dict[str, Any]:
        """Start or continue a run and wait for its end, up to a time; a client that cancels this call stops the run."""
        begun = await self.runs.begin(run)
        try:
            return await self._waited(begun, wait, report)
        except asyncio.CancelledError:
            if isinstance(begun, str):
                self.runs.stop(begun)
            raise

    async def _waited(
        self, begun: str | Result, seconds: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> dict[str, Any]:
        """The result of a run if it ends in time; else that it is running."""
        if not isinstance(begun, str):
            return begun.to_dict()
        seconds = max(0.0, min(float(seconds), LONGEST_WAIT))
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        result = await self.runs.wait(begun, seconds, report)
        if result is not None:
            return result.to_dict()
        while not self.runs.holds(begun):  # of another process, or ended
            if await asyncio.to_thread(self._status, begun) != "running":
                return (await asyncio.to_thread(self.goalwright.result, begun)).to_dict()
            if loop.time() >= until:
                break
            await asyncio.sleep(min(_POLL, max(0.0, until - loop.time())))
        return {"run_id": begun, "status": "running"}

    def _status(self, run_id: str) -> str:
        return self._reading().find(run_id).status

    def _reading(self) -> Store:
        """The recorded runs; raises if there are none."""
        goalwright = self.goalwright
        if not goalwright.settings.journal and not (goalwright.paths.agents / "journal.sqlite").exists():
            raise UnknownRun("nothing has been run in this workspace yet", hint="start with run_goal")
        return goalwright.journal.store

    def _answer(self, name: str, value: Any, asked: Sequence[ApprovalRequest]) -> Answer:
        """An answer as the record takes it; only questions are answered here, unless a flag says otherwise."""
        meant = [request for request in asked if request.id.startswith(name)]
        if all(request.kind == "question" for request in meant):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            return Answer("answer", text=text, by="mcp")
        if not self.allow_approvals:
            raise InputError(_PERSON, hint="or start the server with --allow-approvals")
        table = value if isinstance(value, dict) else {"decision": value}
        if table.get("decision") not in _DECISIONS:
            what = f"the answer to {name} must be 'allow' or 'deny', or {{'decision', 'note'}}"
            raise InputError(what, hint="answer again")
        return Answer(table["decision"], note=str(table.get("note") or ""), by="mcp")
