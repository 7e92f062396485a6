"""`goalwright mcp list|check|refresh|import`, and where else MCP servers are shown."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from goalwright.interfaces.cli.commands.mcp.servers import open_tools
from goalwright.interfaces.cli.dialogs.trust_prompt import trust_mcp
from goalwright.interfaces.cli.view import output
from tests.goalwright.interfaces.cli.test_main import ended
from tests.mcp_workspace import configure, small, starts

ASKING = Path(__file__).parents[3] / "mcp_asking_server.py"


@pytest.fixture(autouse=True)
def in_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command printed as JSON."""
    return json.loads(capsys.readouterr().out)


def test_servers_are_listed_checked_trusted_called_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(tmp_path, small=small(), off=small(disabled=True))
    assert ended("mcp", "list", "--json") == 0
    rows = printed(capsys)
    assert [sorted(row) for row in rows] == [["name", "reason", "source", "state", "tools"]] * 2
    assert [(row["name"], row["source"], row["state"], row["tools"]) for row in rows] == [
        ("small", "workspace", "untrusted", []),
        ("off", "workspace", "disabled", []),
    ]
    assert ended("mcp", "check", "--json") == 1
    assert [row["state"] for row in printed(capsys)] == ["untrusted", "disabled"]
    assert ended("mcp", "refresh", "small") == 1
    assert starts(tmp_path) == 0, "nothing starts before it is trusted"
    capsys.readouterr()
    assert ended("mcp", "check", "small", "--trust", "--json") == 0
    (row,) = printed(capsys)
    assert (row["state"], row["tools"][0], len(row["tools"])) == ("active", "mcp__small__add", 5)
    begun = starts(tmp_path)
    assert ended("skills", "call", "mcp__small__add", '{"a": 2, "b": 2}', "-q") == 0
    assert printed(capsys)["text"] == "4"
    assert starts(tmp_path) == begun + 1
    assert ended("skills", "list", "--json") == 0
    shown = [row for row in printed(capsys) if row["name"].startswith("mcp__")]
    assert (shown[0]["name"], shown[0]["kind"], shown[0]["path"]) == (
        "mcp__small__add",
        "executable",
        str(tmp_path / ".mcp.json"),
    )
    ended("doctor", "--json")
    checks = [row["found"] for row in printed(capsys) if row["topic"] == "mcp"]
    assert checks[0] == "small: active, 5 tools"
    assert checks[-1].startswith("not confined, so they can do whatever you can: ")
    assert starts(tmp_path) == begun + 1, "listing starts nothing"


def test_an_unknown_server_and_nothing_to_import_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(tmp_path, small=small())
    assert ended("mcp", "check", "smal") == 2
    assert "there is no MCP server 'smal'; servers are: small" in capsys.readouterr().err
    assert ended("mcp", "import") == 2
    assert "there is neither" in capsys.readouterr().err


def test_imported_servers_are_not_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "mcp.json").write_text(json.dumps({"servers": {"small": small()}}), encoding="utf-8")
    assert ended("mcp", "import", "--json") == 0
    assert [(row["name"], row["state"]) for row in printed(capsys)] == [("small", "imported")]
    assert ended("mcp", "list", "--json") == 0
    assert [row["state"] for row in printed(capsys)] == ["untrusted"]


def test_first_run_with_trust_can_use_a_servers_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(tmp_path, small=small())
    plan = {"tasks": [{"id": "sum", "action_type": "tool", "name": "mcp__small__add", "arguments": {"a": 20, "b": 22}}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert ended("run", "--plan", "plan.json", "--json") == 2
    err = capsys.readouterr().err
    assert "there is no tool 'mcp__small__add'" in err
    assert "'small' are not used: you have not trusted it yet" in err
    assert ended("run", "--plan", "plan.json", "--trust", "--json") == 0
    assert printed(capsys)["answer"] == "42"


def test_trust_prompt_asks_about_the_server_then_its_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, small=small(env={"TOKEN": "${HOME}"}))
    tools, asked = open_tools(tmp_path), []
    answers = iter((False, True, False, True))

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setattr(click, "confirm", confirm)
    trust_mcp(tools, trust=False, quiet=False)
    assert (asked, starts(tmp_path)) == (["May it be started?"], 0)
    shown = capsys.readouterr().err
    assert "'small' starts, unconfined," in shown
    assert "HOME from your environment goes to its environment as TOKEN" in shown
    trust_mcp(tools, trust=False, quiet=False)
    assert (asked[1:], starts(tmp_path)) == (["May it be started?", "May models call them?"], 1)
    assert "note (may change data): Notes a text in a file." in capsys.readouterr().err
    assert tools.mcp.offer(start=False).tools == ()
    trust_mcp(tools, trust=False, quiet=False)
    assert (asked[3:], len(tools.mcp.offer(start=False).tools)) == (["May models call them?"], 5)


def test_trust_prompt_shows_prompts_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, asks={"command": sys.executable, "args": ["-S", str(ASKING), "modern"]})
    tools, answers = open_tools(tmp_path), iter((True, False))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: next(answers))
    trust_mcp(tools, trust=False, quiet=False)
    (state,) = tools.mcp.states()[0]
    shown = capsys.readouterr().err
    assert state.prompts
    assert all(f"the prompt {prompt.name}: {prompt.description}" in shown for prompt in state.prompts)

    tools.mcp.trust_tools(replace(state, prompts=state.prompts[1:]))
    assert [one.state for one in tools.mcp.states()[0]] == ["untrusted"], "another list was shown"
    tools.mcp.trust_tools(state)
    assert [one.state for one in tools.mcp.states()[0]] == ["active"]
