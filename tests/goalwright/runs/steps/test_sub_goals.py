"""Tasks that are goals: planned when they are ready, into tasks of the same run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.stop import Stop
from goalwright.traces.diff import compare
from goalwright.traces.reselect import reselect
from goalwright.traces.timeline import timeline
from goalwright.workspace.workspace import Workspace
from goalwright_planner.approvals import Answer
from goalwright_planner.errors import RequestRefused
from goalwright_planner.events import CallFinished, CatalogueTaken, PlanChanged, PlanRefused, SkillsSelected
from goalwright_planner.model import Reply, Usage
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import UNSURE_GOAL, goalwright, replayed, rows
from tests.goalwright.runs.steps.replanned import change, llm, plan, statuses

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import Event
    from goalwright_planner.model import Request


def goal(task: str, *before: str, **rest: Any) -> dict[str, Any]:
    """A task that is a goal."""
    words = f"Research {task}"
    return {"id": task, "action_type": "goal", "instruction": words, "depends_on": list(before), **rest}


@dataclass
class Planner:
    """Gives the plan for the run and for each sub-goal; tasks say what they were told, and some fail."""

    plans: Mapping[str | None, Any]
    fails: tuple[str, ...] = ()
    cost: float = 0.01
    says: Mapping[str, list[str]] = field(default_factory=dict)
    change: str = ""
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answer)

    def answer(self, request: Request) -> Reply | Exception:
        """What the model says."""
        if request.role == "decomposer":
            found = self.plans[request.task]
            return self._reply(found.pop(0) if isinstance(found, list) else found)
        if request.role == "replanner":
            return self._reply(self.change)
        if request.role == "synthesis":
            said = self.says.get(request.task or "")
            return self._reply(said.pop(0) if said else f"{request.task or 'run'} put together")
        if request.task in self.fails:
            return RequestRefused("it is gone")
        return self._reply(f"{request.task} is done")

    def _reply(self, text: str) -> Reply:
        return Reply(text, usage=Usage(1, 10, 5), cost=self.cost)

    def asked(self, role: str) -> list[Request]:
        """The requests of a role."""
        return [request for request in self.model.asked if request.role == role]


async def run(workspace: Path, planner: Planner, record: Recorder | None = None, **settings: Any) -> Result:
    """Run the goal with that planner."""
    async with goalwright(workspace, planner.model, **settings) as runtime:
        return await runtime.run(UNSURE_GOAL, record=record)


OUTER = plan(llm("scope"), goal("research", "scope"), llm("brief", "research"))
INNER = plan(llm("sources"), llm("notes", "sources", instruction="Read <<sources.output>>"), synthesis="both")


async def test_a_goal_is_planned_into_the_graph_and_ends_with_its_synthesis(workspace: Path) -> None:
    planner, seen = Planner({None: OUTER, "research": INNER}), Recorder()
    result = await run(workspace, planner, seen)
    assert (result.status, result.answer) == ("done", "brief is done")
    assert statuses(result) == dict.fromkeys(
        ("scope", "research", "brief", "research/sources", "research/notes"), "done"
    )
    assert {task.id: task.output for task in result.tasks}["research"] == "research put together"
    (joined,) = (event for event in seen.events if isinstance(event, PlanChanged))
    assert (joined.cause, joined.of, [task.id for task in joined.added]) == (
        "goal", "research", ["research/sources", "research/notes"],
    )  # fmt: skip
    assert [task.depends_on for task in joined.added] == [("scope",), ("research/sources",)]
    first, second = planner.asked("decomposer")
    assert "Research research" in second.messages[-1].content
    assert '<result task="scope"' in second.messages[-1].content
    assert 'task="scope"' not in first.messages[-1].content
    told = {request.task: request.messages[-1].content for request in planner.asked("task")}
    assert "scope is done" in told["research/sources"]
    assert "Read research/sources is done" in told["research/notes"]
    assert "research put together" in told["brief"]


async def test_a_sub_goal_does_not_overwrite_the_selection_of_the_run(workspace: Path) -> None:
    planner, seen = Planner({None: OUTER, "research": plan(llm("one"))}), Recorder()
    result = await run(workspace, planner, seen)
    for kind in (CatalogueTaken, SkillsSelected):
        assert [event.task for event in seen.events if isinstance(event, kind)] == [None, "research"]
    selected = [event for event in seen.events if isinstance(event, SkillsSelected)]
    assert result.skills == tuple(one.name for one in selected[0].selections) != ()
    assert selected[1].selections == ()
    async with goalwright(workspace, planner.model) as runtime:
        (again,) = reselect([rows(workspace)], Workspace(runtime.paths, runtime.settings))
    assert not again.drifted
    assert [one.name for one in timeline(rows(workspace)).selections] == list(result.skills)


async def test_goals_nest_two_deep_and_a_third_is_refused(workspace: Path) -> None:
    plans = {
        None: plan(goal("a")), "a": plan(goal("b")), "a/b": [plan(goal("c")), plan(llm("c"))],
    }  # fmt: skip
    planner, seen = Planner(plans), Recorder()
    result = await run(workspace, planner, seen)
    assert (result.status, result.answer) == ("done", "a/b/c is done")
    assert statuses(result) == dict.fromkeys(("a", "a/b", "a/b/c"), "done")
    (refused,) = (event for event in seen.events if isinstance(event, PlanRefused))
    assert refused.task == "a/b"
    assert "as goals are nested as deep as max_depth allows; plan the tasks themselves" in refused.faults[0]
    offered = [
        ("goal" in request.messages[0].content.partition('the "action_type"')[2][:20], "goal" in str(request.schema))
        for request in planner.asked("decomposer")
    ]
    assert offered == [(True, True), (True, True), (False, False), (False, False)]


async def test_failed_planning_fails_only_the_sub_goal(workspace: Path) -> None:
    bad = json.dumps({"tasks": []})
    outer = plan(llm("scope"), goal("research", "scope"), synthesis="all")
    planner = Planner({None: outer, "research": bad})
    result = await run(workspace, planner, max_replans=0)
    assert (result.status, statuses(result)) == ("partial", {"scope": "done", "research": "failed"})
    assert len(planner.asked("decomposer")) == 3
    assert "gave no valid plan in 2 attempts" in (result.tasks[1].error or "")
    better = Planner({"research": INNER})
    async with goalwright(workspace, better.model) as runtime:
        assert (await runtime.resume("last")).status == "done"
    assert [request.task for request in better.asked("decomposer")] == ["research"]


async def test_a_failed_task_of_a_sub_goal_is_retried_on_resume(workspace: Path) -> None:
    inner = plan(llm("good"), llm("bad"), synthesis="both")
    planner = Planner({None: OUTER, "research": inner}, fails=("research/bad",))
    result = await run(workspace, planner)
    assert (result.status, statuses(result)["research"], statuses(result)["research/bad"]) == (
        "partial", "done", "failed",
    )  # fmt: skip
    assert "research/bad: it is gone" in (result.error or "")
    again = Planner({})
    async with goalwright(workspace, again.model) as runtime:
        result = await runtime.resume("last")
    assert (result.status, again.asked("decomposer")) == ("done", [])
    assert [request.task for request in again.asked("task")] == ["research/bad", "brief"]


async def test_a_sub_goal_without_results_fails(workspace: Path) -> None:
    planner = Planner({None: OUTER, "research": plan(llm("one"))}, fails=("research/one",))
    result = await run(workspace, planner, max_replans=0)
    assert statuses(result)["research"] == "failed"
    assert "none of its 1 task has a result; research/one: it is gone" in str(result.tasks[1].error)


async def test_a_resume_tries_its_tasks_again_and_keeps_its_plan(workspace: Path) -> None:
    inner = plan(llm("one"), llm("two"), synthesis="both")
    planner = Planner({None: OUTER, "research": inner}, fails=("research/one", "research/two"))
    assert statuses(await run(workspace, planner, max_replans=0))["research"] == "failed"
    again = Planner({})
    async with goalwright(workspace, again.model) as runtime:
        result = await runtime.resume("last")
    assert (result.status, again.asked("decomposer")) == ("done", [])


async def test_planning_again_drops_grown_tasks(workspace: Path) -> None:
    """What it builds on is another result after a resume, so that it is asked for another plan."""
    each = llm("each", "facts", instruction="Read <<item>>", for_each=["p", "q"])
    outer = plan(
        llm("look", instruction="Look at <<item>>", for_each=["x", "y"]), goal("research", "look"), synthesis="all"
    )
    planner = Planner({None: outer, "research": plan(llm("facts"), each)}, fails=("look[2]",))
    assert (await run(workspace, planner, max_replans=0)).status == "partial"
    again = Planner({"research": plan(llm("other"))})
    async with goalwright(workspace, again.model) as runtime:
        result = await runtime.resume("last")
        assert runtime.result("last") == result, "the record can be read"
    assert result.status == "done"
    assert list(statuses(result)) == ["look", "research", "look[1]", "look[2]", "research/other"]


async def test_a_question_waits_and_is_answered_by_a_resume(workspace: Path) -> None:
    question = json.dumps({"tasks": [], "clarification": "Which service?"})
    planner = Planner({None: OUTER, "research": [question, INNER]})
    result = await run(workspace, planner)
    assert result.status == "waiting"
    (request,) = result.waiting
    assert (request.kind, request.task, request.preview) == ("question", "research", "Which service?")
    assert result.question == "Which service?"
    async with goalwright(workspace, planner.model) as runtime:
        result = await runtime.resume("last", answers=((request.id, Answer("answer", text="the to-do service")),))
    assert result.status == "done"
    assert "Which service?\nthe to-do service" in planner.asked("decomposer")[-1].messages[-1].content


async def test_each_item_can_be_a_goal(workspace: Path) -> None:
    outer = plan(goal("each", for_each=["tea", "milk"], instruction="Research <<item>>"))
    planner = Planner({None: outer, "each[1]": plan(llm("x")), "each[2]": plan(llm("x"), llm("y", "x"))})
    result = await run(workspace, planner)
    assert result.status == "done"
    assert statuses(result) == dict.fromkeys(
        ("each", "each[1]", "each[2]", "each[1]/x", "each[2]/x", "each[2]/y"), "done"
    )
    assert result.answer == "### tea\n\neach[1]/x is done\n\n### milk\n\neach[2]/y is done"
    asked = [request.messages[-1].content for request in planner.asked("decomposer")[1:]]
    asked_for = sorted(text.split("</goal>")[0].strip() for text in asked)
    assert asked_for == ["<goal>\nResearch milk", "<goal>\nResearch tea"]


async def test_joined_results_need_no_synthesis_call(workspace: Path) -> None:
    planner = Planner({None: plan(goal("research")), "research": plan(llm("one"), llm("two"), joined=True)})
    result = await run(workspace, planner)
    assert (result.status, planner.asked("synthesis")) == ("done", [])
    assert result.answer == "## research/one\n\nresearch/one is done\n\n## research/two\n\nresearch/two is done"


async def test_the_output_of_a_sub_goal_has_its_schema(workspace: Path) -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
    brief = llm("brief", "research", instruction="Use <<research.output.rows[0]>>")
    outer = plan(goal("research", output_schema=schema), brief)
    planner = Planner({None: outer, "research": INNER}, says={"research": ["prose", '{"rows": ["tea"]}']})
    result = await run(workspace, planner)
    assert (result.status, result.tasks[0].output) == ("done", '{"rows":["tea"]}')
    assert [request.task for request in planner.asked("synthesis")] == ["research", "research"]
    assert "Use tea" in planner.asked("task")[-1].messages[-1].content


async def test_max_cost_limits_a_sub_goal(workspace: Path) -> None:
    outer = plan(goal("research", max_cost=0.3), llm("brief"), synthesis="all")
    inner = plan(*(llm(f"t{n}", *([f"t{n - 1}"] if n else [])) for n in range(40)))
    planner = Planner({None: outer, "research": inner})
    result = await run(workspace, planner, max_replans=0)
    assert result.status == "partial"
    assert statuses(result)["brief"] == "done"
    (stopped,) = (task for task in result.tasks if task.status == "failed" and task.id != "research")
    assert stopped.error is not None
    assert stopped.error.startswith("the goal of task 'research' has cost $0.1")
    again = Planner({})
    async with goalwright(workspace, again.model) as runtime:
        assert (await runtime.resume("last")).status == "partial"
    assert stopped.id not in [request.task for request in again.asked("task")]


async def test_max_grown_limits_sub_goals(workspace: Path) -> None:
    result = await run(workspace, Planner({None: OUTER, "research": INNER}), max_grown=1, max_replans=0)
    assert statuses(result) == {"scope": "done", "research": "failed", "brief": "skipped"}
    assert "raise max_grown" in (result.tasks[1].error or "")
    planner = Planner({None: OUTER, "research": [INNER, plan(llm("one"))]})
    assert (await run(workspace, planner, max_depth=0)).status == "failed"


async def test_most_tasks_limits_the_plan(workspace: Path) -> None:
    outer = plan(goal("research", most_tasks=1))
    planner, seen = Planner({None: outer, "research": [INNER, plan(llm("one"))]}), Recorder()
    assert (await run(workspace, planner, seen)).status == "done"
    (refused,) = (event for event in seen.events if isinstance(event, PlanRefused))
    assert refused.faults == ("the plan has 2 tasks, more than the 1 allowed; merge some",)


async def test_a_diff_names_the_tasks_of_other_plans(workspace: Path) -> None:
    await run(workspace, Planner({None: OUTER, "research": INNER}))
    one = timeline(rows(workspace))
    await run(workspace, Planner({None: OUTER, "research": plan(llm("sources"), llm("other", "sources"))}))
    found = {difference.where: difference.what for difference in compare(one, timeline(rows(workspace)))}
    assert (found["research/notes"], found["research/other"]) == ("task", "task")


async def test_a_failed_goal_can_be_replaced_by_another(workspace: Path) -> None:
    changed = change(goal("again", "scope"), rewire={"research": "again"})
    planner = Planner({None: OUTER, "research": "no plan", "again": INNER}, change=changed)
    result = await run(workspace, planner)
    assert (result.status, statuses(result)["research"]) == ("done", "failed")
    assert [task for task in statuses(result) if task.startswith("again")] == ["again", "again/sources", "again/notes"]


@pytest.mark.parametrize("calls", [2, 3, 4, 6])
async def test_resume_after_any_call_repeats_no_call(workspace: Path, calls: int) -> None:
    planner, stop, done = Planner({None: OUTER, "research": INNER}), Stop(), 0

    def record(event: Event) -> None:
        nonlocal done
        done += isinstance(event, CallFinished)
        if done == calls:
            stop.set()

    async with goalwright(workspace, planner.model) as runtime:
        assert (await runtime.run(UNSURE_GOAL, record=record, stop=stop)).status == "interrupted"
        result = await runtime.resume("last")
    assert (result.status, result.usage.calls) == ("done", 7)
    paid = [row for row in rows(workspace) if row.type == "call_finished"]
    assert len(paid) == len({row.body["request"] for row in paid}) == 7


async def test_a_rerun_reuses_or_replans_a_sub_goal(workspace: Path) -> None:
    await run(workspace, Planner({None: OUTER, "research": INNER}))
    again = Planner({"research": plan(llm("other"))})
    async with goalwright(workspace, again.model) as runtime:
        last = runtime.journal.store.find("last").run_id
        result = await runtime.rerun(last, runtime.plan_rerun(last, ["brief"], {}))
        assert (result.status, [request.task for request in again.model.asked]) == ("done", ["brief"])
        result = await runtime.rerun(last, runtime.plan_rerun(last, ["research"], {}))
    assert result.status == "done"
    assert "research/other" in statuses(result)


@pytest.mark.changes_skills
async def test_an_edited_prompt_is_drift_in_its_planning(workspace: Path) -> None:
    await run(workspace, Planner({None: OUTER, "research": INNER}))
    seed = workspace / ".agents" / "seed"
    seed.mkdir(parents=True)
    block = "<% block user %><< super() >><% if results %> Hurry.<% endif %><% endblock %>"
    (seed / "decomposer.j2").write_text(f'<% extends "seed/decomposer.j2" %>\n{block}', encoding="utf-8")
    replay = await replayed(workspace, rows(workspace))
    assert [one.where for one in replay.drift] == ["planning of task 'research', call 1"]
    assert "prompt of planning of task 'research'" in replay.drift[0].what


LOOP = {"until": '<<research.output>> contains "enough"', "most": 3}


async def test_a_goal_is_planned_and_run_again_until_its_result_holds(workspace: Path) -> None:
    outer = plan(goal("research", repeat=LOOP), llm("brief", "research"))
    says = {"research": ["too little"], "research#2": ["enough"]}
    planner, seen = Planner({None: outer, "research": INNER, "research#2": INNER}, says=says), Recorder()
    result = await run(workspace, planner, seen)
    assert (result.status, result.answer) == ("done", "brief is done")
    assert {task.id: (task.status, task.attempts) for task in result.tasks} == {
        "research": ("done", 2), "brief": ("done", 1)
    }  # fmt: skip
    changes = [(event.cause, event.of) for event in seen.events if isinstance(event, PlanChanged)]
    assert changes == [("goal", "research"), ("repeat", "research"), ("goal", "research#2")]
    again = planner.asked("decomposer")[-1].messages[-1].content
    assert "<previous_attempt>\ntoo little\n</previous_attempt>" in again
    told = {request.task: request.messages[-1].content for request in planner.asked("task")}
    assert "too little" in told["research#2/sources"], "its first tasks see what the round before came to"
    assert "too little" not in told["research#2/notes"]
    assert "Read research#2/sources is done" in told["research#2/notes"]


async def test_failures_of_earlier_rounds_are_not_missing(workspace: Path) -> None:
    outer = plan(goal("research", repeat=LOOP), llm("brief", "research"))
    says = {"research": ["too little"], "research#2": ["enough"]}
    fails = ("research/notes",)
    planner = Planner({None: outer, "research": INNER, "research#2": INNER}, fails=fails, says=says)
    result = await run(workspace, planner, max_replans=0)
    assert (result.status, result.error) == ("done", None)
    planner = Planner({None: outer, "research": INNER, "research#2": INNER}, fails=("research#2/notes",), says=says)
    planner.says = {"research": ["too little"], "research#2": ["enough"]}
    result = await run(workspace, planner, max_replans=0)
    assert (result.status, "research#2/notes" in (result.error or "")) == ("partial", True)


async def test_a_repeated_list_runs_each_item_in_every_round(workspace: Path) -> None:
    each = llm("each", instruction="Take <<item>>", for_each=["a", "b"])
    outer, inner = plan(goal("research", repeat=LOOP)), plan(each, synthesis="all")
    says = {"research": ["too little"], "research#2": ["too little"], "research#3": ["enough"]}
    plans = {None: outer, "research": inner, "research#2": inner, "research#3": inner}
    planner = Planner(plans, says=says)
    result = await run(workspace, planner)
    assert (result.status, result.answer, result.tasks[0].attempts) == ("done", "enough", 3)
    asked = sorted(request.task or "" for request in planner.asked("task"))
    assert asked == sorted(f"{name}/each[{n}]" for name in ("research", "research#2", "research#3") for n in (1, 2))


async def test_a_loop_inside_a_goal_refers_to_its_own_result(workspace: Path) -> None:
    inner = plan(llm("draft", repeat={"until": '<<draft.output>> contains "#2"', "most": 3}), llm("end", "draft"))
    result = await run(workspace, Planner({None: plan(goal("research")), "research": inner}))
    assert result.status == "done"
    assert {task.id: task.output for task in result.tasks}["research/draft"] == "research/draft#2 is done"


async def test_rounds_of_a_sub_goal_share_its_max_cost(workspace: Path) -> None:
    outer = plan(goal("research", repeat={**LOOP, "most": 20}, max_cost=0.9), llm("brief"), synthesis="all")
    names = ["research", *(f"research#{number}" for number in range(2, 21))]
    planner = Planner({None: outer, **dict.fromkeys(names, INNER)}, cost=0.05)
    result = await run(workspace, planner, max_cost=100.0, max_replans=0)
    (research,) = (task for task in result.tasks if task.id == "research")
    assert (result.status, research.status) == ("partial", "failed")
    assert "the goal of task 'research' has cost $0.8" in (research.error or "")
    assert 1 < research.attempts < 10


async def test_approval_is_asked_before_each_round(workspace: Path) -> None:
    outer = plan(goal("research", repeat=LOOP, needs_approval=True))
    says = {"research": ["too little"], "research#2": ["enough"]}
    planner, seen = Planner({None: outer, "research": INNER, "research#2": INNER}, says=says), []

    async def approve(request: ApprovalRequest) -> Answer:
        seen.append((request.task, len(planner.asked("decomposer"))))
        return Answer()

    async with goalwright(workspace, planner.model) as runtime:
        result = await runtime.run(UNSURE_GOAL, approve=approve)
    assert result.status == "done"
    assert seen == [("research", 1), ("research#2", 2)]
