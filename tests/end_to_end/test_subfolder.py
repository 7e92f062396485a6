"""Commands in a subfolder of a workspace: they use the workspace above, and paths from where the user stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.conftest import add_skill
from tests.nursery import Ran
from tests.openai_server import OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
GOAL = "Write the API documentation of the to-do service"
PLAN = {"tasks": [{"id": "survey", "action_type": "skill", "name": "cataloging-apis", "instruction": "List them"}]}


@pytest.fixture
def below(workspace: Path) -> Path:
    """A subfolder of a workspace that is a git repository."""
    (workspace / ".git").mkdir()
    folder = workspace / "service" / "src"
    folder.mkdir(parents=True)
    return folder


def test_a_run_uses_the_workspace_above_says_so_once_and_takes_paths_from_here(
    workspace: Path, below: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(scripted(PLAN, task=lambda _: Say("# Endpoints")))
    (below / "notes.md").write_text("GET /tasks", encoding="utf-8")
    ran = goalwright("run", *MODEL, "--file", "notes.md", "-o", "answer.md", GOAL, cwd=below)
    assert ran.status == 0, ran.err
    assert ran.err.count(f"Using the workspace {workspace}") == 1
    assert (below / "answer.md").read_text(encoding="utf-8").startswith("# Endpoints\n")
    assert "service/src/notes.md" in server.asked("task")[0].user
    assert (workspace / ".agents" / "journal.sqlite").is_file()
    assert not (below / ".agents").exists()
    assert len(json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)) == 1


def test_a_plan_is_written_and_read_in_the_current_folder(
    workspace: Path, below: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    assert goalwright("plan", *MODEL, "-o", "plan.yaml", GOAL, cwd=below).status == 0
    ran = goalwright("run", *MODEL, "--plan", "plan.yaml", "--json", cwd=below)
    assert json.loads(ran.out)["skills_used"] == ["cataloging-apis"], ran.err
    assert not (workspace / "plan.yaml").exists()


def test_a_batch_resumes_from_a_subfolder_without_paying_again(
    workspace: Path, below: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(scripted(PLAN))
    (below / "goals.jsonl").write_text(json.dumps({"id": "a", "goal": GOAL}) + "\n", encoding="utf-8")
    assert goalwright("batch", *MODEL, "goals.jsonl", "-o", "results.jsonl", cwd=below).status == 0
    calls = len(server.calls)
    (below / "goals.jsonl").write_text(
        "".join(json.dumps({"id": name, "goal": GOAL}) + "\n" for name in "ab"), encoding="utf-8"
    )
    again = goalwright("batch", *MODEL, "goals.jsonl", "-o", "results.jsonl", "--resume", cwd=below)
    assert again.status == 0, again.err
    rows = [json.loads(line) for line in (below / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["a", "b"]
    assert len(server.calls) == 2 * calls
    assert len(json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)) == 2


def test_a_run_of_the_workspace_replays_from_a_subfolder_and_its_file_too(
    workspace: Path, below: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 0
    assert goalwright("replay", "--strict", "last", cwd=below).out.endswith("done, no differences\n")
    assert goalwright("trace", "export", "last", "-o", "run.jsonl", cwd=below).status == 0
    replayed = goalwright("replay", "--strict", "run.jsonl", cwd=below)
    assert (replayed.status, replayed.out.endswith("done, no differences\n")) == (0, True), replayed.err


def test_workspace_dot_overrides_and_quiet_says_nothing(workspace: Path, below: Path, goalwright: Goalwright) -> None:
    here = goalwright("skills", "list", "--json", "--workspace", ".", cwd=below)
    assert '"project"' not in here.out
    assert "Using the workspace" not in here.err
    quiet = goalwright("skills", "list", "--json", "-q", cwd=below)
    assert '"project"' in quiet.out
    assert quiet.err == ""


def test_a_skill_is_added_to_the_workspace_above_and_init_starts_one_here(
    workspace: Path, below: Path, goalwright: Goalwright
) -> None:
    assert goalwright("skills", "new", "status-mails", "--description", "Writes weekly mails.", cwd=below).status == 0
    assert (workspace / ".agents" / "skills" / "status-mails" / "SKILL.md").is_file()
    assert goalwright("init", cwd=below).status == 0
    assert (below / "goalwright.toml").is_file()
    assert " project " not in goalwright("skills", "list", cwd=below).out


def test_a_workspace_found_above_is_not_trusted_by_being_found(
    workspace: Path, below: Path, goalwright: Goalwright
) -> None:
    (workspace / "goalwright.toml").write_text('api_base = "http://127.0.0.1:9/"\nmax_tasks = 1000\n', encoding="utf-8")
    tool = add_skill(workspace, "greet", "---\nname: greet\ndescription: Greets.\n---\n")
    (tool / "skill.yaml").write_text(
        "tools:\n  - name: greet_run\n    description: Greets.\n    runtime: python\n    entry: main.py\n",
        encoding="utf-8",
    )
    (tool / "main.py").write_text("print('{}')\n", encoding="utf-8")
    called = goalwright("skills", "call", "greet_run", "{}", cwd=below)
    assert called.status != 0
    assert "trust" in called.out + called.err
    dry = goalwright("run", "--dry-run", *MODEL, GOAL, cwd=below)
    assert re.search(r"'api_base' is ignored", dry.err), dry.err
