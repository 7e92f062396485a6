"""The heartbeat lines during silence."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view.heartbeat import Heartbeat, beating
from goalwright.interfaces.cli.view.progress import ProgressLines
from goalwright_planner.events import CallFailed, CallFinished, CallProgressed, CallStarted, TaskFinished, TaskStarted
from goalwright_planner.model import Reply, Usage

if TYPE_CHECKING:
    import pytest


class Clock:
    """A clock that tests set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_heartbeat_names_running_tasks_and_their_time() -> None:
    clock = Clock()
    heartbeat = Heartbeat(clock)
    assert heartbeat.text() is None
    heartbeat.note(CallStarted("decomposer", None, "local", ()))
    clock.now += 30
    assert heartbeat.text() == "planning with local for 30 s"
    heartbeat.note(CallFinished("decomposer", None, "local", Reply("x"), 30.0))
    assert heartbeat.text() is None
    heartbeat.note(CallStarted("synthesis", None, "local", ()))
    assert heartbeat.text() == "writing the answer with local for 0 s"
    heartbeat.note(CallFailed("synthesis", None, "local", "no", 0.1))
    assert heartbeat.text() is None


def test_heartbeat_counts_many_tasks_and_names_the_slowest() -> None:
    clock = Clock()
    heartbeat = Heartbeat(clock)
    heartbeat.note(TaskStarted("first"))
    heartbeat.note(CallStarted("task", "first", "local", ()))
    clock.now += 5
    assert heartbeat.text() == "1 task under way: first for 5 s"
    for number in range(4):
        heartbeat.note(TaskStarted(f"t{number}"))
    assert heartbeat.text() == "5 tasks under way: first for 5 s, t0 for 0 s, t1 for 0 s, …"
    heartbeat.note(TaskFinished("first", "done", 5.0, "x"))
    assert heartbeat.text() == "4 tasks under way: t0 for 0 s, t1 for 0 s, t2 for 0 s, …"


def test_heartbeat_is_printed_only_after_a_silence(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines(clock=clock)
    lines.note(TaskStarted("a"))
    clock.now += 3
    lines.beat()
    assert "under way" not in capsys.readouterr().err
    clock.now += 12
    lines.beat()
    assert capsys.readouterr().err == "   15.0 s  1 task under way: a for 15 s\n"


def test_heartbeat_interval_grows(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines(clock=clock)
    lines.note(TaskStarted("a"))
    for _ in range(16):
        clock.now += 15
        lines.beat()
    times = [line.split(" s ")[0].strip() for line in capsys.readouterr().err.splitlines()[1:]]
    assert times == ["15.0", "45.0", "105.0", "165.0", "225.0"]


def test_heartbeat_has_tokens_and_their_rate(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines(clock=clock)
    lines.note(TaskStarted("a"))
    lines.note(CallProgressed("task", "a", 450, 0))
    for written in (0, 30, 90):
        clock.now += 15
        lines.note(CallProgressed("task", "a", 450, written))
        lines.beat()
    lines.note(CallFinished("task", "a", "local", Reply("x", usage=Usage(1, 450, 100)), 45.0))
    lines.note(TaskStarted("b"))
    lines.note(CallProgressed("task", "b", 60, 5))
    clock.now += 15
    lines.beat()
    assert [line for line in capsys.readouterr().err.splitlines() if "under way" in line] == [
        "   15.0 s  1 task under way: a for 15 s; reading 450 tokens",
        "   30.0 s  1 task under way: a for 30 s; 30 tokens written so far, 2.0 a second",
        "   45.0 s  1 task under way: a for 45 s; 90 tokens written so far, 4.0 a second",
        "   60.0 s  2 tasks under way: a for 60 s, b for 15 s; 105 tokens written so far, 1.0 a second",
    ]


def test_heartbeat_ends_with_the_block() -> None:
    async def count_beats() -> int:
        beats = 0
        enough = asyncio.Event()

        def beat() -> None:
            nonlocal beats
            beats += 1
            if beats == 3:
                enough.set()

        with beating(beat, 0.001):
            await enough.wait()
        at_the_end = beats
        await asyncio.sleep(0.02)
        assert beats == at_the_end
        return beats

    assert asyncio.run(count_beats()) == 3
