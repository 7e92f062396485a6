"""Images on the command line: they reach a server as content parts, outlive a kill, and replay without their files."""

from __future__ import annotations

import json
import os
import signal
import time
from subprocess import DEVNULL
from typing import TYPE_CHECKING

from tests.image_bytes import png
from tests.openai_server import Call, OpenAIServer, Say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Nursery, Ran
    from tests.openai_server import Script

    Serve = Callable[[Script], OpenAIServer]
    Goalwright = Callable[..., Ran]

RED, BLUE = png(640, 480), png(32, 20, colour=(0, 0, 255))
PLAN = {
    "tasks": [
        {"id": "look", "action_type": "llm", "instruction": "Describe shots/red.png"},
        {"id": "title", "action_type": "llm", "instruction": "Write a title", "depends_on": ["look"]},
    ]
}
SEES, BLIND = ("--model", "openai/gpt-4o"), ("--model", "openai/gpt-3.5-turbo")
GOAL = ("Describe the screenshot", "--file", "shots/red.png")


def given(workspace: Path) -> Path:
    file = workspace / "shots" / "red.png"
    file.parent.mkdir()
    file.write_bytes(RED)
    return file


def answering(seconds: float = 0.0) -> Script:
    def script(call: Call) -> Say:
        if call.role == "decomposer":
            return Say(json.dumps(PLAN))
        return Say("A red square" if "Describe" in call.user.rpartition("<task>")[2] else "Red", after=seconds)

    return script


def test_a_screenshot_given_with_file_reaches_the_server_and_only_the_task_that_looks(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    given(workspace)
    server = serve(answering())
    ran = goalwright("run", "--json", *SEES, *GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["warnings"]) == ("done", [])
    assert [(call.role, call.images) for call in server.calls] == [
        ("decomposer", []),
        ("task", [("image/png", RED)]),
        ("task", []),
    ]
    assert f"image/png, 640 × 480 pixels, {len(RED):,} bytes" in server.calls[0].user
    exported = goalwright("trace", "export", cwd=workspace).out
    kept = [json.loads(line) for line in exported.splitlines() if '"file_kept"' in line]
    assert [(event["path"], event["task"]) for event in kept] == [("shots/red.png", None)]
    assert "data:image" not in exported


def test_killed_while_a_model_looks_it_goes_on_and_replays_though_the_file_is_gone(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery
) -> None:
    file = given(workspace)
    server = serve(answering(seconds=20.0))
    command = ["-m", "goalwright", "run", "--no-stream-plan", *SEES, *GOAL]
    process = nursery.start(command, cwd=workspace, stdout=DEVNULL, stderr=DEVNULL)
    deadline = time.monotonic() + 120
    while len(server.calls) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(120) == -signal.SIGKILL
    file.unlink()
    server.script = answering()
    ran = goalwright("resume", "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert document["status"] == "done"
    assert [call.images for call in server.calls[1:3]] == [[("image/png", RED)]] * 2
    assert sum(call.role == "decomposer" for call in server.calls) == 1
    replay = goalwright("replay", "--strict", "--json", document["run_id"], cwd=workspace)
    assert (replay.status, [one["what"] for one in json.loads(replay.out)["drift"]]) == (
        3,
        ["the image 'shots/red.png' can no longer be read"],
    )
    file.write_bytes(BLUE)
    changed = json.loads(goalwright("replay", "--strict", "--json", document["run_id"], cwd=workspace).out)["drift"]
    assert [one["what"] for one in changed] == ["the image 'shots/red.png' has changed since it was given"]
    file.write_bytes(RED)
    assert goalwright("replay", "--strict", document["run_id"], cwd=workspace).status == 0


def test_a_model_that_cannot_see_is_told_and_so_is_the_person(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    given(workspace)
    server = serve(answering())
    ran = goalwright("run", "--json", *BLIND, *GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert not any(call.images for call in server.calls)
    assert f"- shots/red.png (image/png, 640 × 480 pixels, {len(RED):,} bytes)" in server.calls[1].user
    assert any("cannot see shots/red.png and got" in text for text in document["warnings"])
    assert "shots/red.png: no model that can see was shown it" in document["answer"]
    (workspace / "goalwright.toml").write_text('[vision]\n"openai/gpt-3.5*" = true\n', encoding="utf-8")
    assert goalwright("run", "--json", *BLIND, *GOAL, cwd=workspace).status == 0
    assert server.calls[-2].images == [("image/png", RED)]
