"""Commands on a journal in PostgreSQL: a run is continued from another folder, and no output has the password."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_executor.stores.postgres.schema import VERSION
from tests.end_to_end.test_serve_command import served
from tests.nursery import Nursery, Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres import PostgresServer

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
SECRET = "opensesame"
PLAN = {
    "tasks": [
        {"id": "first", "action_type": "llm", "instruction": "first"},
        {"id": "second", "action_type": "llm", "instruction": "second", "depends_on": ["first"]},
    ]
}


@pytest.fixture
def journal(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    url = postgres.new_url().replace("postgres:@", f"postgres:{SECRET}@")
    monkeypatch.setenv("GOALWRIGHT_JOURNAL", url)
    return url


def held_back(seconds: float) -> Script:
    def task(call: Call) -> Answer:
        return Say(f"did {instruction(call)}", after=seconds if instruction(call) == "second" else 0.0)

    return scripted(PLAN, task=task)


def killed_run(nursery: Nursery, workspace: Path) -> str:
    """Start a run, kill it while its second task waits, and return what it said."""
    command = [
        "-m",
        "goalwright",
        "run",
        *MODEL,
        "--no-stream-plan",
        "A goal",
    ]  # the plan is on record before a task starts
    said = ""
    with nursery.start(command, cwd=workspace, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            said += line
            if "first: done" in line:
                process.send_signal(signal.SIGKILL)
                break
    return said


@pytest.mark.slow
def test_a_killed_run_continues_from_another_folder_and_is_seen_from_there(
    serve: Serve, nursery: Nursery, goalwright: Goalwright, workspace: Path, tmp_path: Path, journal: str
) -> None:
    said, elsewhere = [], tmp_path / "elsewhere"
    shutil.copytree(workspace / "skills", elsewhere / "skills")

    def command(*arguments: str, status: int = 0) -> Any:
        ran = goalwright(*arguments, cwd=elsewhere)
        said.append(ran.out + ran.err)
        assert ran.status == status, ran.err
        return json.loads(ran.out) if "--json" in arguments else ran.out

    serve(held_back(60.0))
    said.append(killed_run(nursery, workspace))
    (run,) = command("trace", "list", "--json")
    assert run["status"] == "interrupted"
    server = serve(held_back(0.0))
    result = command("resume", "last", "--json")
    assert result["status"] == "done"
    assert result["answer"] == "did second"
    assert len(server.calls) == 1, "what was answered before is not asked again"
    assert result["journal"].startswith("postgresql://")
    assert "did second" in command("trace", "show", "last", "--task", "second")
    assert command("replay", "last", "--strict", "--json")["drift"] == []
    command("trace", "export", "last")
    command("doctor", status=0)
    status = command("journal", "status", "--json")
    assert (status["kind"], status["runs"], status["running"], status["workers"]) == ("postgresql", 1, 0, 0)
    migrated = command("journal", "migrate", "--json")
    assert (migrated["before"], migrated["after"]) == (VERSION, VERSION)
    with served(nursery, elsewhere) as page:
        listed = page.asked.get("runs").text
        assert run["run_id"] in listed
        said.append(listed + page.asked.get(f"runs/{run['run_id']}").text)
    assert command("trace", "prune", "--older-than", "0d", "--json") == [run["run_id"]]
    assert command("trace", "list", "--json") == []
    assert SECRET not in "".join(said)


@pytest.mark.slow
def test_a_batch_is_recorded_there_and_resumed(
    serve: Serve, goalwright: Goalwright, workspace: Path, journal: str
) -> None:
    server = serve(held_back(0.0))
    goals = workspace / "goals.txt"
    goals.write_text("One goal\nAnother goal\nA third goal\n", encoding="utf-8")
    ran = goalwright("batch", *MODEL, str(goals), "-o", str(workspace / "out.jsonl"), "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    calls = len(server.calls)
    again = goalwright("batch", *MODEL, str(goals), "-o", str(workspace / "out.jsonl"), "--resume", cwd=workspace)
    assert (again.status, len(server.calls)) == (0, calls)
    rows = [json.loads(line) for line in (workspace / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(row["status"] for row in rows) == ["done"] * 3
    assert SECRET not in ran.out + ran.err + again.out + again.err + json.dumps(rows)
    assert len(json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)) == 3
