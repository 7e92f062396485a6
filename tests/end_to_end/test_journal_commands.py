"""resume, rerun, replay and trace as users and scripts call them: real processes, a real server."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.journal.log import now
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.urls import url_of
from tests.collector import collecting
from tests.fakes import ScriptedModel
from tests.goalwright import recorded
from tests.nursery import Nursery, Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
KEY = "sk-test-0123456789abcdef"
GOAL = "Write the API documentation of the to-do service"
SURVEY = {"id": "survey", "action_type": "skill", "name": "cataloging-apis", "instruction": "List them"}
SLOW = {"id": "slow", "action_type": "llm", "instruction": "slowly"}
BRIEF = {
    "id": "brief",
    "action_type": "llm",
    "instruction": "Brief: <<survey.output>>",
    "depends_on": ["survey", "slow"],
}
PLAN = {"tasks": [SURVEY, SLOW, BRIEF], "synthesis": "short"}


def slow_for(seconds: float, survey: float = 0.0) -> Script:
    """`slow` takes a while, and `survey` may; it reads a file that contains a key."""

    def task(call: Call) -> Answer:
        if instruction(call) == "slowly":
            return Say("at last", after=seconds)
        if instruction(call) == "List them" and not call.tool_results:
            return Say(tool_calls=(("ReadFile", {"path": "notes.md"}),), after=survey)
        return Say(f"did: {instruction(call)}")

    return scripted(PLAN, task=task)


@pytest.fixture(autouse=True)
def notes(workspace: Path) -> None:
    (workspace / "notes.md").write_text(f"the key is {KEY}", encoding="utf-8")


@pytest.fixture
def run_here(workspace: Path) -> Callable[[], str]:
    """Runs in this process, with a scripted model: faster, for tests of what comes after a run."""

    notes = (workspace / "notes.md").read_text(encoding="utf-8")
    recorded.prepare(workspace)
    (workspace / "notes.md").write_text(notes, encoding="utf-8")

    async def run() -> str:
        async with recorded.goalwright(workspace, ScriptedModel(recorded.answering)) as runtime:
            return (await runtime.run(GOAL)).run_id

    return lambda: asyncio.run(run())


def interrupt(
    nursery: Nursery, workspace: Path, server: OpenAIServer, number: int, *more: str
) -> tuple[int | None, str]:
    """Run until `survey` is done and `slow` is being waited for, then send a signal."""
    command = ["-m", "goalwright", "run", *MODEL, *more, GOAL]
    process = nursery.start(command, cwd=workspace, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    stderr = ""
    for line in process.stderr:
        stderr += line
        if "survey: done" in line:
            break
    deadline = time.monotonic() + 60
    while len(server.calls) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, number)
    stderr += process.stderr.read()
    process.wait(120)
    process.stderr.close()
    return process.returncode, stderr


def test_a_killed_run_is_listed_resumed_and_nothing_is_paid_twice(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery
) -> None:
    server = serve(slow_for(30, survey=1.0))
    status, _ = interrupt(nursery, workspace, server, signal.SIGKILL)
    assert status == -signal.SIGKILL
    (listed,) = json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)
    assert list(listed) == ["run_id", "goal", "status", "started", "seconds", "tasks", "cost_usd"]
    assert (listed["status"], listed["goal"], listed["tasks"]) == ("interrupted", GOAL, 3)
    assert len(server.calls) == 4

    server.script = slow_for(0)
    ran = goalwright("resume", "--json", listed["run_id"], cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["answer"], document["run_id"]) == ("done", "the answer", listed["run_id"])
    assert document["usage"]["calls"] == 6
    # planning and the two calls of `survey` were finished; the one in flight is made again
    assert [instruction(call) for call in server.calls[4:]][:2] == ["slowly", "Brief: did: List them"]
    assert len(server.calls) == 7
    assert document["journal"] == f"sqlite:///{workspace}/.agents/journal.sqlite"
    (ended,) = json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)
    shown = json.loads(goalwright("trace", "show", "--json", cwd=workspace).out)
    assert ended["status"] == "done"
    assert ended["seconds"] == pytest.approx(shown["seconds"], abs=0.5), "the time until it was killed counts"
    assert {"survey", "slow", "brief"} >= {*shown["critical_path"]} - {"(plan)", "(synthesis)"}
    assert shown["critical_path"][0] == "(plan)"


def test_ctrl_c_keeps_what_is_done_and_prints_the_resume_command(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery
) -> None:
    server = serve(slow_for(30))
    elsewhere = f"sqlite:///{workspace.parent}/runs.sqlite"
    more = ["--journal", elsewhere, "-o", "the answer.md"]
    status, stderr = interrupt(nursery, workspace, server, signal.SIGINT, *more)
    assert status == 130
    assert "Kept: 1 of 3 tasks, after 4 calls" in stderr, "the call that was stopped was sent, and counts"
    command = next(shlex.split(line) for line in stderr.splitlines() if "goalwright resume" in line)
    assert not (workspace / ".agents" / "journal.sqlite").exists()
    server.script = slow_for(0)
    ran = goalwright(*command[1:], "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert document["journal"] == elsewhere
    assert (workspace / "the answer.md").read_text(encoding="utf-8") == document["answer"] + "\n"


def test_a_run_is_shown_compared_exported_and_replayed_elsewhere(
    workspace: Path, serve: Serve, goalwright: Goalwright, tmp_path: Path
) -> None:
    server = serve(slow_for(0))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    calls = len(server.calls)

    shown = goalwright("trace", "show", cwd=workspace).out
    for text in ("survey [cataloging-apis]", "← survey, slow", "critical path: (plan) → ", "(synthesis)", "ReadFile×1"):
        assert text in shown
    assert json.loads(goalwright("trace", "show", "--json", cwd=workspace).out)["critical_path"][-2:] == [
        "brief",
        "(synthesis)",
    ]
    assert goalwright("trace", "show", "--mermaid", cwd=workspace).out.startswith("```mermaid\nflowchart TD\n")
    full = goalwright("trace", "show", "--task", "brief", cwd=workspace).out
    assert "Brief: did: List them" in full
    assert "[system]" in full
    assert goalwright("trace", "show", "--task", "nope", cwd=workspace).status == 2

    exported = goalwright("trace", "export", "-o", "-", cwd=workspace).out
    rows = [json.loads(line) for line in exported.splitlines()]
    assert all(list(row)[:5] == ["v", "run_id", "seq", "at", "type"] for row in rows)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    kinds = {row["type"] for row in rows}
    assert {"run_started", "catalogue_taken", "skills_selected", "prompt_made", "tool_called", "run_finished"} <= kinds
    assert KEY not in exported
    assert str(workspace) not in exported
    for file in (workspace / ".agents").glob("journal*"):
        assert KEY.encode() not in file.read_bytes()

    other = tmp_path / "other"
    (other / "skills").mkdir(parents=True)
    (workspace / "skills" / "cataloging-apis").rename(other / "skills" / "cataloging-apis")
    (other / "run.jsonl").write_text(exported, encoding="utf-8")
    assert goalwright("trace", "show", "run.jsonl", cwd=other).out == shown
    assert goalwright("trace", "show", "run.jsonl", "--task", "brief", cwd=other).out == full
    ran = goalwright("replay", "run.jsonl", "--strict", "--json", cwd=other)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["drift"], document["answer"], document["journal"]) == ([], "the answer", None)
    piped = json.loads(goalwright("replay", "-", "--strict", "--json", cwd=other, stdin=exported).out)
    assert (piped["drift"], piped["answer"]) == ([], "the answer")
    assert goalwright("trace", "import", "-", cwd=other, stdin=exported).status == 0
    assert goalwright("trace", "import", "run.jsonl", cwd=other).status == 2
    assert goalwright("replay", "last", "--strict", cwd=other).out.endswith("done, no differences\n")
    assert "the answer" in goalwright("replay", "last", cwd=other).out

    ran = goalwright("replay", "last", "--strict", "--json", cwd=workspace)
    assert ran.status == 3
    assert any("cataloging-apis" in one["what"] for one in json.loads(ran.out)["drift"])
    (other / "skills" / "cataloging-apis").rename(workspace / "skills" / "cataloging-apis")
    assert len(server.calls) == calls


def test_a_run_in_use_by_another_process_is_running(workspace: Path, goalwright: Goalwright) -> None:
    store, at = open_store(url_of(workspace / ".agents" / "journal.sqlite")), now()
    started = {"run_id": "r1", "goal": GOAL, "workspace": "w", "settings": {}}
    line = {"r1": RunSummary("r1", GOAL, "running", at)}
    store.append([Row("r1", 1, at, "run_started", started)], line, Handover(myself(), taken=["r1"]))
    assert json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)[0]["status"] == "running"
    assert json.loads(goalwright("trace", "show", "--json", cwd=workspace).out)["status"] == "running"
    assert goalwright("trace", "show", cwd=workspace).out.startswith("run r1 · running")
    assert "r1 · running" in goalwright("trace", "export", "--html", cwd=workspace).out
    store.append([], {}, Handover(myself(), released=["r1"]))
    assert json.loads(goalwright("trace", "show", "--json", cwd=workspace).out)["status"] == "interrupted"
    store.close()


def test_a_rerun_runs_only_downstream_tasks(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(slow_for(0))
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 0
    ran = goalwright("rerun", "last", "--from", "brief", "--dry-run", "--json", cwd=workspace)
    document = json.loads(ran.out)
    assert (document["reused"], document["executed"]) == (["survey", "slow"], ["brief"])
    server.calls.clear()
    ran = goalwright("rerun", "last", "--from", "brief", "--model", "openai/other", "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    assert [call.body["model"] for call in server.calls] == ["other", "other"]
    first, second = (run["run_id"] for run in json.loads(goalwright("trace", "list", "--json", cwd=workspace).out))
    found = json.loads(goalwright("trace", "diff", second, first, "--json", cwd=workspace).out)
    assert {"where": "survey", "what": "status", "a": "done", "b": "reused"} in found
    exported = goalwright("trace", "export", second, cwd=workspace).out
    assert json.loads(goalwright("trace", "diff", "-", first, "--json", cwd=workspace, stdin=exported).out) == found
    assert goalwright("rerun", "last", cwd=workspace).status == 2


def test_selection_is_checked_over_all_runs_and_files(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    run_here()
    goalwright("trace", "export", "-o", "run.jsonl", cwd=workspace)
    for runs in ([], ["last"], ["run.jsonl"]):
        ran = goalwright("replay", *runs, "--select", "--check", "--json", cwd=workspace)
        assert ran.status == 0, ran.err
        (row,) = json.loads(ran.out)
        assert {"run_id", "goal", "then", "now", "added", "dropped"} <= set(row)
    skill = workspace / "skills" / recorded.SKILL
    skill.rename(workspace / "gone")
    assert goalwright("replay", "--select", cwd=workspace).status == 0
    ran = goalwright("replay", "--select", "--check", "--json", cwd=workspace)
    assert ran.status == 3
    assert json.loads(ran.out)[0]["dropped"] == [recorded.SKILL]
    (workspace / "gone").rename(skill)


def test_runs_are_deleted_with_their_artifacts(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    ids = [run_here() for _ in range(2)]
    artifacts = workspace / ".agents" / "runs" / ids[0] / "artifacts"
    artifacts.mkdir(parents=True)
    assert json.loads(goalwright("trace", "prune", "--keep", "1", "--dry-run", "--json", cwd=workspace).out) == [ids[0]]
    assert (
        goalwright("trace", "prune", "--keep", "1", "--dry-run", cwd=workspace).out
        == f"{ids[0]}\n1 run would be deleted\n"
    )
    assert goalwright("trace", "prune", "--keep", "1", cwd=workspace).status == 0
    assert [run["run_id"] for run in json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)] == [ids[1]]
    assert not artifacts.exists()
    assert goalwright("trace", "prune", cwd=workspace).status == 2


def test_old_runs_are_not_deleted_while_they_are_among_those_to_keep(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    ids = [run_here() for _ in range(3)]

    def pruned(*options: str) -> list[str]:
        found: list[str] = json.loads(goalwright("trace", "prune", *options, "--dry-run", "--json", cwd=workspace).out)
        return found

    assert pruned("--older-than", "0d") == ids[::-1]
    assert pruned("--older-than", "0d", "--keep", "2") == ids[:1]
    assert pruned("--older-than", "30", "--keep", "0") == []
    assert pruned(ids[2], "--older-than", "30", "--keep", "1") == ids[2:]


def test_a_folder_that_cannot_be_deleted_with_its_run_is_named(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    run_id = run_here()
    folder = workspace / ".agents" / "runs" / run_id
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(workspace)  # not even an administrator's process goes through it
    ran = goalwright("trace", "prune", "--keep", "0", "--json", cwd=workspace)
    assert (ran.status, json.loads(ran.out)) == (0, [run_id])
    assert f"warning: {folder} could not be deleted with its run" in ran.err
    assert folder.is_symlink()


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["resume"], 2, "there is no journal"),
        (["replay", "last", "--strict"], 2, "there is no journal"),
        (["replay", "nowhere.jsonl", "--strict"], 2, "cannot be read"),
        (["replay", "--strict"], 2, "no run or file to replay"),
        (["replay", "last", "--check"], 2, "--check needs --select"),
        (["replay", "last", "--strict", "--detector", "keyword"], 2, "--detector needs --select"),
        (["run", *MODEL, "--journal", "oracle://x", GOAL], 2, "unknown kind 'oracle'"),
        (["run", *MODEL, "--journal", "sqlite:////dev/null/x.sqlite", GOAL], 4, "cannot be used"),
        (["run", *MODEL, "--journal", "sqlite:///notes.md", GOAL], 2, "not a database"),
        (["run", *MODEL, "--journal", "skills", GOAL], 4, "skills cannot be used: it is a folder"),
    ],
)
def test_what_cannot_work_is_reported_before_anything_is_spent(
    workspace: Path, serve: Serve, goalwright: Goalwright, arguments: list[str], status: int, says: str
) -> None:
    server = serve(slow_for(0))
    (workspace / "notes.md").write_text("no database, this " * 100, encoding="utf-8")
    ran = goalwright(*arguments, "--json", cwd=workspace)
    assert ran.status == status, ran.err
    error = json.loads(ran.out)["error"]
    assert says in error["message"]
    assert "Traceback" not in ran.err
    assert server.calls == []


def test_a_full_disk_is_reported_before_anything_is_spent(
    workspace: Path, serve: Serve, run_here: Callable[[], str], nursery: Nursery
) -> None:
    """A limit on the size of files stands in for the disk."""
    server = serve(slow_for(0))
    run_here()
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000));"
        f"from goalwright.interfaces.cli.main import main; main({['run', '--json', *MODEL, GOAL]!r})"
    )
    ran = nursery.run_python(["-c", program], cwd=workspace)
    assert ran.status == 4, ran.err
    assert "journal" in json.loads(ran.out)["error"]["message"]
    assert server.calls == []


def test_spans_reach_a_collector_with_content_only_on_request(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    run_here()
    with collecting() as (address, sent):
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": address}
        assert goalwright("trace", "export", "--otlp", cwd=workspace, env=env).status == 0
        assert goalwright("trace", "export", "--otlp", "--content", cwd=workspace, env=env).status == 0
    plain, full = (body["resourceSpans"][0]["scopeSpans"][0]["spans"] for _, body in sent)
    names = {span["name"].split()[0] for span in plain}
    assert names == {"invoke_workflow", "plan", "invoke_agent", "execute_tool", "chat"}
    ids = {span["spanId"] for span in plain}
    assert all(span.get("parentSpanId") in ids for span in plain[1:])
    assert GOAL not in json.dumps(plain)
    assert GOAL in json.dumps(full)
    ran = goalwright(
        "trace", "export", "--otlp", cwd=workspace, env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    )
    assert (ran.status, "did not accept the spans" in ran.err) == (1, True)


def test_a_run_becomes_one_page_that_loads_nothing(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    (workspace / "notes.md").write_text("<script>alert(1)</script>", encoding="utf-8")
    run_here()
    page = goalwright("trace", "export", "--html", cwd=workspace).out
    assert page.startswith("<!doctype html>")
    assert "&lt;script&gt;alert(1)" in page
    assert "default-src 'none'" in page
    for bad in ("<script>alert", "<script src", "<link", "@import"):
        assert bad not in page


def test_a_full_disk_leaves_the_earlier_export_as_it_was(
    workspace: Path, run_here: Callable[[], str], nursery: Nursery
) -> None:
    run_here()
    (workspace / "page.html").write_text("as it was", encoding="utf-8")
    before = sorted(file.name for file in workspace.iterdir())
    for target in ("page.html", "new.html"):
        program = (
            "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536));"
            f"from goalwright.interfaces.cli.main import main; main({['trace', 'export', 'last', '-o', target]!r})"
        )
        ran = nursery.run_python(["-c", program], cwd=workspace)
        assert ran.status == 2, ran.err
        assert ran.err.startswith(f"error: {target}: File too large")
    assert (workspace / "page.html").read_text(encoding="utf-8") == "as it was"
    assert sorted(file.name for file in workspace.iterdir()) == before


def test_a_trace_that_lacks_an_event_is_refused_by_all_that_read_it(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    run_id = run_here()
    lines = goalwright("trace", "export", cwd=workspace).out.splitlines(keepends=True)
    where = next(number for number, line in enumerate(lines, 1) if '"call_started"' in line)
    lacking = "".join([*lines[: where - 1], *lines[where:]])
    (workspace / "gap.jsonl").write_text(lacking, encoding="utf-8")
    missing = f"run {run_id} is incomplete: 1 event before its event {where + 1} is missing"
    elsewhere = ["trace", "import", "--journal", "other.sqlite"]
    for command in (["replay", "--strict"], elsewhere, ["trace", "show", "--task", "(plan)"]):
        ran = goalwright(*command, "gap.jsonl", cwd=workspace)
        assert (ran.status, ran.err.splitlines()[0]) == (2, f"error: gap.jsonl, line {where}: {missing}")
    ran = goalwright("trace", "show", "gap.jsonl", cwd=workspace)  # reads only some events, and notices it at the next
    assert (ran.status, f"run {run_id} is incomplete" in ran.err) == (2, True)
    ran = goalwright(*elsewhere, "-", stdin=lacking, cwd=workspace)
    assert (ran.status, ran.err.splitlines()[0]) == (2, f"error: stdin, line {where}: {missing}")
    (workspace / "cut.jsonl").write_text("".join(lines[:where]), encoding="utf-8")
    assert goalwright("replay", "--strict", "cut.jsonl", cwd=workspace).status == 0


def test_a_run_whose_clock_was_set_back_is_shown_and_played_back(
    workspace: Path, run_here: Callable[[], str], goalwright: Goalwright
) -> None:
    run_here()
    rows = [json.loads(line) for line in goalwright("trace", "export", cwd=workspace).out.splitlines()]
    for row in rows[len(rows) // 2 :]:
        row["at"] = f"2001{row['at'][4:]}"
    (workspace / "back.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = json.loads(goalwright("trace", "show", "back.jsonl", "--json", cwd=workspace).out)
    times = [shown["seconds"], *(span["seconds"] for span in shown["spans"])]
    times += [one[end] for one in (*shown["spans"], *shown["critical_segments"]) for end in ("start", "end")]
    assert min(times) >= 0.0
    ran = goalwright("replay", "back.jsonl", "--speed", "1000", cwd=workspace)
    assert (ran.status, "the answer" in ran.out) == (0, True), ran.err


def test_replay_and_trace_never_load_litellm(workspace: Path, run_here: Callable[[], str]) -> None:
    run_here()
    program = """if True:
        import sys
        from goalwright.interfaces.cli.main import main
        for command in ("replay last --strict", "replay --select", "trace show", "trace list"):
            try:
                main(command.split())
            except SystemExit as end:
                assert end.code == 0, (command, end.code)
            assert "litellm" not in sys.modules, command
    """
    done = subprocess.run([sys.executable, "-c", program], cwd=workspace, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
