"""How a run's result is shown, and when the program exits with it."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.interfaces.cli.execution import (
    ResultOutput,
    exit_while_stopping,
    interruptible,
    run_to_exit,
    show_result,
)
from goalwright.interfaces.cli.view.output import OutputMode
from goalwright.interfaces.cli.view.result_target import ResultTarget
from goalwright.runs.runtime import Goalwright
from goalwright.runs.steps.answering import NO_RESULT
from goalwright.runs.stop import Stop
from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright_executor.history.result import Result, TaskReport
from goalwright_planner.model import Usage
from tests.executor.stores.runs import filled

if TYPE_CHECKING:
    from goalwright_planner.events import RunStatus


async def run_ending(status: RunStatus) -> Result:
    """A run that ends with this status, before it has a plan."""
    answer = "hello" if status == "done" else None
    error = status if status != "done" else None
    return Result("r1", status, "Say hello", answer, error, None, (), (), Usage(1, 10, 5), 0.0, None, 2.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("runs", "quiet", "said"), [(("r1",), False, True), (("r1", "r2"), False, False), (("r1",), True, False)]
)
def test_first_run_of_a_workspace_prints_next_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: tuple[str, ...], quiet: bool, said: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / ".agents").mkdir()
    filled(tmp_path / ".agents" / "journal.sqlite", *runs).close()
    journal = records.url(Paths.of(tmp_path, os.environ), Settings())
    result = Result("r1", "done", "Hi", "hello", None, None, (), (), Usage(1, 10, 5), 0.0, journal, 2.0)
    with redirect_stdout(io.StringIO()), redirect_stderr(Terminal()) as shown:
        assert show_result(result, ResultOutput(OutputMode(quiet=quiet), tmp_path)) == 0
    assert ("`goalwright trace show` shows how it went" in shown.getvalue()) is said


def test_printed_limit_pays_for_the_next_call(capsys: pytest.CaptureFixture[str]) -> None:
    result = Result("r1", "stopped", "Hi", None, None, None, (), (), Usage(1, 10, 5), 0.0001, None, 2.0)
    for settings, limit, needed, wanted in (
        (Settings(max_tokens=20), "max_tokens", 5_991.0, "--max-tokens 12012"),
        (Settings(max_cost=0.001), "max_cost", 0.0149, "--max-cost 0.03"),
        (Settings(max_cost=9), "max_cost", 0.0149, "--max-cost 18"),
        (Settings(timeout=1.5), "timeout", 0.0, "--timeout 3"),
    ):
        stopped = replace(result, error="stopped", limit=limit, needed=needed)
        show_result(stopped, ResultOutput(OutputMode(), Path(), settings=settings))
        assert capsys.readouterr().err.endswith(f"  goalwright resume r1 {wanted}\n")


@pytest.mark.parametrize(("folder", "shown"), [(False, "'my notes'"), (True, "'my notes/'")])
def test_resume_command_is_the_same_for_an_immediate_exit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: bool, shown: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("goalwright.interfaces.cli.execution.exit_now", lambda _: None)
    settings = Settings(tools=("python",), allow_web=("example.org",))
    target = ResultTarget(Path("my notes"), is_folder=folder)
    result = Result("r1", "interrupted", "Hi", None, None, None, (), (), Usage(1, 10, 5), 0.0, None, 2.0)
    show_result(result, ResultOutput(OutputMode(), tmp_path, target, settings))
    stopped = capsys.readouterr().err.splitlines()[-1]
    exit_while_stopping(Goalwright(tmp_path, settings), ["r0", "r1"], target)
    assert capsys.readouterr().err.splitlines()[-1] == stopped
    assert stopped == f"  goalwright resume r1 --tools python --allow-web example.org -o {shown}"


def test_interrupted_run_reports_kept_work_and_exits(capsys: pytest.CaptureFixture[str]) -> None:
    exits: list[int] = []
    assert run_to_exit(run_ending("interrupted"), ResultOutput(OutputMode(), Path()), exits.append) == 130
    assert exits == [130]
    err = capsys.readouterr().err
    assert "Kept: the goal, after 1 call. Resume with:\n  goalwright resume r1\n" in err
    assert "interrupted: interrupted" not in err


def test_finished_run_returns_its_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    exits: list[int] = []
    assert run_to_exit(run_ending("done"), ResultOutput(OutputMode(quiet=True), Path()), exits.append) == 0
    assert exits == []
    assert capsys.readouterr() == ("hello\n", "")


def test_answer_is_printed_if_it_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_to_exit(run_ending("done"), ResultOutput(OutputMode(quiet=True), Path(), ResultTarget(tmp_path))) == 0
    captured = capsys.readouterr()
    assert captured.out == "hello\n"
    assert "cannot write the answer to" in captured.err


def test_a_closed_stdout_does_not_change_how_a_run_ends(capsys: pytest.CaptureFixture[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as stdout, redirect_stdout(stdout):
        assert run_to_exit(run_ending("failed"), ResultOutput(OutputMode(as_json=True), Path())) == 1
    assert "goalwright resume r1" in capsys.readouterr().err


def partial_result() -> Result:
    """A run with a failed task, which its answer mentions."""
    error = "1 of 2 tasks has no result: b: no luck"
    tasks = (TaskReport("a", "llm", None, "done"), TaskReport("b", "llm", None, "failed"))
    answer = "hello\n\n---\n**Missing from this answer:**\n- b: no luck"
    return Result("r1", "partial", "Say hello", answer, error, None, (), tasks, Usage(), 0.0, None, code=NO_RESULT)


def test_error_is_not_repeated_if_the_answer_shows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outer, inner = os.openpty()
    with os.fdopen(inner, "w", encoding="utf-8") as screen, redirect_stdout(screen), redirect_stderr(screen):
        assert show_result(partial_result(), ResultOutput(OutputMode(), Path())) == 1
        screen.flush()
        read = b""
        while b"goalwright resume r1" not in read:  # the last line
            read += os.read(outer, 10_000)
        seen = read.decode()
    os.close(outer)
    assert seen.count("no luck") == 1
    assert "partial: 1 of 2 tasks has no result (see above)" in seen
    assert show_result(partial_result(), ResultOutput(OutputMode(), Path())) == 1
    assert "partial: 1 of 2 tasks has no result: b: no luck" in capsys.readouterr().err


async def test_a_second_ctrl_c_exits_the_program() -> None:
    stop, exits = Stop(), []
    try:
        with interruptible(stop, lambda: exits.append("now")):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.wait_for(stop.wait(), 5)
            assert exits == []
            os.kill(os.getpid(), signal.SIGINT)
            assert exits == ["now"]
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


async def test_ctrl_c_is_handled_by_python_again_after_a_run() -> None:
    with interruptible(Stop(), lambda: None):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
