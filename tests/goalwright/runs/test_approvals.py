"""Calls, tasks and questions that wait for a person: asked once, answered from anywhere, found again after a crash."""

from __future__ import annotations

import asyncio
import json
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.stored.requests import open_requests
from goalwright_executor.approvals import approvals
from goalwright_planner.approvals import Answer, ApprovalRequest
from goalwright_planner.events import (
    ApprovalAsked,
    ApprovalGiven,
    PlanMade,
    TaskStarted,
    ToolCalled,
    ToolStarted,
    Warned,
)
from goalwright_planner.model import Reply
from goalwright_skills.errors import InputError
from tests.fakes import Recorder, ScriptedModel, saying
from tests.goalwright.approving import GOAL, NOTES, calling, goalwright, noted, prepare

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.model import Request

ALLOW, DENY = Answer("allow", by="cli"), Answer("deny", note="not this one", by="cli")


@pytest.fixture
def office(workspace: Path) -> Path:
    """A workspace with the tool `note_write`; every run in it must replay strictly."""
    prepare(workspace)
    return workspace


async def test_answers_reach_their_calls_among_equal_parallel_calls(office: Path) -> None:
    model = calling("milk", "bread", "milk")
    async with goalwright(office, model) as first:
        waiting = await first.run(GOAL)
    assert (waiting.status, [task.status for task in waiting.tasks]) == ("waiting", ["pending"])
    assert [request.arguments for request in waiting.waiting] == [{"text": "milk"}, {"text": "bread"}, {"text": "milk"}]
    ids = [request.id for request in waiting.waiting]
    assert len(set(ids)) == 3
    assert [name.rpartition("#")[2] for name in ids] == ["1", "1", "2"]
    assert (noted(office, waiting), len(model.asked)) == ([], 2)
    async with goalwright(office, model) as second:
        done = await second.resume(waiting.run_id, answers=dict(zip(ids, (ALLOW, DENY, ALLOW), strict=True)))
    assert (done.status, done.waiting) == ("done", ())
    assert done.tasks[0].attempts == 1
    assert noted(office, done) == ["milk", "milk"]
    assert done.answer == (
        "notes: noted milk, a person denied this call: not this one — do without it, and say in your answer what is "
        "missing because of it, noted milk"
    )
    assert len(model.asked) == 3, "no call was made twice"
    denied = json.loads(model.asked[-1].messages[-2].content)
    assert denied["error"]["code"] == "PERMISSION_DENIED"


async def test_a_waiting_call_blocks_no_other_call(office: Path) -> None:
    rules = ({"tool": "note_*", "decision": "ask"},)
    plan = {"tasks": [NOTES, {"id": "other", "action_type": "llm", "instruction": "Go on"}], "synthesis": "both"}
    model = calling("milk", plan=plan)
    async with goalwright(office, model, approvals=rules, max_concurrency=1) as runtime:
        result = await runtime.run(GOAL)
    assert [task.status for task in result.tasks] == ["pending", "done"]
    assert result.answer is None


async def test_requests_are_in_plan_order(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the calls that come first take longest until they ask."""
    first = [{"id": name, "action_type": "llm", "instruction": name, "needs_approval": True} for name in ("b", "a")]
    late = {"id": "c", "action_type": "llm", "instruction": "c", "needs_approval": True}
    plan = {"tasks": [late | {"depends_on": ["quick"]}, {"id": "quick", "action_type": "llm", "instruction": "q"}]}
    plan["tasks"] += [NOTES, *first]
    texts = [f"text {number}" for number in range(6)]

    def slowly(tool: Any, arguments: Any) -> str:
        time.sleep(0.05 * (6 - texts.index(arguments["text"])))
        return str(arguments["text"])

    monkeypatch.setattr(approvals, "preview_of", slowly)
    async with goalwright(office, calling(*texts, plan=plan)) as runtime:
        result = await runtime.run(GOAL)
        listed = open_requests(runtime.journal.store, runtime.paths)
    expected = ["c", *texts, "b", "a"]
    assert [request.preview for request in result.waiting] == expected
    assert [one.request.preview for one in listed] == expected


async def test_fifty_tasks_that_wait_are_answered_in_any_order(office: Path) -> None:
    tasks: list[dict[str, Any]] = [
        {"id": f"t{number}", "action_type": "llm", "instruction": f"Do {number}", "needs_approval": True}
        for number in range(50)
    ]
    plan = {"tasks": tasks, "synthesis": "all"}
    model = ScriptedModel(lambda request: Reply(json.dumps(plan)) if request.role == "decomposer" else Reply("ok"))
    async with goalwright(office, model) as runtime:
        result = await runtime.run(GOAL)
        assert len(result.waiting) == 50
        assert {request.preview for request in result.waiting} == {f"Do {number}" for number in range(50)}
        draw = random.Random(7)
        denied: set[str] = set()
        while result.waiting:
            some = draw.sample(result.waiting, min(len(result.waiting), draw.randint(1, 20)))
            deny = {request.task or "" for request in some if draw.random() < 0.3}
            denied |= deny
            answers = {request.id: DENY if request.task in deny else ALLOW for request in some}
            result = await runtime.resume(result.run_id, answers=answers)
    assert (result.status, bool(denied)) == ("partial", True)
    assert {task.id: task.status for task in result.tasks} == {
        f"t{number}": "skipped" if f"t{number}" in denied else "done" for number in range(50)
    }
    assert sum(request.role == "task" for request in model.asked) == 50 - len(denied)
    assert result.error is not None
    assert "it was denied: not this one" in result.error


async def test_a_denied_task_is_skipped_with_what_depends_on_it(office: Path) -> None:
    plan = {
        "tasks": [
            {"id": "draft", "action_type": "llm", "instruction": "Draft"},
            {"id": "send", "action_type": "llm", "instruction": "Send <<draft.output>>", "depends_on": ["draft"]}
            | {"needs_approval": "Send it to everybody?"},
            {"id": "after", "action_type": "llm", "instruction": "Go on", "depends_on": ["send"]},
        ]
    }
    asked: list[ApprovalRequest] = []

    async def refuse(request: ApprovalRequest) -> Answer:
        asked.append(request)
        return Answer("deny", note="Friday")

    async with goalwright(office, calling(plan=plan)) as runtime:
        result = await runtime.run(GOAL, approve=refuse)
    assert (result.status, [task.status for task in result.tasks]) == ("partial", ["done", "skipped", "skipped"])
    assert result.tasks[1].error == "it was denied: Friday"
    (request,) = asked
    assert (request.kind, request.task, request.tool) == ("task", "send", None)
    assert request.preview == "Send it to everybody?\nSend draft:"


async def test_a_tools_task_asks_once_and_its_arguments_can_be_edited(office: Path) -> None:
    task = {"id": "notes", "action_type": "tool", "name": "note_write", "arguments": {"text": "milk"}}
    goal = Goal(GOAL, plan=_plan(task | {"needs_approval": True}))
    record = Recorder()
    async with goalwright(office, calling()) as runtime:
        waiting = await runtime.run(goal)
        (request,) = waiting.waiting
        assert (request.kind, request.tool, request.arguments) == ("task", "note_write", {"text": "milk"})
        edit = Answer("edit", arguments={"text": "bread"})
        with pytest.raises(InputError, match="has no argument 'txt'"):
            await runtime.resume(waiting.run_id, answers={request.id: Answer("edit", arguments={"txt": "x"})})
        done = await runtime.resume(waiting.run_id, answers={request.id: edit}, record=record)
    assert (done.status, done.answer, noted(office, done)) == ("done", "noted bread", ["bread"])
    assert record.of(ApprovalAsked) == [], "the task was allowed with exactly this call"
    assert len(record.of(ToolStarted)) == 1


async def test_a_tools_task_whose_call_is_denied_is_skipped(office: Path) -> None:
    task = {"id": "notes", "action_type": "tool", "name": "note_write", "arguments": {"text": "milk"}}
    async with goalwright(office, calling()) as runtime:
        waiting = await runtime.run(Goal(GOAL, plan=_plan(task)))
        result = await runtime.resume(waiting.run_id, answers={waiting.waiting[0].id[:6]: DENY})
    assert (result.status, result.tasks[0].status, result.tasks[0].error) == (
        "failed",
        "skipped",
        "it was denied: not this one",
    )


async def test_one_answer_can_allow_the_rest_of_a_tools_calls(office: Path) -> None:
    async with goalwright(office, calling("milk", "bread", "tea")) as runtime:
        waiting = await runtime.run(GOAL)
        result = await runtime.resume(waiting.run_id, answers={waiting.waiting[1].id: Answer("allow_rest")})
    assert (result.status, noted(office, result)) == ("done", ["bread", "milk", "tea"])


async def test_a_callback_runs_beside_other_tasks_and_none_is_no_answer(office: Path) -> None:
    plan = {"tasks": [NOTES, {"id": "other", "action_type": "llm", "instruction": "Go on"}], "synthesis": "both"}
    model, finished = calling("milk", "bread", plan=plan), asyncio.Event()

    def script(request: Request) -> Reply | Exception:
        if request.task == "other":
            finished.set()
        return model.script(request)

    async def approve(request: ApprovalRequest) -> Answer | None:
        await finished.wait()  # with one task at a time, the other one needs the place of this one
        await asyncio.sleep(0.1)  # longer than a task may take
        return None if request.arguments == {"text": "bread"} else Answer()

    record = Recorder()
    limits = {"max_concurrency": 1, "task_timeout": 5.0}
    async with goalwright(office, ScriptedModel(script), **limits) as runtime:
        result = await runtime.run(GOAL, approve=approve, record=record)
    assert (result.status, noted(office, result)) == ("waiting", ["milk"])
    assert [request.arguments for request in result.waiting] == [{"text": "bread"}]
    order = [event for event in record.events if isinstance(event, ApprovalGiven | ToolStarted | ToolCalled)]
    assert [type(event) for event in order] == [ApprovalGiven, ToolStarted, ToolCalled]


async def test_waiting_for_a_person_takes_none_of_a_tasks_time(office: Path) -> None:
    async def slowly(_: ApprovalRequest) -> Answer:
        await asyncio.sleep(4.5)
        return Answer("deny")

    async with goalwright(office, calling("milk"), task_timeout=4.0) as runtime:
        result = await runtime.run(GOAL, approve=slowly)
    assert result.status == "done"


@pytest.mark.parametrize("answer", [RuntimeError("down"), "yes", Answer("answer"), Answer("edit"), Answer("maybe")])  # type: ignore[arg-type]
async def test_a_failing_callback_leaves_the_request_waiting(office: Path, answer: Any) -> None:
    async def approve(_: ApprovalRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    record = Recorder()
    async with goalwright(office, calling("milk")) as runtime:
        result = await runtime.run(GOAL, approve=approve, record=record)
    assert (result.status, len(result.waiting)) == ("waiting", 1)
    assert any("still waits" in event.message for event in record.events if isinstance(event, Warned))


async def test_an_id_that_is_unknown_ambiguous_or_answered_changes_nothing(office: Path) -> None:
    async with goalwright(office, calling("milk", "milk", "bread")) as runtime:
        waiting = await runtime.run(GOAL)
        first, second, third = waiting.waiting
        same = first.id.partition("#")[0]
        for answers, says in [
            ({"beef": ALLOW}, "there is no request 'beef'"),
            ({same: ALLOW}, f"could be any of {first.id}, {second.id}"),
            ([(first.id, ALLOW), (first.id[:8] + "#1", DENY)], "is answered twice"),
            ({third.id: Answer("answer", text="x")}, "it is not a question"),
            ({"": Answer("answer", text="x")}, "no question waits"),
            ({third.id: Answer("edit", arguments={"text": 5})}, "takes a string as 'text'"),
        ]:
            with pytest.raises(InputError) as caught:
                await runtime.resume(waiting.run_id, answers=answers)  # type: ignore[arg-type]
            assert says in caught.value.message
        assert runtime.result(waiting.run_id).waiting == waiting.waiting
        again = await runtime.resume(waiting.run_id, answers={first.id[:8] + "#1": ALLOW, third.id[:5]: ALLOW})
        assert [request.id for request in again.waiting] == [second.id]
        for answered in (first, third):
            with pytest.raises(InputError, match="has been answered already: allow"):
                await runtime.resume(waiting.run_id, answers={answered.id: DENY})
        done = await runtime.resume(waiting.run_id, answers={second.id: DENY})
        with pytest.raises(InputError, match="has been answered already: deny"):
            await runtime.resume(done.run_id, answers={second.id: ALLOW})
    assert (done.status, noted(office, done)) == ("done", ["bread", "milk"])


async def test_an_open_request_survives_a_policy_change(office: Path) -> None:
    model = calling("milk")
    async with goalwright(office, model) as strict:
        waiting = await strict.run(GOAL)
    async with goalwright(office, model, approvals=(), approve="never") as loose:
        still = await loose.resume(waiting.run_id)
        assert (still.status, still.waiting) == ("waiting", waiting.waiting)
        assert still.tasks[0].attempts == 0
        done = await loose.resume(waiting.run_id, answers={waiting.waiting[0].id: ALLOW})
    assert (done.status, done.tasks[0].attempts) == ("done", 1)


@pytest.mark.parametrize(
    ("settings", "status", "by"),
    [
        ({"approvals": (), "approve": "writes"}, "done", []),
        ({"approvals": (), "approve": "never"}, "done", []),
        ({"approvals": (), "approve": "all"}, "waiting", []),
        ({"approvals": ({"tool": "note_write", "decision": "allow"},), "approve": "all"}, "done", ["policy:1"]),
        ({"approvals": ({"tool": "x", "decision": "ask"}, {"tool": "*", "decision": "deny"})}, "done", ["policy:2"]),
    ],
)
async def test_the_policy_decides_which_calls_ask(
    office: Path, settings: dict[str, Any], status: str, by: list[str]
) -> None:
    record = Recorder()
    async with goalwright(office, calling("milk"), **settings) as runtime:
        result = await runtime.run(GOAL, record=record)
    assert result.status == status
    assert [event.by for event in record.events if isinstance(event, ApprovalGiven)] == by
    denied = by == ["policy:2"]
    assert noted(office, result) == ([] if denied or status == "waiting" else ["milk"])
    assert not denied or "the approval policy denies note_write" in (result.answer or "")


async def test_approve_all_starts_tasks_that_need_approval(office: Path) -> None:
    record = Recorder()
    async with goalwright(office, calling("milk"), approvals=(), approve="never") as runtime:
        result = await runtime.run(Goal(GOAL, plan=_plan(NOTES | {"needs_approval": True})), record=record)
    assert result.status == "done"
    assert [event.by for event in record.events if isinstance(event, ApprovalGiven)] == ["policy:0"]


async def test_a_question_is_waited_for_and_planning_continues_in_the_same_run(office: Path) -> None:
    model = saying(
        '{"tasks": [], "clarification": "Which service?"}',
        '{"tasks": [], "clarification": "Which service?"}',
        json.dumps({"tasks": [NOTES]}),
        "ok",
    )
    record = Recorder()
    async with goalwright(office, model) as runtime:
        first = await runtime.run(GOAL)
        assert (first.status, first.question, first.error) == ("waiting", "Which service?", None)
        (request,) = first.waiting
        assert (request.kind, request.task, request.preview) == ("question", None, "Which service?")
        with pytest.raises(InputError, match="it is a question"):
            await runtime.resume(first.run_id, answers={request.id: ALLOW})
        second = await runtime.resume(first.run_id, answers={"": Answer("answer", text="the to-do one")})
        assert (second.run_id, second.status, len(second.waiting)) == (first.run_id, "waiting", 1)
        assert second.waiting[0].id != request.id
    async with goalwright(office, model) as runtime:
        third = await runtime.resume(first.run_id, answers={"": Answer(text="mine")}, record=record)
    assert (third.status, third.answer, third.question) == ("done", "ok", None)
    assert len(model.asked) == 4, "no question was asked twice"
    prompt = model.asked[2].messages[-1].content
    assert prompt.index("Which service?\nthe to-do one") < prompt.index("Which service?\nmine")
    assert len([event for event in record.events if isinstance(event, PlanMade) and event.plan.tasks]) == 1


async def test_a_question_can_be_answered_at_once(office: Path) -> None:
    model = saying('{"tasks": [], "clarification": "Which?"}', json.dumps({"tasks": [NOTES]}), "ok")

    async def approve(request: ApprovalRequest) -> Answer:
        assert request.kind == "question"
        return Answer(text="this one, with the key sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa")

    async with goalwright(office, model) as runtime:
        result = await runtime.run(GOAL, approve=approve)
    assert result.status == "done"
    assert "Which?\nthis one" in model.asked[1].messages[-1].content
    assert "sk-proj" not in model.asked[1].messages[-1].content


async def test_a_request_stays_the_same_over_a_resume_without_an_answer(office: Path) -> None:
    record = Recorder()
    plan = _plan(NOTES | {"needs_approval": True})
    async with goalwright(office, calling("milk")) as runtime:
        waiting = await runtime.run(Goal(GOAL, plan=plan), record=record)
        still = await runtime.resume(waiting.run_id, record=record)
    assert still.waiting == waiting.waiting, "it was asked when it was asked first"
    assert len(record.of(TaskStarted)) == 2
    assert waiting.usage.calls == still.usage.calls == 0


def _plan(*tasks: dict[str, Any]) -> Any:
    from goalwright_planner.plan.plan import Plan

    return Plan.from_dict({"tasks": list(tasks)})
