"""A task for each item of a list, on record: failures, resume, rerun, strict replay, and what a run shows of it."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from goalwright.interfaces.cli.main import main
from goalwright.interfaces.cli.view import plan_graph
from goalwright.interfaces.cli.view.timeline import draw
from goalwright.interfaces.web.trace_page import render
from goalwright.runs.goal import Goal
from goalwright.runs.plans.plan_check import check
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stop import Stop
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.telemetry.spans import run_spans
from goalwright.traces.diff import compare
from goalwright.traces.drawing.flowchart import dot, mermaid
from goalwright.traces.drawing.svg import svg
from goalwright.traces.strict_replay import strict
from goalwright.traces.timeline import timeline
from goalwright_executor.journal import trace_file
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished, TaskReused, TaskStarted
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.task import Item, Task
from tests.conftest import add_skill
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import replayed, rows
from tests.goalwright.runs.adaptive import REFUSED, Adaptive, Answers, answering, holds, llm, outputs, planned, statuses
from tests.goalwright.runs.cut_journal import copied, cut, kinds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright_planner.events import Event

FILES = llm("files")
REVIEW = llm("review", "files", instruction="Review <<item>>", for_each="<<files.output>>", title="Review the files")
END = llm("end", "review", instruction="Sum up: <<review.output>>")
TEN: Answers = {"files": "\n".join(f"f{number}.py" for number in range(1, 11))}


@pytest.fixture
def adaptive(workspace: Path) -> Adaptive:
    return Adaptive(workspace)


def refused(*numbers: int) -> Answers:
    """Ten files, of which some cannot be reviewed."""
    return {**TEN, **{f"review[{number}]": REFUSED for number in numbers}}


async def test_three_of_ten_items_fail_alone_and_are_named(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(FILES, REVIEW, END), refused(3, 5, 10))
    assert result.status == "partial"
    assert result.error == (
        "3 of 13 tasks have no result: Review the files (review[3], f3.py): not now; "
        "Review the files (review[5], f5.py): not now; Review the files (review[10], f10.py): not now"
    )
    assert "Review the files (review[5], f5.py): not now" in (result.answer or "")
    done = [task for task, status in statuses(result).items() if status == "done"]
    assert done == ["files", "review", "end", *(f"review[{number}]" for number in (1, 2, 4, 6, 7, 8, 9))]
    expected = "\n\n".join(f"### f{n}.py\n\nReview f{n}.py done" for n in (1, 2, 4, 6, 7, 8, 9))
    assert outputs(result)["review"] == expected


async def test_a_resume_retries_failed_items_and_pays_for_nothing_else_twice(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), refused(3, 5))
    result = await adaptive.resume(refused(5))
    assert result.status == "partial"
    assert adaptive.asked == ["end", "review[3]", "review[5]"], "the review has changed, so its end is written again"
    result = await adaptive.resume()
    assert (result.status, result.error) == ("done", None)
    assert adaptive.asked == ["end", "review[5]"]
    assert {task.id: task.attempts for task in result.tasks if task.id in ("review[1]", "review[3]", "review[5]")} == {
        "review[1]": 1, "review[3]": 2, "review[5]": 3,
    }  # fmt: skip


async def test_a_done_map_is_not_recorded_again_by_a_resume(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), {**TEN, "end": REFUSED})
    result = await adaptive.resume()
    assert result.status == "done"
    assert adaptive.asked == ["end"]
    events = [event for event in adaptive.record.events if isinstance(event, TaskStarted | PlanChanged)]
    assert [event.task for event in events if isinstance(event, TaskStarted)] == ["end"]
    shown = [event.task for event in adaptive.record.events if isinstance(event, TaskFinished)]
    assert shown.count("review[10]") == 1, "as it was before"


async def stopped_when(adaptive: Adaptive, plan: Any, seen: Callable[[Event], bool], **settings: Any) -> None:
    """Run until something was seen, then stop."""
    stop, model = Stop(), ScriptedModel(answering(TEN))
    async with Goalwright(
        adaptive.workspace, Settings(model="scripted", **settings), open_model=lambda _: model
    ) as goalwright:
        goal = Goal("do it", plan=plan)
        result = await goalwright.run(goal, record=lambda event: stop.set() if seen(event) else None, stop=stop)
    assert result.status == "interrupted"


@pytest.mark.parametrize("item", ["review[1]", "review[4]", "review[10]"])
async def test_a_stopped_run_continues_with_the_remaining_items(adaptive: Adaptive, item: str) -> None:
    plan = planned(FILES, {**REVIEW, "width": 2}, END)
    await stopped_when(adaptive, plan, lambda event: isinstance(event, TaskFinished) and event.task == item)
    recorded = [row.body["task"] for row in rows(adaptive.workspace) if row.type == "call_finished"]
    result = await adaptive.resume(TEN)
    assert result.status == "done"
    assert sorted([*adaptive.asked, *recorded]) == sorted(
        ["files", "end", *(f"review[{number}]" for number in range(1, 11))]
    )
    changes = [row for row in rows(adaptive.workspace) if row.type == "plan_changed"]
    assert len(changes) == 1, "the items grow again, but they are in the plan already"


CUT = planned(
    FILES,
    {**REVIEW, "width": 2},
    llm("fix", "review", instruction="Fix <<item>>", for_each="<<review.output>>", when="<<review.count>> > 1"),
    llm("legal", "files", when={"ask": "Is <<files.output>> legal?"}),
    llm("end", "fix", "legal"),
)
CUT_ANSWERS: Answers = {"files": "a\nb\nc", "when legal": holds(False)}


@pytest.mark.slow
async def test_a_run_cut_after_any_event_replays_and_resumes(adaptive: Adaptive) -> None:
    whole = await adaptive.run(CUT, CUT_ANSWERS)
    calls = adaptive.asked
    recorded = rows(adaptive.workspace)
    assert len(calls) == whole.usage.calls == 9
    journal = copied(adaptive.workspace)
    for seq in kinds(recorded):
        cut(journal, adaptive.workspace, seq)
        record = rows(adaptive.workspace)
        assert (await replayed(adaptive.workspace, record)).drift == (), f"after event {seq}"
        paid = [row.body for row in record if row.type == "call_finished"]
        named = [f"when {body['task']}" if body["role"] == "condition" else body["task"] for body in paid]
        result = await adaptive.resume(CUT_ANSWERS)
        assert sorted([*adaptive.asked, *named]) == calls, f"after event {seq}"
        assert (result.status, outputs(result)) == ("done", outputs(whole))
        assert (await replayed(adaptive.workspace, rows(adaptive.workspace))).drift == (), f"resumed after event {seq}"
    journal.close()


@pytest.mark.slow
async def test_a_rerun_cut_after_any_event_keeps_reused_items(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), {"files": "a\nb\nb"})
    answers: Answers = {"files": "new\nb\na\nb"}
    whole = await adaptive.rerun("files", answers)
    calls = adaptive.asked
    assert calls == ["end", "files", "review[1]"]
    recorded = rows(adaptive.workspace)
    journal = copied(adaptive.workspace)
    for seq in kinds(recorded):
        cut(journal, adaptive.workspace, seq)
        record = rows(adaptive.workspace)
        assert (await replayed(adaptive.workspace, record)).drift == (), f"after event {seq}"
        paid = [row.body["task"] for row in record if row.type == "call_finished"]
        result = await adaptive.resume(answers)
        assert sorted([*adaptive.asked, *paid]) == calls, f"after event {seq}"
        assert (result.status, outputs(result)) == ("done", outputs(whole))
        reused = [row.body["task"] for row in rows(adaptive.workspace) if row.type == "task_reused"]
        assert sorted(reused) == ["review[2]", "review[3]", "review[4]"], "each is recorded once"
        assert (await replayed(adaptive.workspace, rows(adaptive.workspace))).drift == (), f"resumed after event {seq}"
    journal.close()


async def test_a_map_over_a_map_keeps_its_numbers_when_a_failed_item_is_retried(adaptive: Adaptive) -> None:
    fix = llm("fix", "review", instruction="Fix <<item>>", for_each="<<review.output>>")
    result = await adaptive.run(planned(FILES, REVIEW, fix), {**refused(2), "files": "a\nb\nc"})
    assert [task for task in statuses(result) if task.startswith("fix[")] == ["fix[1]", "fix[3]"]
    result = await adaptive.resume({"files": "a\nb\nc"})
    assert adaptive.asked == ["fix[2]", "review[2]"]
    assert outputs(result)["fix[2]"] == "Fix Review b done done"
    assert result.status == "done"


async def test_a_list_that_a_retry_changes_changes_the_items(adaptive: Adaptive) -> None:
    """The list comes from a task that sums up a map, one item of which failed at first."""
    listing = llm("listing", "review", instruction="List: <<review.output>>")
    again = llm("again", "listing", instruction="Again <<item>>", for_each="<<listing.output>>")
    answers: Answers = {"files": "a\nb", "review[1]": REFUSED, "listing": "x\ny"}
    result = await adaptive.run(planned(FILES, REVIEW, listing, again), answers)
    assert result.status == "partial"
    result = await adaptive.resume({"listing": "x\nz\ny"})
    assert result.status == "done"
    assert adaptive.asked == ["again[2]", "again[3]", "listing", "review[1]"], "the first item is as it was"
    assert outputs(result)["again"] == "### x\n\nAgain x done\n\n### z\n\nAgain z done\n\n### y\n\nAgain y done"


async def test_a_shortened_list_drops_rounds_of_removed_items(adaptive: Adaptive) -> None:
    listing = llm("listing", "review", instruction="List: <<review.output>>")
    repeat = {"until": '<<again.output>> contains "good"', "most": 3}
    again = llm("again", "listing", instruction="Again <<item>>", for_each="<<listing.output>>", repeat=repeat)
    answers: Answers = {f"again[{number}]": "bad" for number in (1, 2, 3)}
    answers |= {f"again[{number}]#2": "good" for number in (1, 2, 3)}
    first: Answers = {"files": "a\nb", "review[1]": REFUSED, "listing": "x\ny\nz", **answers}
    assert (await adaptive.run(planned(FILES, REVIEW, listing, again), first)).status == "partial"
    result = await adaptive.resume({"listing": "x\ny", **answers})
    assert (result.status, result.answer) == ("done", "### x\n\ngood\n\n### y\n\ngood")
    assert adaptive.asked == ["listing", "review[1]"], "one result is left, so no model writes the answer"
    assert result.plan is not None
    assert [task.id for task in result.plan.tasks if task.id.startswith("again[3]")] == []


async def test_results_of_other_runs_are_matched_by_input(adaptive: Adaptive) -> None:
    """The second run takes the end from the first; after a resume it is the end of something else."""
    two: Answers = {"files": "a\nb", "review[2]": REFUSED}
    await adaptive.run(planned(FILES, REVIEW, END), two, cache=7.0)
    await adaptive.run(planned(FILES, REVIEW, END), two, cache=7.0)
    assert adaptive.asked == ["review[2]"]
    result = await adaptive.resume({"files": "a\nb"}, cache=7.0)
    assert (result.status, adaptive.asked) == ("done", ["end", "review[2]"])
    assert "Review b done" in str(outputs(result)["end"])


@pytest.mark.parametrize("over", ["<<review[3].output>>", "<<review[2].output>>"])
async def test_a_missing_field_in_an_item_fails_the_task(adaptive: Adaptive, over: str) -> None:
    fix = llm("fix", "review", instruction="Fix <<item>>", for_each=over)
    result = await adaptive.run(planned(FILES, REVIEW, fix), {"files": "a\nb", "review[2]": REFUSED})
    why = "'review' has 2 items, and the first is [1]" if "3" in over else "'review[2]' has no result: not now"
    assert next(task for task in result.tasks if task.id == "fix").error == f"{over} cannot be read: {why}"


async def test_a_rerun_reuses_the_items_whose_text_is_unchanged(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), {"files": "a\nb\nc\nb"})
    result = await adaptive.rerun("files", {"files": "new\nc\nb\na"})
    assert adaptive.asked == ["end", "files", "review[1]"]
    assert outputs(result)["review"] == "\n\n".join(f"### {one}\n\nReview {one} done" for one in ("new", "c", "b", "a"))
    reused = {row.body["task"] for row in rows(adaptive.workspace) if row.type == "task_reused"}
    assert reused == {"review[2]", "review[3]", "review[4]"}
    result = await adaptive.rerun("files", {"files": "a\nnew"})
    assert adaptive.asked == ["end", "files"], "what a rerun reused is reused again"
    assert result.status == "done"


async def test_a_rerun_from_an_item_runs_it_and_its_dependents(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), {"files": "a\nb\nb"})
    result = await adaptive.rerun("review[2]")
    assert adaptive.asked == ["end", "review[2]"]
    assert result.status == "done"
    await adaptive.rerun("", {}, {"review[3]": "by hand"})
    assert adaptive.asked == ["end"]


async def test_a_rerun_of_what_comes_after_makes_the_list_of_its_items_again(adaptive: Adaptive) -> None:
    fix = llm("fix", "review", instruction="Fix <<item>>", for_each="<<review.output>>")
    await adaptive.run(planned(FILES, REVIEW, fix), {"files": "a\nb"})
    result = await adaptive.rerun("fix")
    assert adaptive.asked == ["fix[1]", "fix[2]"], "it was named: its items run again, though they are told the same"
    assert outputs(result)["fix[2]"] == "Fix Review b done done"
    result = await adaptive.rerun("fix[2]", {"fix[2]": "another way"})
    assert adaptive.asked == ["fix[2]"]
    assert outputs(result)["fix"] == "### Review a done\n\nFix Review a done done\n\n### Review b done\n\nanother way"


async def test_a_rerun_takes_the_output_of_a_map_from_a_file(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), {"files": "a\nb"})
    result = await adaptive.rerun("", {}, {"review": "by hand"})
    assert adaptive.asked == ["end"]
    assert outputs(result)["end"] == "Sum up: by hand done"
    assert set(statuses(result)) == {"files", "review", "end"}


async def test_a_rerun_retries_failed_items(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), refused(3))
    result = await adaptive.rerun("end")
    assert adaptive.asked == ["end", "review[3]"]
    assert result.status == "done"


async def test_a_rerun_that_stopped_is_resumed_with_the_items_it_reused(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW, END), {"files": "a\nb"})
    await adaptive.rerun("files", {"files": "b\nc", "end": REFUSED})
    result = await adaptive.resume()
    assert adaptive.asked == ["end"]
    assert {event.task for event in adaptive.record.events if isinstance(event, TaskReused)} == {"review[1]"}
    assert result.status == "done"


async def test_a_replay_elsewhere_finds_no_drift_and_a_changed_skill_is_named(
    adaptive: Adaptive, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.applymarker(pytest.mark.changes_skills)
    skill = add_skill(
        adaptive.workspace, "reviewing", "---\nname: reviewing\ndescription: Review files.\n---\nRead it."
    )
    review = {**REVIEW, "action_type": "skill", "name": "reviewing", "arguments": "<<item>>"}
    when = llm("extra", "review", "files", when='<<review.count>> > 1 and <<files.output>> contains "b"')
    plan = planned(FILES, llm("x"))
    plan = plan.from_dict({"tasks": [FILES, review, when, llm("none", "files", when="1 == 2")]})
    here = str(adaptive.workspace)
    await adaptive.run(plan, {"files": f"{here}/a\n{here}/b\nc", "review[3]": REFUSED})
    exported = [trace_file.parse(line, "x") for line in trace_file.lines(iter(rows(adaptive.workspace)))]
    there = tmp_path / "another" / "place"
    shutil.copytree(adaptive.workspace / "skills", there / "skills")
    assert (await strict(exported, Paths.of(there, os.environ), Settings())).drift == ()
    (skill / "SKILL.md").write_text("---\nname: reviewing\ndescription: Review files.\n---\nRead it twice.", "utf-8")
    drift = (await replayed(adaptive.workspace, rows(adaptive.workspace))).drift
    assert {one.where for one in drift} >= {"task review[1]", "task review[2]", "task review[3]"}
    assert "skill 'reviewing': its instructions" in drift[0].what


async def test_a_list_that_would_be_read_differently_is_drift(
    adaptive: Adaptive, request: pytest.FixtureRequest
) -> None:
    request.applymarker(pytest.mark.changes_skills)
    await adaptive.run(planned(FILES, REVIEW), {"files": "a\nb"})
    recorded = rows(adaptive.workspace)
    for row in recorded:
        if row.type == "plan_changed":
            row.body["added"][0]["item"] = {"value": "other"}
    drift = (await replayed(adaptive.workspace, recorded)).drift
    assert drift[0].where == "task review"
    assert "task 'review[1]' is planned differently" in drift[0].what


async def test_replays_use_recorded_limits(adaptive: Adaptive) -> None:
    more = {**REVIEW, "id": "more"}
    for _ in range(3):
        result = await adaptive.run(planned(FILES, REVIEW, more), {"files": "a\nb\nc"}, max_grown=4)
        failed = [task for task in result.tasks if task.status == "failed"]
        assert len(failed) == 1, "one of the two"
        assert "raise max_grown, or add fewer" in (failed[0].error or "")
    assert result.status == "partial"


async def test_an_item_may_be_an_object_with_fields(adaptive: Adaptive) -> None:
    review = {**REVIEW, "instruction": "<<item.number>>. <<item.path>> in <<item.where.line>>: <<item>>"}
    listed = (
        '[{"path": "a", "where": {"line": 3}}, {"path": "<<files.output>>", "where": {"line": null}}, {"path": "c"}]'
    )
    result = await adaptive.run(planned(FILES, review), {"files": listed})
    said = outputs(result)
    assert said["review[1]"] == '1. a in 3: {"path": "a", "where": {"line": 3}} done'
    assert str(said["review[2]"]).startswith('2. <<files.output>> in null: {"path": "<<files.output>>"'), (
        "it stays text"
    )
    error = next(task.error for task in result.tasks if task.id == "review[3]")
    assert error == 'there is no <<item.where.line>>: the item has no \'where.line\': {"path": "c"}'
    assert result.status == "partial"


async def test_a_long_item_is_shortened_in_the_prompt(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW), {"files": '["' + "word " * 30_000 + '"]'})
    content = adaptive.model.asked[-1].messages[-1].content
    assert len(content) < 61_000
    assert "[… shortened: 150,000 characters in all; read the rest with ReadFile" in content


async def test_every_view_shows_the_items_below_their_task(adaptive: Adaptive) -> None:
    none = llm("none", "files", when="<<files.count>> > 99")
    await adaptive.run(planned(FILES, REVIEW, none, END), refused(2))
    view = timeline(rows(adaptive.workspace))
    items = [f"review[{number}]" for number in range(1, 11)]
    assert list(view.spans) == ["files", "review", *items, "none", "end", "(synthesis)"]
    drawn = draw(view)
    assert "○ none" in drawn
    assert "(not needed: <<files.count>> is 10)" in drawn
    page = render([rows(adaptive.workspace)])
    assert "not needed: &lt;&lt;files.count&gt;&gt; is 10" in page
    assert "none: the condition does not hold" in page


async def test_spans_of_items_are_below_their_tasks_and_make_a_tree_wherever_the_record_ends(
    adaptive: Adaptive,
) -> None:
    await adaptive.run(CUT, {**CUT_ANSWERS, "fix[2]": REFUSED})
    await adaptive.resume(CUT_ANSWERS)
    recorded = rows(adaptive.workspace)
    for end in range(1, len(recorded) + 1):
        spans = run_spans(recorded[:end])
        ids = [span["spanId"] for span in spans]
        assert len(set(ids)) == len(ids)
        assert {span["parentSpanId"] for span in spans[1:]} <= set(ids)
    named = {span["name"]: span for span in spans}
    assert named["invoke_agent review[2]"]["parentSpanId"] == named["invoke_agent review"]["spanId"]


async def test_two_runs_are_compared_item_by_item(adaptive: Adaptive) -> None:
    views = []
    for listed in ("a\nb", "b\na\nc"):
        await adaptive.run(planned(FILES, REVIEW), {"files": listed})
        views.append(timeline(rows(adaptive.workspace)))
    found = [str(one) for one in compare(*views)]
    assert "review[3]  only in the second" in found
    assert any(one.startswith("review[1]  plan: ") for one in found)


async def test_a_dry_rerun_says_which_items_may_be_reused(
    adaptive: Adaptive, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await adaptive.run(planned(FILES, REVIEW, END), {"files": "a\nb"})
    monkeypatch.chdir(adaptive.workspace)
    flags = ["rerun", "last", "--from", "files", "--dry-run"]
    with pytest.raises(SystemExit):
        await asyncio.to_thread(main, flags)
    assert capsys.readouterr().out.splitlines() == [
        "executed  files", "executed  review", "executed  end",
        f"reused    review[1]  (from run {result.run_id}, if it is the same item)",
        f"reused    review[2]  (from run {result.run_id}, if it is the same item)",
    ]  # fmt: skip


def test_drawings_show_conditions_and_no_items() -> None:
    plan = planned(FILES, {**REVIEW, "when": "<<files.count>> > 0"}, llm("all", for_each=["a"], instruction="<<item>>"))
    plan = plan.changed([Task("review[1]", "llm", item=Item("x"))])
    drawn = mermaid(plan)
    assert "for each: #60;#60;files.output#62;#62;" in drawn
    assert "when: #60;#60;files.count#62;#62; #62; 0" in drawn
    assert "for each: 1 item" in drawn
    assert not any("review#91;1" in text for text in (drawn, dot(plan), svg(plan), plan_graph.draw(plan, 80)))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"when": "x"}, "when"),
        ({"for_each": 7}, "for_each"),
        ({"when": "<<z.status>> == 1"}, "when"),
        ({"width": 0}, "width"),
    ],
)
def test_faults_have_the_line_of_their_key(change: dict[str, Any], line: str) -> None:
    text = yaml.safe_dump({"tasks": [FILES, {**REVIEW, "width": 2, **change}]}, sort_keys=False)
    found = check(text, Known())
    assert [text.splitlines()[fault.line - 1].strip(" -").partition(":")[0] for fault in found.faults] == [line]


async def test_observers_receive_the_plan_without_items(adaptive: Adaptive) -> None:
    await adaptive.run(planned(FILES, REVIEW), TEN)
    made = next(event for event in adaptive.record.events if isinstance(event, PlanMade))
    assert [task.id for task in made.plan.tasks] == ["files", "review"]


async def test_missing_results_are_listed_in_plan_order(adaptive: Adaptive) -> None:
    slow = llm("slow", "list", instruction="Take <<item>>", for_each="<<list.output>>")
    fast = llm("fast", instruction="Take <<item>>", for_each=["x", "y"])
    answers: Answers = {"list": '["a", "b"]', "slow[2]": REFUSED, "fast[1]": REFUSED}
    result = await adaptive.run(planned(llm("list"), slow, fast, synthesis="Both."), answers)
    joined = [event.of for event in adaptive.record.events if isinstance(event, PlanChanged)]
    assert joined == ["fast", "slow"]
    assert result.error == "2 of 7 tasks have no result: slow[2], b: not now; fast[1], x: not now"
    (asked,) = (request for request in adaptive.model.asked if request.role == "synthesis")
    assert asked.messages[-1].content.index("slow[2]") < asked.messages[-1].content.index("fast[1]")
