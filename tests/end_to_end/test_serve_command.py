"""`goalwright serve` as a real process: its address, its end, a server that is killed, and runs of other processes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest

from goalwright.interfaces.web.serve import bind
from tests.openai_server import Call, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.nursery import Nursery, Process, Ran

    Serve = Callable[[Script], OpenAIServer]
    Goalwright = Callable[..., Ran]

GOAL = "Sort out the service"
PLAN = {
    "tasks": [
        {"id": "first", "action_type": "llm", "instruction": "first"},
        {"id": "second", "action_type": "llm", "instruction": "second", "depends_on": ["first"]},
    ],
    "synthesis": "short",
}


@dataclass
class Served:
    """A server in a process of its own."""

    process: Process
    address: str
    asked: httpx.Client


@contextmanager
def served(nursery: Nursery, workspace: Path, *flags: str) -> Iterator[Served]:
    command = ["-m", "goalwright", "serve", "--no-open", "--port", "0", *flags]
    with nursery.start(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        base, _, token = address.partition("/#token=")
        headers = {"authorization": f"Bearer {token}"}
        try:
            with httpx.Client(base_url=f"{base}/api", headers=headers, timeout=60) as asked:
                yield Served(process, address, asked)
        finally:
            process.kill()
            process.wait()


def holds(asked: httpx.Client, run_id: str, status: str) -> dict[str, object]:
    deadline = time.monotonic() + 60
    while (found := asked.get(f"/runs/{run_id}").json())["status"] != status:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return dict(found)


def slow_for(seconds: float) -> Script:
    def task(call: Call) -> Say:
        return Say("did it", after=seconds if "second" in call.user else 0)

    return scripted(PLAN, task=task, synthesis="the answer")


def test_ctrl_c_interrupts_its_runs_which_can_be_resumed(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery
) -> None:
    server = serve(slow_for(60))
    with served(nursery, workspace) as site:
        body = {"goal": GOAL, "settings": {"model": "openai/test-model"}}
        run_id = site.asked.post("/runs", json=body).raise_for_status().json()["run_id"]
        while len(server.calls) < 3:
            time.sleep(0.02)
        with site.asked.stream("GET", f"/runs/{run_id}/events") as stream:
            next(stream.iter_lines())
            site.process.send_signal(signal.SIGINT)
            assert site.process.wait() == 130
        assert site.process.stderr is not None
        said = site.process.stderr.read()
        assert f"goalwright resume {run_id}" in said
        assert "Traceback" not in said
    server.script = slow_for(0)
    before = len(server.calls)
    ran = goalwright("resume", run_id, "--json", cwd=workspace)
    assert (ran.status, json.loads(ran.out)["answer"]) == (0, "the answer")
    assert len(server.calls) - before == 2  # `first` and planning were paid for already


def test_a_server_that_is_killed_loses_nothing_that_was_paid_for(
    workspace: Path, serve: Serve, nursery: Nursery
) -> None:
    server = serve(slow_for(60))
    with served(nursery, workspace) as site:
        body = {"goal": GOAL, "settings": {"model": "openai/test-model"}}
        run_id = site.asked.post("/runs", json=body).raise_for_status().json()["run_id"]
        while len(server.calls) < 3:
            time.sleep(0.02)
        site.process.send_signal(signal.SIGKILL)
        site.process.wait()
    server.script = slow_for(0)
    before = len(server.calls)
    with served(nursery, workspace) as site:
        assert holds(site.asked, run_id, "interrupted")["held_by"] is None
        site.asked.post(f"/runs/{run_id}/resume").raise_for_status()
        assert holds(site.asked, run_id, "done")["answer"] == "the answer"
    assert len(server.calls) - before == 2


def test_a_run_of_another_process_is_watched_and_stopped(workspace: Path, serve: Serve, nursery: Nursery) -> None:
    server = serve(slow_for(60))
    with served(nursery, workspace) as site:
        command = ["-m", "goalwright", "run", "--json", "--model", "openai/test-model", GOAL]
        with nursery.start(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            while len(server.calls) < 3:
                time.sleep(0.02)
            (run,) = site.asked.get("/runs").json()["runs"]
            assert site.asked.get(f"/runs/{run['run_id']}").json()["held_by"] == "elsewhere"
            assert site.asked.post(f"/runs/{run['run_id']}/stop").status_code == 202
            assert running.wait() == 130
            assert running.stdout is not None
            assert json.loads(running.stdout.read())["status"] == "interrupted"


def test_the_token_is_new_for_each_start_and_a_taken_port_gives_the_next(workspace: Path, nursery: Nursery) -> None:
    with served(nursery, workspace) as first:
        port = first.address.partition("/#")[0].rpartition(":")[2]
        with served(nursery, workspace, "--port", port) as second:
            assert second.address.partition("/#")[0] != first.address.partition("/#")[0]
            assert second.address.partition("token=")[2] != first.address.partition("token=")[2]
            assert second.asked.get("/about").json()["name"] == "work"
            stolen = {"authorization": f"Bearer {first.address.partition('token=')[2]}"}
            assert second.asked.get("/about", headers=stolen).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", "::"])  # noqa: S104
def test_another_host_needs_a_flag(workspace: Path, goalwright: Goalwright, host: str) -> None:
    ran = goalwright("serve", "--host", host, "--no-open", cwd=workspace)
    assert ran.status == 2
    assert "nothing is encrypted" in ran.err
    assert "--allow-remote" in ran.err


def test_mistakes_are_said_before_anything_is_served(workspace: Path, goalwright: Goalwright) -> None:
    assert goalwright("serve", "--workspace", "none", cwd=workspace).status == 2
    (workspace / "goalwright.toml").write_text("max_cost = [", encoding="utf-8")
    ran = goalwright("serve", "--no-open", cwd=workspace)
    assert (ran.status, "goalwright.toml" in ran.err, "Traceback" in ran.err) == (4, True, False)


def test_a_port_that_is_taken_is_not_shared() -> None:
    one = bind("127.0.0.1", 0, allow_remote=False)
    port = one.getsockname()[1]
    two = bind("localhost", port, allow_remote=False)
    assert two.getsockname()[1] != port
    for each in (one, two):
        assert each.family == socket.AF_INET
        each.close()
