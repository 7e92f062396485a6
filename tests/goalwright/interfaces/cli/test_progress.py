"""The progress of a run, as lines and as a live view."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from goalwright.interfaces.cli.view.live.live_view import LiveView
from goalwright.interfaces.cli.view.progress import ProgressLines
from goalwright_planner.events import (
    CallFailed,
    CallFinished,
    CallRetried,
    CallStarted,
    Event,
    PlanMade,
    PlanRefused,
    SkillLoaded,
    SkillShortened,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TextStreamed,
    ToolCalled,
    Warned,
    to_dict,
)
from goalwright_planner.model import Message, Reply, Usage
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.selection.detector import Selection

if TYPE_CHECKING:
    from goalwright_planner.model import Role

PLAN = Plan(
    (
        Task("a", "skill", title="First step", name="code-review"),
        Task("b", "llm", depends_on=("a",)),
        Task("c", "llm", depends_on=("b",)),
    )
)
EVENTS: list[Event] = [
    Warned("a skill is broken"),
    SkillsSelected("ranked", (Selection("code-review", 0.9, "words: review"),), 7),
    CallStarted("decomposer", None, "openai/x", (Message("user", "hi"),)),
    PlanRefused(1, ("no tasks",)),
    PlanMade(PLAN, 2),
    TaskStarted("a"),
    SkillLoaded("a", "code-review", "abc"),
    SkillShortened("a", "code-review", ("Output", "Steps (in part)"), 1_234),
    ToolCalled("a", "ReadFile", {"status": "success"}),
    CallRetried("task", "a", "openai/x", 1, 2.0, "slow down"),
    CallFinished("task", "a", "openai/x", Reply("x", usage=Usage(1, 1200, 34)), 1.0),
    TaskFinished("a", "done", 1.5, "out"),
    TaskStarted("b"),
    CallFailed("task", "b", "openai/x", "refused", 0.1),
    TaskFinished("b", "failed", 0.2, error="no luck"),
    TaskFinished("c", "skipped", 0.0, error="it depends on 'b'"),
    CallStarted("synthesis", None, "openai/x", ()),
    TextStreamed("synthesis", None, "the beginning"),
]


def test_plain_lines_report_events(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines()
    for event in EVENTS:
        lines.note(event)
    err = capsys.readouterr().err
    for text in (
        "warning: a skill is broken",
        "skills selected: code-review (words: review)",
        "plan refused (attempt 1): no tasks",
        "plan: 3 tasks",
        "a: model call failed (attempt 1), trying again in 2.0 s: slow down",
        "a: done after 1.5 s",
        "b: failed after 0.2 s: no luck",
        "c: skipped: it depends on 'b'",
    ):
        assert text in err
    assert "ReadFile" not in err
    assert "shortened" not in err


def test_verbose_lines_name_tools_and_skills_too(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines(verbose=True)
    for event in (*EVENTS, SkillsSelected("ranked", (), 7)):
        lines.note(event)
    err = capsys.readouterr().err
    assert "a: tool ReadFile: success" in err
    assert "a: skill code-review loaded" in err
    shortened = "a: skill code-review shortened for its model by 1,234 characters: Output, Steps (in part)"
    assert shortened in " ".join(err.split())
    assert "none of 7 skills fits" in err


def test_the_live_view_draws_the_graph_with_states_skills_and_tokens() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, color_system=None)
    with LiveView(console) as view:
        for event in EVENTS:
            view.note(event)
    screen = stream.getvalue()
    for text in ("First step", "code-review", "✓", "✗", "← a", "1,234", "b: no luck", "plan refused"):
        assert text in screen


@pytest.mark.parametrize(
    ("role", "task", "said"),
    [
        ("decomposer", None, "planning"),
        ("synthesis", None, "writing the answer"),
        ("detector", None, "selecting skills"),
        ("task", "a", "a"),
        ("checker", "a", "a"),
    ],
)
def test_retry_names_the_purpose_of_the_call(
    role: Role, task: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ProgressLines().note(CallRetried(role, task, "m", 1, 2.0, "slow down"))
    assert f"  {said}: model call failed (attempt 1), trying again in 2.0 s: slow down" in capsys.readouterr().err
    ProgressLines(verbose=True).note(CallFailed(role, task, "m", "no luck", 1.0))
    assert f"  {said}: no luck" in capsys.readouterr().err


def test_run_without_tasks_erases_the_live_view() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    with LiveView(console) as view:
        view.note(CallStarted("decomposer", None, "m", ()))
    # The last frame, which is only the time, is erased: the cursor goes up to its line and clears it.
    assert stream.getvalue().rstrip().endswith("\x1b[1A\x1b[2K")


def test_a_reused_task_counts_as_done(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    with LiveView(Console(file=stream, force_terminal=True, width=80, color_system=None)) as view:
        view.note(PlanMade(PLAN, 0))
        view.note(TaskReused("a", "out", "run r1"))
    assert "✓ a  First step" in stream.getvalue()
    ProgressLines().note(TaskReused("a", "out", "run r1"))
    assert "a: reused from run r1" in capsys.readouterr().err


def test_a_large_graph_fits_the_screen_and_shows_unfinished_tasks() -> None:
    plan = Plan(tuple(Task(f"t{number}", "llm") for number in range(60)))
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    with LiveView(console) as view:
        view.note(PlanMade(plan, 1))
        for number in range(40):
            view.note(TaskStarted(f"t{number}"))
            view.note(TaskFinished(f"t{number}", "done", 0.1, "x"))
    assert "t59" in stream.getvalue()


def test_every_event_becomes_plain_json() -> None:
    documents = [json.loads(json.dumps(to_dict(event))) for event in EVENTS]
    assert documents[4]["type"] == "plan_made"
    assert documents[4]["plan"]["tasks"][1]["depends_on"] == ["a"]
    assert documents[10]["reply"]["usage"]["prompt_tokens"] == 1200
