"""Tasks that are done again until a condition holds: rounds on record, resume, rerun, replay, and what is shown."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.cli.view.timeline import draw
from goalwright.interfaces.web.trace_page import render
from goalwright.runs.goal import Goal
from goalwright.runs.plans.plan_check import check
from goalwright.runs.runtime import Goalwright
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.telemetry.spans import run_spans
from goalwright.traces.diff import compare
from goalwright.traces.drawing.flowchart import mermaid
from goalwright.traces.strict_replay import strict
from goalwright.traces.timeline import timeline
from goalwright_executor.journal import trace_file
from goalwright_planner.approvals import Answer
from goalwright_planner.events import ConditionChecked, PlanChanged, Warned
from goalwright_planner.model import Reply
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_skills.errors import InputError
from tests.conftest import add_skill
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import replayed, rows
from tests.goalwright.runs.adaptive import REFUSED, Adaptive, Answers, holds, llm, outputs, planned, statuses
from tests.goalwright.runs.cut_journal import copied, cut, kinds

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.model import Request


@pytest.fixture
def adaptive(workspace: Path) -> Adaptive:
    return Adaptive(workspace)


IS_GOOD = '<<draft.output>> contains "good"'


def loop(until: str | dict[str, str] = IS_GOOD, most: int = 5, **more: Any) -> dict[str, Any]:
    """A draft that is written again until it is good."""
    return llm("draft", **{"repeat": {"until": until, "most": most}, **more})


GOOD_AT_3: Answers = {"draft": "bad one", "draft#2": "bad two", "draft#3": "good three"}
NEVER_GOOD: Answers = {"draft": "bad one", "draft#2": "bad two", "draft#3": "bad three"}
END = llm("end", "draft", instruction="Print <<draft.output>>")


def changes(adaptive: Adaptive) -> list[tuple[str, str | None, list[str]]]:
    """The changes of the plan, as recorded in this process."""
    return [
        (event.cause, event.of, [task.id for task in event.added])
        for event in adaptive.record.events
        if isinstance(event, PlanChanged)
    ]


def prompts(adaptive: Adaptive) -> dict[str | None, str]:
    """What each task was told last."""
    return {request.task: request.messages[-1].content for request in adaptive.model.asked}


async def test_a_task_repeats_until_its_condition_holds(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(loop(), END), GOOD_AT_3)
    assert (result.status, result.error) == ("done", None)
    assert outputs(result) == {"draft": "good three", "end": "Print good three done"}
    assert result.tasks[0].attempts == 3
    assert changes(adaptive) == [("repeat", "draft", ["draft#2"]), ("repeat", "draft", ["draft#3"])]
    told = prompts(adaptive)
    assert "<previous_attempt>\nbad one\n</previous_attempt>" in told["draft#2"]
    assert "<previous_attempt>\nbad two\n</previous_attempt>" in told["draft#3"]
    assert "previous_attempt" not in told["draft"] + told["end"]
    checked = [event for event in adaptive.record.events if isinstance(event, ConditionChecked)]
    assert [(one.task, one.round, one.holds) for one in checked] == [
        ("draft", 1, False), ("draft", 2, False), ("draft", 3, True)
    ]  # fmt: skip


async def test_a_condition_that_holds_at_once_adds_no_round(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(loop(), END), {"draft": "good"})
    assert (outputs(result)["draft"], changes(adaptive), result.tasks[0].attempts) == ("good", [], 1)


async def test_the_reason_of_a_model_is_in_the_next_round(adaptive: Adaptive) -> None:
    def answer(request: Request) -> Reply:
        if request.role == "condition":
            return Reply(holds("two" in request.messages[-1].content, "it is too long"))
        return Reply({"draft": "one"}.get(request.task or "", "two"))

    model = ScriptedModel(answer)
    async with Goalwright(adaptive.workspace, Settings(model="scripted"), open_model=lambda _: model) as goalwright:
        result = await goalwright.run(Goal("do it", plan=planned(loop({"ask": "Is this short: <<draft.output>>?"}))))
    assert (result.status, result.answer) == ("done", "two")
    told = [request for request in model.asked if request.task == "draft#2"]
    assert "<why>\nit is too long\n</why>" in told[0].messages[-1].content
    asked = [request.messages[-1].content for request in model.asked if request.role == "condition"]
    assert ["one" in asked[0], "two" in asked[1]] == [True, True]


async def test_a_repeat_that_never_holds_fails_and_keeps_its_result(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(loop(most=3), END), NEVER_GOOD)
    draft, end = result.tasks
    assert (result.status, draft.status, draft.output, draft.attempts) == ("partial", "failed", "bad three", 3)
    assert draft.error == f"it was done in 3 rounds, and this does not hold: {IS_GOOD}"
    assert (end.status, end.error) == ("skipped", "it depends on 'draft', which failed")
    assert "bad three" in (result.answer or "")
    assert "bad two" not in (result.answer or "")
    assert (result.error or "").startswith("2 of 2 tasks have no result: draft: it was done in 3")


async def test_a_branch_for_its_failure_reads_the_last_result(adaptive: Adaptive) -> None:
    mend = llm("mend", "draft", when='<<draft.status>> == "failed" and <<draft.output>> contains "three"')
    mend |= {"instruction": "Mend <<draft.output>>"}
    result = await adaptive.run(planned(loop(most=3), mend), NEVER_GOOD)
    assert (result.status, outputs(result)["mend"]) == ("done", "Mend bad three done")
    warned = [event.message for event in adaptive.record.events if isinstance(event, Warned)]
    assert any("'draft' failed, and task 'mend' handled that" in text for text in warned)


async def test_the_dependent_that_handles_a_failure_is_shown_the_last_result(adaptive: Adaptive) -> None:
    mend = llm("mend", "draft", when='<<draft.status>> == "failed"')
    await adaptive.run(planned(loop(most=3), mend), NEVER_GOOD)
    assert "bad three" in prompts(adaptive)["mend"]


async def test_items_of_a_branch_for_a_failure_run(adaptive: Adaptive) -> None:
    each = llm("each", "draft", instruction="Mend <<item>>: <<draft.output>>", for_each=["a", "b"])
    result = await adaptive.run(planned(loop(most=3), {**each, "when": '<<draft.status>> == "failed"'}), NEVER_GOOD)
    assert outputs(result)["each[2]"] == "Mend b: bad three done"


async def test_a_failed_round_fails_the_task_with_the_result_before_it(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(loop()), {"draft": "bad one", "draft#2": REFUSED})
    (draft,) = result.tasks
    assert (draft.status, draft.error, draft.output) == ("failed", "round 2: not now", "bad one")
    result = await adaptive.resume(GOOD_AT_3)
    assert (result.status, outputs(result)) == ("done", {"draft": "good three"})
    assert adaptive.asked == ["draft#2", "draft#3"], "the first round is found again"


async def test_a_resume_tries_the_last_round_of_a_loop_again_and_no_other(adaptive: Adaptive) -> None:
    await adaptive.run(planned(loop(most=3), END), NEVER_GOOD)
    result = await adaptive.resume({**NEVER_GOOD, "draft#3": "good at last"})
    assert (result.status, outputs(result)["draft"], result.tasks[0].output) == ("done", "good at last", "good at last")
    assert adaptive.asked == ["draft#3", "end"]


async def test_a_resume_asks_again_whether_the_last_round_holds(adaptive: Adaptive) -> None:
    answers: Answers = {**NEVER_GOOD, "when draft": holds(False)}
    await adaptive.run(planned(loop({"ask": "Is <<draft.output>> good?"}, most=2)), answers)
    result = await adaptive.resume({**answers, "when draft": holds(True)})
    assert (result.status, adaptive.asked) == ("done", ["draft#2", "when draft"])


async def test_every_item_has_rounds_of_its_own(adaptive: Adaptive) -> None:
    repeat = {"until": "<<draft.output>> contains <<item.wanted>>", "most": 4}
    each = llm("draft", instruction="Write <<item.name>>", for_each=[], repeat=repeat)
    each["for_each"] = [{"name": "a", "wanted": "x"}, {"name": "b", "wanted": "y"}]
    result = await adaptive.run(
        planned(each), {"draft[1]": "x", "draft[2]": "no", "draft[2]#2": "no", "draft[2]#3": "y"}
    )
    assert statuses(result) == dict.fromkeys(("draft", "draft[1]", "draft[2]"), "done")
    assert outputs(result)["draft"] == '### {"name": "a", "wanted": "x"}\n\nx\n\n### {"name": "b", "wanted": "y"}\n\ny'
    assert [task.attempts for task in result.tasks] == [1, 1, 3]
    assert "Write b" in prompts(adaptive)["draft[2]#3"]


async def test_an_item_that_never_held_is_no_item_of_a_later_list(adaptive: Adaptive) -> None:
    each = loop(most=2, instruction="Write <<item>>", for_each=["a", "b"])
    fix = llm("fix", "draft", instruction="Fix <<item>>", for_each="<<draft.output>>")
    few = llm("few", "draft", instruction="Of <<draft.count>>", when="<<draft.count>> == 1")
    answers: Answers = {"draft[1]": "good a", "draft[2]": "bad b", "draft[2]#2": "bad b"}
    result = await adaptive.run(planned(each, fix, few), answers)
    assert (result.status, statuses(result)["draft[2]"]) == ("partial", "failed")
    assert [task for task in statuses(result) if task.startswith("fix[")] == ["fix[1]"]
    assert (outputs(result)["draft"], outputs(result)["few"]) == ("### a\n\ngood a", "Of 1 done")


async def test_a_tool_is_called_again_until_it_holds(adaptive: Adaptive) -> None:
    tool = {"id": "draft", "action_type": "tool", "name": "ReadFile", "arguments": {"path": "state.txt"}}
    (adaptive.workspace / "state.txt").write_text("0", "utf-8")
    plan = Plan.from_dict({"tasks": [tool | {"repeat": {"until": IS_GOOD, "most": 3}}]})

    def finish(event: object) -> None:
        if isinstance(event, PlanChanged):
            (adaptive.workspace / "state.txt").write_text("good", "utf-8")

    async with Goalwright(adaptive.workspace, Settings(), open_model=lambda _: adaptive.model) as goalwright:
        result = await goalwright.run(Goal("do it", plan=plan), record=finish)
    assert (result.status, result.tasks[0].attempts) == ("done", 2)
    assert "good" in (result.answer or "")
    assert adaptive.model.asked == []


async def test_max_grown_counts_rounds(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(loop(most=9)), {}, max_grown=2)
    (draft,) = result.tasks
    assert (draft.status, draft.attempts, draft.output) == ("failed", 3, "Do draft done")
    assert draft.error == (
        "the plan may grow by 2 tasks in all; it has grown by 2 already, and this would add 1: "
        "raise max_grown, or add fewer"
    )
    result = await adaptive.resume(GOOD_AT_3 | {"draft#4": "good"}, max_grown=3)
    assert (result.status, adaptive.asked) == ("done", ["draft#4"]), "what there was is kept"


async def test_the_budget_stops_a_repeat(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(loop(most=20)), {}, max_cost=0.2)
    assert (result.status, result.code) == ("stopped", "BUDGET_SPENT")
    assert 1 < result.usage.calls < 20
    following = f"draft#{result.usage.calls + 1}"
    result = await adaptive.resume({following: "good"}, max_cost=1.0)
    assert (result.status, adaptive.asked) == ("done", [following]), "the rounds before are found again"


def asking(seen: list[ApprovalRequest], answers: list[Answer | None]) -> Any:
    async def approve(request: ApprovalRequest) -> Answer | None:
        seen.append(request)
        return answers.pop(0)

    return approve


async def test_an_approval_asks_in_each_round(adaptive: Adaptive) -> None:
    seen: list[ApprovalRequest] = []
    async with adaptive.goalwright(GOOD_AT_3, {}) as goalwright:
        result = await goalwright.run(
            Goal("do it", plan=planned(loop(needs_approval=True))), approve=asking(seen, [Answer(), Answer(), Answer()])
        )
    assert result.status == "done"
    assert [request.task for request in seen] == ["draft", "draft#2", "draft#3"]
    assert len({request.id for request in seen}) == 3


async def test_a_waiting_round_continues_after_a_resume(adaptive: Adaptive) -> None:
    seen: list[ApprovalRequest] = []
    async with adaptive.goalwright(GOOD_AT_3, {}) as goalwright:
        goal = Goal("do it", plan=planned(loop(needs_approval=True)))
        result = await goalwright.run(goal, approve=asking(seen, [Answer(), None]))
    assert (result.status, [request.task for request in result.waiting]) == ("waiting", ["draft#2"])
    assert [(task.id, task.status) for task in result.tasks] == [("draft", "pending")]
    async with adaptive.goalwright(GOOD_AT_3, {}) as goalwright:
        result = await goalwright.resume("last", approve=asking(seen, [Answer(), Answer()]))
    assert (result.status, result.tasks[0].attempts) == ("done", 3)
    assert adaptive.asked == ["draft#2", "draft#3"]


async def test_a_round_that_is_denied_ends_the_task_as_skipped(adaptive: Adaptive) -> None:
    async with adaptive.goalwright(GOOD_AT_3, {}) as goalwright:
        goal = Goal("do it", plan=planned(loop(needs_approval=True)))
        result = await goalwright.run(goal, approve=asking([], [Answer(), Answer("deny", "enough")]))
    assert [(task.status, task.error) for task in result.tasks] == [("skipped", "round 2: it was denied: enough")]


CUT = planned(
    loop({"ask": "Is <<draft.output>> good?"}, most=2),
    llm("mend", "draft", when='<<draft.status>> == "failed"', instruction="Mend <<draft.output>>"),
    llm("each", "mend", instruction="Take <<item>>", for_each=["a", "b"], width=1,
        repeat={"until": '<<each.output>> contains "again"', "most": 3}),
)  # fmt: skip
CUT_ANSWERS: Answers = {
    "draft": "one", "draft#2": "two", "when draft": holds(False), "each[1]": "again", "each[2]#2": "again"
}  # fmt: skip


@pytest.mark.slow
async def test_a_repeat_cut_after_any_event_replays_and_resumes(adaptive: Adaptive) -> None:
    whole = await adaptive.run(CUT, CUT_ANSWERS)
    calls, recorded = adaptive.asked, rows(adaptive.workspace)
    assert (whole.status, len(calls)) == ("done", whole.usage.calls)
    journal = copied(adaptive.workspace)
    for seq in kinds(recorded):
        cut(journal, adaptive.workspace, seq)
        record = rows(adaptive.workspace)
        assert (await replayed(adaptive.workspace, record)).drift == (), f"after event {seq}"
        paid = [row.body for row in record if row.type == "call_finished"]
        named = [f"when {body['task']}" if body["role"] == "condition" else body["task"] for body in paid]
        result = await adaptive.resume(CUT_ANSWERS)
        assert sorted([*adaptive.asked, *named]) == calls, f"after event {seq}"
        assert (result.status, outputs(result)) == ("done", outputs(whole)), f"after event {seq}"
        assert (await replayed(adaptive.workspace, rows(adaptive.workspace))).drift == (), f"resumed after event {seq}"
    journal.close()


async def test_a_rerun_from_a_loop_runs_it_from_its_first_round(adaptive: Adaptive) -> None:
    await adaptive.run(planned(llm("notes"), {**loop(), "depends_on": ["notes"]}, END), GOOD_AT_3)
    result = await adaptive.rerun("draft", {"draft": "bad", "draft#2": "good two"})
    assert (result.status, adaptive.asked) == ("done", ["draft", "draft#2", "end"])
    assert outputs(result)["draft"] == "good two"
    result = await adaptive.rerun("end", {})
    assert adaptive.asked == ["end"]
    assert set(statuses(result)) == {"notes", "draft", "end"}


async def test_a_rerun_names_the_task_and_not_a_round_of_it(adaptive: Adaptive) -> None:
    await adaptive.run(planned(loop(), END), GOOD_AT_3)
    with pytest.raises(InputError, match="'draft#2' is a part of a round of 'draft'") as raised:
        await adaptive.rerun("draft#2")
    assert raised.value.hint == "begin with draft, which runs all its rounds again"


async def test_a_replay_elsewhere_finds_no_drift_and_a_changed_skill_is_named(
    adaptive: Adaptive, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.applymarker(pytest.mark.changes_skills)
    skill = add_skill(adaptive.workspace, "writing", "---\nname: writing\ndescription: Write texts.\n---\nWrite it.")
    task = {**loop(), "action_type": "skill", "name": "writing", "arguments": ""}
    here = str(adaptive.workspace)
    never = llm("never", repeat={"until": "<<never.output>> is empty", "most": 2})
    answers: Answers = {
        "draft": f"{here}/bad",
        "draft#2": f"{here}/good",
        "never": here,
        "never#2": f"{here}/{'x' * 90}",
    }
    result = await adaptive.run(Plan.from_dict({"tasks": [task, never]}), answers)
    assert statuses(result) == {"draft": "done", "never": "failed"}
    exported = [trace_file.parse(line, "x") for line in trace_file.lines(iter(rows(adaptive.workspace)))]
    there = tmp_path / "another" / "place"
    shutil.copytree(adaptive.workspace / "skills", there / "skills")
    assert (await strict(exported, Paths.of(there, os.environ), Settings())).drift == ()
    (skill / "SKILL.md").write_text("---\nname: writing\ndescription: Write texts.\n---\nWrite it twice.", "utf-8")
    drift = (await replayed(adaptive.workspace, rows(adaptive.workspace))).drift
    assert {one.where for one in drift} >= {"task draft", "task draft#2"}


async def test_a_long_result_is_shown_by_its_beginning(adaptive: Adaptive) -> None:
    await adaptive.run(planned(loop()), {"draft": "x" * 5000, "draft#2": "good"}, input_budget=1000)
    assert "[… 4000 more characters are not shown]" in prompts(adaptive)["draft#2"]


async def test_rounds_work_with_the_result_cache(adaptive: Adaptive) -> None:
    for _ in range(2):
        result = await adaptive.run(planned(loop(), END), GOOD_AT_3, cache=30.0)
        assert outputs(result) == {"draft": "good three", "end": "Print good three done"}


async def test_an_item_whose_condition_does_not_hold_is_not_needed(adaptive: Adaptive) -> None:
    items = [{"name": "a", "kind": "x"}, {"name": "b", "kind": "y"}, {"name": "c"}]
    each = llm("each", instruction="Take <<item.name>>", for_each=items, when='<<item.kind>> == "x"')
    result = await adaptive.run(planned(each, llm("end", "each", instruction="<<each.count>>: <<each.output>>")))
    assert (result.status, result.error) == ("done", None)
    assert statuses(result) == {
        "each": "done", "end": "done", "each[1]": "done", "each[2]": "unneeded", "each[3]": "unneeded"
    }  # fmt: skip
    assert outputs(result)["end"] == '1: ### {"name": "a", "kind": "x"}\n\nTake a done done'
    await adaptive.rerun("end")
    assert adaptive.asked == ["end"]


async def test_a_model_decides_for_each_item_and_where_none_is_needed_the_task_is_not(adaptive: Adaptive) -> None:
    ask = {"ask": "Is <<item>> a fruit, number <<item.number>>?"}
    each = llm("each", instruction="Take <<item>>", for_each=["stone", "sand"], when=ask)
    answers: Answers = {"when each[1]": holds(False), "when each[2]": holds(False)}
    result = await adaptive.run(planned(each, llm("end", "each")), answers)
    assert (result.status, set(statuses(result).values())) == ("done", {"unneeded"})
    asked = [request.messages[-1].content for request in adaptive.model.asked]
    assert ["Is stone a fruit, number 1?" in asked[0], "Is sand a fruit, number 2?" in asked[1]] == [True, True]


async def test_items_with_a_form_leave_out_what_is_not_needed(adaptive: Adaptive) -> None:
    form = {"type": "object", "properties": {"n": {"type": "integer"}}}
    each = llm("each", instruction="<<item>>", for_each=[1, 2, 3], when="<<item>> != 2", output_schema=form)
    result = await adaptive.run(planned(each), {"each[1]": '{"n": 1}', "each[3]": REFUSED})
    assert outputs(result)["each"] == '[{"n":1},null]'


async def test_every_view_shows_rounds_as_parts_of_one_task(adaptive: Adaptive) -> None:
    await adaptive.run(planned(loop(), END), GOOD_AT_3)
    record = rows(adaptive.workspace)
    seen = timeline(record)
    assert [span.id for span in seen.spans.values() if not span.id.startswith("(")] == [
        "draft", "draft#2", "draft#3", "end"
    ]  # fmt: skip
    assert [seen.spans[name].item for name in ("draft", "draft#2", "draft#3")] == [None, "round 2", "round 3"]
    assert "draft#3" in draw(seen, 100)
    page = render([record])
    assert "draft: round 2: the condition does not hold yet" in page
    assert "draft: repeated as draft#3" in page
    assert "until: " in mermaid(planned(loop(), END))
    named = {span["name"]: span for span in run_spans(record)}
    assert named["invoke_agent draft#2"]["parentSpanId"] == named["invoke_agent draft"]["spanId"]


async def test_two_runs_are_compared_round_by_round(adaptive: Adaptive) -> None:
    await adaptive.run(planned(loop(), END), GOOD_AT_3)
    before = rows(adaptive.workspace)
    await adaptive.run(planned(loop(), END), {"draft": "bad one", "draft#2": "good two"})
    compared = [str(one) for one in compare(timeline(before), timeline(rows(adaptive.workspace)))]
    assert "draft#3  only in the first" in compared


def test_faults_have_the_line_of_their_key() -> None:
    text = "tasks:\n- id: draft\n  action_type: llm\n  instruction: go\n  repeat:\n    most: 1\n    until: no\n"
    assert {fault.line for fault in check(text, Known()).faults} == {5}
