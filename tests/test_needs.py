"""Tests that the machine cannot run are skipped by name; other skips fail CI."""

from __future__ import annotations

import pytest

from tests import needs
from tests.needs import NEEDS, Need, inexcusable, summary

SKIPS = ["Skipped: needs go", "needs go", "Skipped: needs non-root user"]


def test_skips_are_summarised_in_one_line() -> None:
    assert summary(SKIPS) == "skipped for want of: go (2), non-root user (1)"
    assert summary([]) == ""


def test_a_skip_that_the_machine_could_have_run_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NEEDS, "go", Need(lambda: False, lambda: True))
    monkeypatch.setitem(NEEDS, "non-root user", Need(lambda: False, lambda: False))
    assert inexcusable(SKIPS) == ["tests were skipped for want of go, which this machine has"]
    assert inexcusable(["Skipped: not today"]) == [
        "a test was skipped without a need of tests/needs.py: Skipped: not today"
    ]


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_both_checks_agree_on_this_machine(name: str) -> None:
    assert NEEDS[name].here() == NEEDS[name].on_machine()


def test_every_mark_names_a_need() -> None:
    marks = [mark for name, mark in vars(needs).items() if name.startswith("needs_")]
    assert marks
    assert {name for mark in marks for name in mark.args} <= set(NEEDS)
