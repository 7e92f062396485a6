"""Limits on cost at the command line: models of unknown price, and prices of the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.openai_server import Say, scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.openai_server import OpenAIServer, Script

    Serve = Callable[[Script], OpenAIServer]
    Goalwright = Callable[..., Any]

UNKNOWN = "openai/test-model"
PLAN = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "do a"}]}
RUN = ("run", "--model", UNKNOWN, "--max-cost", "1", "--json", "Write it")


def configure(text: str) -> None:
    """Write the user's own settings."""
    file = Path.home() / ".config" / "goalwright" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_a_model_of_unknown_price_is_refused_with_exit_status_4(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(scripted(PLAN))
    ran = goalwright(*RUN, cwd=workspace)
    assert ran.status == 4
    error = json.loads(ran.out)["error"]
    assert error["code"] == "UNKNOWN_PRICE"
    assert UNKNOWN in error["message"]
    assert "[prices]" in error["hint"]
    assert "--allow-unknown-cost" in error["hint"]
    (workspace / "goals.txt").write_text("one\ntwo\n", encoding="utf-8")
    batch = goalwright("batch", "goals.txt", "-o", "out.jsonl", "--model", UNKNOWN, "--max-cost", "1", cwd=workspace)
    assert batch.status == 4
    assert UNKNOWN in batch.err
    assert server.calls == []


@pytest.mark.parametrize("flag", ["--allow-unknown-cost", "prices"])
def test_it_is_called_with_a_price_or_if_the_user_allows_it(
    workspace: Path, serve: Serve, goalwright: Goalwright, flag: str
) -> None:
    serve(scripted(PLAN, task=lambda _: Say("done", tokens=(1_000_000, 0))))
    more = [flag] if flag != "prices" else []
    if flag == "prices":
        configure(f'[prices]\n"{UNKNOWN}" = {{ input = 0.25, output = 2 }}\n')
    ran = goalwright(*RUN[:-1], *more, RUN[-1], cwd=workspace)
    document = json.loads(ran.out)
    if flag == "prices":
        assert (ran.status, document["cost_usd"]) == (0, pytest.approx(0.25, abs=0.01))
        assert "unknown" not in ran.err
    else:
        assert document["cost_usd"] is None
        assert ran.err.count(f"the price of {UNKNOWN} is unknown") == 1


def test_a_workspace_gives_no_price(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted(PLAN))
    text = f'allow_unknown_cost = true\n[prices]\n"{UNKNOWN}" = {{ input = 0, output = 0 }}\n'
    (workspace / "goalwright.toml").write_text(text, encoding="utf-8")
    ran = goalwright(*RUN, "--trust", cwd=workspace)
    assert ran.status == 4, ran.err
    assert "'prices' is ignored" in ran.err
    assert "'allow_unknown_cost' is ignored" in ran.err
    assert server.calls == []


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{ input = 1 }", "lacks `output`"),
        ("{ input = -1, output = 1 }", "a number of 0 or more for `input`"),
        ('{ input = "1", output = 1 }', "a number of 0 or more for `input`"),
        ("{ input_cost_per_token = 1e-6, output = 1 }", "'input_cost_per_token'"),
        ("{ input = 0.00000015, output = 1 }", "give it per million tokens, 0.15"),
        ("5", "in US dollars per million tokens"),
    ],
)
def test_a_price_that_cannot_be_is_refused_with_its_file_and_model(
    workspace: Path, goalwright: Goalwright, row: str, says: str
) -> None:
    configure(f'[prices]\n"{UNKNOWN}" = {row}\n')
    ran = goalwright(*RUN, cwd=workspace)
    assert ran.status == 4
    message = json.loads(ran.out)["error"]["message"]
    assert "config.toml" in message
    assert "'prices'" in message
    assert UNKNOWN in message
    assert says in message


def test_the_doctor_shows_prices(workspace: Path, goalwright: Goalwright) -> None:
    configure(f'[prices]\n"{UNKNOWN}" = {{ input = 0.5, output = 1.5 }}\n')
    ran = goalwright("doctor", cwd=workspace)
    assert f"{UNKNOWN}: $0.5 in, $1.5 out per million tokens" in ran.out
