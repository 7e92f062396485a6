"""Recipes of an untrusted checkout: their tools do not run, and they change no settings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.nursery import Ran
from tests.openai_server import OpenAIServer, Script, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
PLAN: dict[str, Any] = {"tasks": [{"id": "report", "action_type": "llm", "instruction": "Write it."}]}
TOOL = f"""tools:
  - name: report_make
    description: Makes a report.
    entry: ["{sys.executable}", "make.py"]
    parameters: {{}}
"""


@pytest.fixture
def checkout(workspace: Path) -> Path:
    """A workspace with an untrusted tool."""
    folder = workspace / "skills" / "report"
    folder.mkdir()
    (folder / "skill.yaml").write_text(TOOL, encoding="utf-8")
    (folder / "make.py").write_text(f"open({str(workspace / 'owned')!r}, 'w')", encoding="utf-8")
    (workspace / "recipes").mkdir()
    return workspace


def put(workspace: Path, plan: dict[str, Any], recipe: str = "weekly", /, **more: Any) -> None:
    row = {"name": "team", "type": "text", "default": "sales team"}
    document = {"goal": "Write a weekly report for the {team}", "parameters": [row], "plan": plan, **more}
    (workspace / "recipes" / f"{recipe}.yaml").write_text(json.dumps(document), encoding="utf-8")


CALLS = {"tasks": [{"id": "make", "action_type": "tool", "name": "report_make", "arguments": {}}]}
READS = {"tasks": [{"id": "read", "action_type": "tool", "name": "ReadFile", "arguments": {"path": "notes.md"}}]}


@pytest.mark.parametrize("plan", [CALLS, READS])
def test_untrusted_recipes_call_no_tools(
    checkout: Path, serve: Serve, goalwright: Goalwright, plan: dict[str, Any]
) -> None:
    put(checkout, plan)
    (checkout / "notes.md").write_text("notes", encoding="utf-8")
    server = serve(scripted(PLAN))
    ran = goalwright("run", "--json", "--recipe", "weekly", cwd=checkout, env=MODEL)
    document = json.loads(ran.out)
    assert (document["status"], document["recipe"]) == ("done", None), ran.err
    assert any("the recipe 'weekly' is not used" in text for text in document["warnings"])
    assert len(server.asked("decomposer")) >= 1
    assert not (checkout / "owned").exists()


def test_a_recipe_cannot_change_settings(checkout: Path, serve: Serve, goalwright: Goalwright) -> None:
    loose = {"workspace_writes": "allow", "approve": "never", "model": "openai/other", "tools": ["python"]}
    put(checkout, {**PLAN, **loose, "settings": loose}, **loose, settings=loose)
    server = serve(scripted(PLAN))
    ran = goalwright("run", "--json", "--recipe", "weekly", cwd=checkout, env=MODEL)
    document = json.loads(ran.out)
    assert (document["status"], document["model"]) == ("done", "openai/test-model"), ran.err
    assert {call.body["model"] for call in server.calls} == {"test-model"}
    exported = goalwright("trace", "export", "last", cwd=checkout).out.splitlines()
    settings = json.loads(exported[0])["settings"]
    assert {"workspace_writes", "approve"}.isdisjoint(settings)
    assert "python" not in str(settings["tools"]).lower()


def test_the_goal_is_planned_if_the_plan_cannot_run(checkout: Path, serve: Serve, goalwright: Goalwright) -> None:
    plans: dict[str, dict[str, Any]] = {
        "text": {"tasks": "all of them"},
        "cycle": {"tasks": [{"id": "a", "action_type": "llm", "instruction": "x", "depends_on": ["a"]}]},
        "path": {"tasks": [{"id": "../a", "action_type": "llm", "instruction": "x"}]},
        "many": {"tasks": [{"id": f"t{n}", "action_type": "llm", "instruction": "x"} for n in range(500)]},
        "numbers": {"tasks": [7, None]},
        "empty": {},
    }
    for name, plan in plans.items():
        put(checkout, plan, name)
    serve(scripted(PLAN))
    listed = goalwright("recipes", "list", "--json", cwd=checkout)
    found = {recipe["name"]: recipe["ok"] for recipe in json.loads(listed.out)}
    assert (listed.status, found) == (0, dict.fromkeys(plans, False))
    for name in plans:
        ran = goalwright("run", "--json", "--recipe", name, cwd=checkout, env=MODEL)
        document = json.loads(ran.out)
        assert (document["status"], document["recipe"]) == ("done", None), ran.err
        assert any("plan" in text and name in text for text in document["warnings"]), document["warnings"]
        assert goalwright("recipes", "show", name, cwd=checkout).status == 0
