"""The live view fits any terminal: the header and all running tasks are always visible."""

from __future__ import annotations

import os
import pty
import random
import re
from typing import TYPE_CHECKING

import pyte
import pytest

from goalwright.interfaces.cli.view.live.run_frame import frame
from goalwright.interfaces.cli.view.live.run_state import RunState
from goalwright_planner.events import (
    CallFinished,
    CallRetried,
    CallStarted,
    ModelLoaded,
    ModelLoading,
    PlanChanged,
    PlanMade,
    RunStarted,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TextStreamed,
    ToolCalled,
    ToolOutput,
)
from goalwright_planner.model import Reply, Usage
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Item, Task

if TYPE_CHECKING:
    from tests.nursery import Nursery

SIZES = [(80, 24), (40, 12), (120, 40)]


def lines(state: RunState, width: int = 80, height: int = 24) -> list[str]:
    found = [line.plain.rstrip() for line in frame(state, width, height)]
    assert len(found) <= height
    assert all(len(line) <= width for line in found)
    return found


def layered(count: int) -> Plan:
    tasks = [
        Task(
            f"step-{number}",
            "skill",
            title=f"Work on part {number} of the report",
            name="writing-reports",
            depends_on=(f"step-{number - 4}",) if number >= 4 else (),
        )
        for number in range(count)
    ]
    return Plan(tuple(tasks))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_header_shows_progress_and_cost() -> None:
    clock = Clock()
    state = RunState(clock)
    state.note(RunStarted("r", "g", "/w", {"max_cost": 0.5}))
    state.note(PlanMade(layered(12), 1))
    for number in range(7):
        state.note(TaskStarted(f"step-{number}"))
        state.note(CallFinished("task", f"step-{number}", "m", Reply("x", usage=Usage(1, 900, 100), cost=0.003), 1))
        state.note(TaskFinished(f"step-{number}", "done", 1.0, "x"))
    for number in (7, 8, 9):
        state.note(TaskStarted(f"step-{number}"))
    clock.now = 41.4
    header, *tasks = lines(state)
    assert header == "7/12 · 3 running · $0.02 of $0.50 · 41 s"
    assert " ".join(tasks[0].split()) == "✓ step-0 Work on part 0 of the report writing-reports 1.0 s 1,000"
    assert tasks[7].startswith("▶ step-7   Work on part 7 of the report")
    assert len({line.index("writing-reports") for line in tasks}) == 1


def test_items_follow_their_task_which_counts_finished_ones() -> None:
    state = RunState(Clock())
    each = Task("review", "llm", title="Review each", for_each="<<files.output>>", depends_on=("files",))
    state.note(PlanMade(Plan((Task("files", "llm"), each, Task("end", "llm", depends_on=("review",)))), 1))
    state.note(TaskStarted("review"))
    parts = [Task(f"review[{number}]", "llm", item=Item(f"src/file\x1b{number}.py")) for number in range(1, 12)]
    state.note(PlanChanged("for_each", "review", tuple(parts)))
    state.note(TaskStarted("review[2]"))
    state.note(TaskFinished("review[1]", "done", 1.0, "x"))
    state.note(TaskReused("review[3]", "x", "run 1"))
    state.note(TaskFinished("review[10]", "failed", 1.0, None, "no"))
    state.note(TaskFinished("end", "unneeded"))
    found = lines(state, 100, 30)
    assert [line.split()[1] for line in found[1:]] == ["files", "review", *(part.id for part in parts), "end"]
    assert "Review each  3/11  ← files" in found[2]
    assert found[3].startswith("✓ review[1]")
    assert "src/file\\x1b1.py" in found[3]
    assert "\x1b" not in "".join(found)
    assert found[-1].startswith("– end")


def test_tasks_of_a_goal_task_follow_it_and_keep_its_planning_separate() -> None:
    state = RunState(Clock())
    goal = Task("research", "goal", title="Look into it")
    state.note(PlanMade(Plan((goal, Task("end", "llm", depends_on=("research",)))), 1))
    state.note(TaskStarted("research"))
    state.note(CallStarted("decomposer", "research", "m", ()))
    assert state.activity == "running"
    deep = Task("research/deep", "goal", title="Deeper")
    state.note(PlanChanged("goal", "research", (Task("research/a", "llm"), deep)))
    state.note(PlanChanged("goal", "research/deep", (Task("research/deep/x", "llm"),)))
    state.note(TaskFinished("research/a", "done", 1.0, "x"))
    state.note(CallStarted("synthesis", "research/deep", "m", ()))
    assert state.activity == "running"
    found = lines(state, 100, 30)
    ids = ["research", "research/a", "research/deep", "research/deep/x", "end"]
    assert [line.split()[1] for line in found[1:]] == ids
    assert "Look into it  1/2" in found[1]
    assert "Deeper  0/1" in found[3]


def test_loading_a_model_is_shown_in_the_header() -> None:
    state = RunState(Clock())
    state.note(ModelLoading("m", "litellm"))
    assert lines(state) == ["0.0 s · loading litellm …"]
    state.note(ModelLoaded("m", "litellm", 4.0))
    state.note(CallStarted("decomposer", None, "openai/x", ()))
    assert lines(state) == ["0.0 s · planning with openai/x …"]


def test_retried_answer_starts_from_the_beginning() -> None:
    state = RunState(Clock())
    state.note(CallStarted("synthesis", None, "openai/x", ()))
    state.note(TextStreamed("synthesis", None, "Half of"))
    state.note(CallRetried("task", "other", "openai/x", 1, 0.5, "busy"))
    assert state.streamed == "Half of"
    state.note(CallRetried("synthesis", None, "openai/x", 1, 0.5, "the connection broke"))
    state.note(TextStreamed("synthesis", None, "All of it"))
    assert state.streamed == "All of it"


def test_unknown_price_is_shown_if_a_budget_is_set() -> None:
    state = RunState(Clock())
    state.note(RunStarted("r", "g", "/w", {"max_cost": 1.0}))
    state.note(CallFinished("task", "a", "m", Reply("x", cost=None), 1))
    assert lines(state)[0] == "cost unknown of $1.00 · 0.0 s · selecting skills …"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_done_tasks_fold_before_waiting_tasks(width: int, height: int) -> None:
    state = RunState(Clock())
    state.note(PlanMade(layered(200), 1))
    for number in range(18):
        state.note(TaskStarted(f"step-{number}"))
        state.note(TaskFinished(f"step-{number}", "done", 1.0, "x"))
    state.note(TaskFinished("step-18", "failed", 1.0, error="no"))
    state.note(TaskStarted("step-150"))
    found = lines(state, width, height)
    assert found[0].startswith("18/200 · 1 running · 1 failed")
    assert found[1] == "✓ 18 done"
    assert any(line.startswith("✗ step-18") for line in found)
    assert any(line.startswith("▶ step-150") for line in found)
    assert re.fullmatch(r"· \d+ waiting", found[-1])
    assert len(found) == height


def test_more_running_tasks_than_lines_share_lines() -> None:
    state = RunState(Clock())
    state.note(PlanMade(layered(200), 1))
    for number in range(16):
        state.note(TaskStarted(f"step-{number}"))
    found = lines(state, 40, 12)
    assert {f"step-{number}" for number in range(16)} <= set(re.findall(r"step-\d+", "\n".join(found)))
    assert found[-1] == "· 184 waiting"


def test_output_of_a_command_is_shown_until_it_ends_one_task_at_a_time() -> None:
    state = RunState(Clock())
    state.note(PlanMade(layered(4), 1))
    state.note(ToolOutput("step-0", "shell_run", "collecting\n"))
    state.note(ToolOutput("step-0", "shell_run", "test 1 \x1b[32mpassed\x1b[0m"))
    assert lines(state, 80, 24)[-2:] == ["collecting", "test 1 \\x1b[32mpassed\\x1b[0m"]
    state.note(ToolOutput("step-1", "shell_run", "compiling"))
    assert lines(state, 80, 24)[-1] == "compiling"
    assert "collecting" not in lines(state, 80, 24), "the end of one text at a time"
    state.note(ToolCalled("step-0", "shell_run", {}))
    assert lines(state, 80, 24)[-1] == "compiling"
    state.note(ToolCalled("step-1", "shell_run", {}))
    assert "compiling" not in lines(state, 80, 24)


def test_end_of_the_answer_fills_the_remaining_lines() -> None:
    state = RunState(Clock())
    state.note(PlanMade(layered(4), 1))
    state.note(TextStreamed("synthesis", None, "\n".join(f"- line {number}" for number in range(100))))
    found = lines(state, 80, 24)
    assert found[-1] == " • line 99"
    assert len(found) == 24
    state.note(TextStreamed("synthesis", None, f"\n\na **word**, {'another ' * 4}and {'x' * 45} 很好\n\nend"))
    wrapped = ["a word, another another another another", "and", "x" * 40, "x" * 5 + " 很好", "", "end"]
    assert lines(state, 40, 24)[-6:] == wrapped
    state.note(TextStreamed("synthesis", None, "\n\n" + "\n\n".join(f"Paragraph {n}." for n in range(2_000))))
    assert lines(state, 40, 24)[-3:] == ["Paragraph 1998.", "", "Paragraph 1999."]
    state.note(TextStreamed("synthesis", None, "\n\n```\n" + "x = 1\n\n" * 2_000))
    assert lines(state, 40, 24)[-1].strip() == "x = 1", "the end of a long program is still one"
    state.note(CallStarted("synthesis", None, "m", ()))
    assert len(lines(state, 80, 24)) == 5, "an answer asked for again starts over"


def test_wide_characters_and_long_words_fit_the_width() -> None:
    state = RunState(Clock())
    plan = Plan((Task("調査" * 20, "llm", title="市場を調べて" * 20), Task("b" * 200, "llm", title="x" * 300)))
    state.note(PlanMade(plan, 1))
    state.note(TextStreamed("task", "b" * 200, "語" * 500))
    for width, height in (*SIZES, (20, 5)):
        for line in frame(state, width, height):
            assert line.cell_len <= width


# Draws a run with tasks that start and end in random order; the title of the window says which ones run in this frame.
CHILD = r"""
import os, random, sys
from goalwright_planner.events import PlanMade, TaskFinished, TaskStarted, TextStreamed, Warned
from tests.goalwright.interfaces.cli.view.live.test_run_frame import layered
from goalwright.interfaces.cli.view.live.live_view import LiveView

count, pick = int(sys.argv[1]), random.Random(int(sys.argv[2]))
plan, done, running = layered(count), set(), []
with LiveView() as view:
    def show(event):
        view.note(event)
        with view._live._lock:
            view._live.refresh()
            os.write(2, f"\x1b]2;{' '.join(running)}\x07".encode())
    show(PlanMade(plan, 1))
    while len(done) < count:
        ready = [t.id for t in plan.tasks if t.id not in done and t.id not in running and set(t.depends_on) <= done]
        if ready and len(running) < 8 and pick.random() < 0.7:
            running.append(ready[0])
            show(TaskStarted(ready[0]))
        elif running:
            ended = running.pop(pick.randrange(len(running)))
            done.add(ended)
            if pick.random() < 0.1:
                view.note(Warned("something went by above"))
            show(TaskFinished(ended, "done", 1.0, "out"))
        if len(done) > count // 2:
            view.note(TextStreamed("task", "x", "some of the answer\n"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "count"), [(80, 24, 12), (80, 24, 28), (40, 12, 45), (120, 40, 43)])
def test_running_tasks_stay_visible_on_a_real_terminal(width: int, height: int, count: int, nursery: Nursery) -> None:
    master, slave = pty.openpty()
    env = {**os.environ, "COLUMNS": str(width), "LINES": str(height), "TERM": "xterm"}
    command = ["-c", CHILD, str(count), str(random.randrange(1000))]
    child = nursery.start(command, stderr=slave, env=env)
    os.close(slave)
    screen = pyte.Screen(width, height)
    terminal = pyte.ByteStream(screen)
    frames, unread = 0, b""
    try:
        while piece := _read(master):
            *drawn, unread = (unread + piece).split(b"\x07")
            for frame_bytes in drawn:
                terminal.feed(frame_bytes + b"\x07")
                shown = "\n".join(screen.display)
                assert set(screen.title.split()) <= set(re.findall(r"step-\d+", shown)), shown
                assert re.search(rf"\d+/{count} · ", shown), shown
                frames += 1
    finally:
        child.kill()
        child.wait()
        os.close(master)
    assert frames == 2 * count + 1


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # the other end is closed
        return b""
