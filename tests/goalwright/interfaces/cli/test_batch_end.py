"""What `goalwright batch` says at its end."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from goalwright.batch.limits.shared.budget import Amount, BudgetRequest, SharedBudget
from goalwright.batch.options import BatchOptions
from goalwright.batch.run_batch import BatchReport
from goalwright.batch.summary import BatchSummary
from goalwright.interfaces.cli.commands.batches import run
from goalwright.interfaces.cli.view.output import OutputMode
from goalwright.models.budget import Budget
from goalwright_planner.errors import BudgetSpent


def lost_workers(count: int) -> Budget:
    """A budget of which some workers had a dollar each, half of it spent, when they died."""
    shared = SharedBudget(Budget(10.0))
    for number in range(count):
        name = f"w{number}"
        shared.grant(BudgetRequest(name, Amount(), Amount(), wanted=Amount(1.0)))
        shared.grant(BudgetRequest(name, Amount(1.0), Amount(0.5)))
        shared.lost(name)
    return shared.budget


def end(budget: Budget, capsys: pytest.CaptureFixture[str]) -> str:
    report = BatchReport(BatchSummary(3), "budget", Path("out.jsonl"), written_off=budget.written_off)
    with click.Context(click.Command("batch"), obj=["batch", "goals.txt"]):
        assert run._show(report, OutputMode(), BatchOptions()) == 5
    return capsys.readouterr().err


def test_summary_reports_budget_written_off_for_dead_workers(capsys: pytest.CaptureFixture[str]) -> None:
    budget = lost_workers(2)
    assert budget.cost == pytest.approx(2.0)
    said = end(budget, capsys)
    assert "Stopped (budget); $1.0000 of it was written off for 2 workers that died" in said
    assert "Continue with:" in said


def test_summary_omits_write_offs_if_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Stopped (budget). Continue with:" in end(Budget(1.0), capsys)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (["--journal", "postgresql://me:secret@db/goalwright"], "--journal postgresql://me@db/goalwright"),
        (["--journal=postgres://me@db/goalwright?password=secret"], "--journal=postgres://me@db/goalwright"),
        (["-c", "journal=postgresql://me:secret@db/goalwright"], "-c journal=postgresql://me@db/goalwright"),
        (["see http://a.b/c: ask me@d.e"], "'see http://a.b/c: ask me@d.e'"),
    ],
)
def test_resume_command_has_no_password(given: list[str], printed: str) -> None:
    with click.Context(click.Command("batch"), obj=["batch", *given]):
        assert run.resume_command() == f"goalwright batch {printed} --resume"


@pytest.mark.parametrize(
    ("given", "limits", "needed", "printed"),
    [
        ("--max-tokens 3000", (None, 3000), (0.0, 11_085), "--max-tokens 22170 --resume"),
        ("--max-tokens=3000 -- -a.txt", (None, 3000), (0.0, 11_085), "--max-tokens=22170 --resume -- -a.txt"),
        ("--max-tokens 40000", (None, 40_000), (0.0, 11_085), "--max-tokens 40000 --resume"),
        ("--max-cost 0.01 --resume", (0.01, None), (0.0277, 11_085), "--max-cost 0.055 --resume"),
    ],
)
def test_resume_command_raises_a_limit_below_the_next_call(
    given: str,
    limits: tuple[float | None, int | None],
    needed: tuple[float, int],
    printed: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = BatchOptions(max_cost=limits[0], max_tokens=limits[1])
    spent = BudgetSpent("stopped at 0 of 3,000: the next call is long", cost=needed[0], tokens=needed[1])
    with click.Context(click.Command("batch"), obj=["batch", *given.split()]):
        run.say_stopped("budget", spent, options)
    said, command = capsys.readouterr().err.splitlines()
    assert said == "Stopped at 0 of 3,000: the next call is long. Continue with:"
    assert command == f"  goalwright batch {printed}"


def test_json_has_write_offs() -> None:
    report = BatchReport(BatchSummary(3), "budget", Path("out.jsonl"), written_off=lost_workers(1).written_off)
    assert report.to_dict()["written_off"] == {"workers": 1, "cost_usd": pytest.approx(0.5), "tokens": 0}
