"""How a run's end is show_result, and when the program ends with it."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from executor.history.result import Result, TaskReport
from planner.model import Usage
from weft.cli.execution import Ending, interruptible, run_to_exit, show_result
from weft.cli.view.output_mode import OutputMode
from weft.runs.pipeline import NO_RESULT
from weft.runs.stop import Stop

if TYPE_CHECKING:
    import pytest

    from planner.events import RunStatus


async def ran(status: RunStatus) -> Result:
    """A run that ended so, before it had a plan."""
    answer = "hello" if status == "done" else None
    error = status if status != "done" else None
    return Result("r1", status, "Say hello", answer, error, None, (), (), Usage(1, 10, 5), 0.0, None, 2.0)


def test_an_interrupted_run_says_what_is_kept_and_leaves_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    left: list[int] = []
    assert run_to_exit(ran("interrupted"), Ending(OutputMode(), Path()), left.append) == 130
    assert left == [130]
    said = capsys.readouterr().err
    assert "Kept: the goal and 1 call. Go on with:\n  weft resume r1\n" in said
    assert "interrupted: interrupted" not in said


def test_a_run_that_is_done_ends_as_programs_do(capsys: pytest.CaptureFixture[str]) -> None:
    left: list[int] = []
    assert run_to_exit(ran("done"), Ending(OutputMode(quiet=True), Path()), left.append) == 0
    assert left == []
    assert capsys.readouterr() == ("hello\n", "")


def test_an_answer_that_cannot_be_written_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_to_exit(ran("done"), Ending(OutputMode(quiet=True), Path(), tmp_path)) == 0
    said = capsys.readouterr()
    assert said.out == "hello\n"
    assert "could not be written" in said.err


def test_a_run_whose_reader_has_gone_ends_as_it_would_have(capsys: pytest.CaptureFixture[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as stdout, redirect_stdout(stdout):
        assert run_to_exit(ran("failed"), Ending(OutputMode(as_json=True), Path())) == 1
    assert "weft resume r1" in capsys.readouterr().err


def partly() -> Result:
    """A run that one of its tasks failed; its answer says so."""
    error = "1 of 2 tasks has no result: b: no luck"
    tasks = (TaskReport("a", "llm", None, "done"), TaskReport("b", "llm", None, "failed"))
    answer = "hello\n\n---\n**Missing from this answer:**\n- b: no luck"
    return Result("r1", "partial", "Say hello", answer, error, None, (), tasks, Usage(), 0.0, None, code=NO_RESULT)


def test_why_a_part_is_missing_is_said_once_where_a_person_sees_both(capsys: pytest.CaptureFixture[str]) -> None:
    outer, inner = os.openpty()
    with os.fdopen(inner, "w", encoding="utf-8") as screen, redirect_stdout(screen), redirect_stderr(screen):
        assert show_result(partly(), Ending(OutputMode(), Path())) == 1
        screen.flush()
        read = b""
        while b"weft resume r1" not in read:  # which is the last of it
            read += os.read(outer, 10_000)
        seen = read.decode()
    os.close(outer)
    assert seen.count("no luck") == 1
    assert "partial: 1 of 2 tasks has no result, as said above" in seen
    assert show_result(partly(), Ending(OutputMode(), Path())) == 1
    assert "partial: 1 of 2 tasks has no result: b: no luck" in capsys.readouterr().err


async def test_a_second_ctrl_c_ends_the_program_at_once() -> None:
    stop, ended = Stop(), []
    try:
        with interruptible(stop, lambda: ended.append("at once")):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.wait_for(stop.wait(), 5)
            assert ended == []
            os.kill(os.getpid(), signal.SIGINT)
            assert ended == ["at once"]
    finally:
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)


async def test_ctrl_c_is_pythons_own_again_once_a_run_has_ended() -> None:
    with interruptible(Stop(), lambda: None):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
