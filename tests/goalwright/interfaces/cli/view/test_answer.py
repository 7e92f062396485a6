"""Open requests as printed at the end of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import answer
from goalwright_executor.history.result import Result
from goalwright_planner.approvals import ApprovalRequest
from goalwright_planner.model import Usage

if TYPE_CHECKING:
    import pytest

ENDED = Result("run-1", "waiting", "goal", None, None, None, (), (), Usage(), 0.0, None)
COLOUR = ApprovalRequest("11111111aaaa#1", "paint", "question", preview="Which colour?")
NAME = ApprovalRequest("22222222bbbb#1", "greet", "question", preview="Who is there?")
WRITE = ApprovalRequest("33333333cccc#1", "save", "tool", "WriteFile", {"path": "a"})


def test_one_question_needs_no_id(capsys: pytest.CaptureFixture[str]) -> None:
    answer.show_waiting(replace(ENDED, waiting=(COLOUR,)), ["goalwright", "resume", "run-1"])
    assert capsys.readouterr().err.splitlines() == [
        "Question: Which colour?",
        "Answer with: goalwright resume run-1 --answer TEXT",
    ]


def test_several_requests_are_printed_with_ids_and_a_command_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    answer.show_waiting(replace(ENDED, waiting=(WRITE, COLOUR, NAME)), ["goalwright", "resume", "run-1"])
    shown = capsys.readouterr().err.splitlines()
    assert "Question 11111111#1: Which colour?" in shown
    assert "Question 22222222#1: Who is there?" in shown
    assert "Answer with: goalwright resume run-1 --approve '33333333#1'" in shown
    assert "And with: goalwright resume run-1 --answer '11111111#1=TEXT'" in shown
