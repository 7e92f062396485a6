"""Reads, resumes and replays the journals, traces, plans, results and trust files of recorded versions.

`tests/data/<version>/` holds recordings of that version's command line: runs with every outcome, refused plans, tool
calls, truncated texts, a small model, a model as detector, plans that waited, changed and grew, and a killed batch.
`python -m tests.record_version` creates such a folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.cli.commands.traces.show import show
from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.testing import Recorded
from goalwright_executor.journal import trace_file
from tests.conftest import replayed
from tests.openai_server import Call, OpenAIServer, Say, Script, instruction, scripted
from tests.record_version import packed
from tests.recorded_plans import GROWN
from tests.recorded_scenarios import PAIR

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_executor.stores.row import Row
    from tests.nursery import Ran

DATA = Path(__file__).parent / "data"
VERSIONS = sorted(folder.name for folder in DATA.glob("[0-9]*"))
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """The recorded versions."""
    return str(request.param)


@pytest.fixture
def earlier(version: str, tmp_path: Path, own_home: Path) -> Path:
    """A workspace of an earlier version, at another path and with another home."""
    source = DATA / version
    workspace = tmp_path / "elsewhere"
    shutil.copytree(source / "workspace", workspace)
    (workspace / ".agents").mkdir()
    (workspace / ".agents/journal.sqlite").write_bytes(packed(source, "journal.sqlite"))
    trust = own_home / ".local/share/goalwright/trust.json"
    trust.parent.mkdir(parents=True)
    shutil.copy(source / "trust.json", trust)
    return workspace


def exported(version: str) -> dict[str, list[str]]:
    """The lines of each exported trace."""
    runs: dict[str, list[str]] = defaultdict(list)
    for line in packed(DATA / version, "traces.jsonl").decode().splitlines():
        runs[json.loads(line)["run_id"]].append(line)
    return runs


def test_every_run_of_the_journal_replays_without_drift(earlier: Path) -> None:
    found = replayed(earlier)
    assert len(found) > 20
    assert {run: drift for run, drift in found.items() if drift} == {}


def test_every_exported_trace_equals_the_journal(version: str, earlier: Path) -> None:
    """Such a trace replays like the run of the journal."""
    with closing(records.recorded_runs(Paths.of(earlier, os.environ), Settings())) as store:
        held = {run.run_id: list(trace_file.lines(store.rows(run.run_id))) for run in store.summaries()}
    assert _parsed(exported(version)) == _parsed(held)


def _parsed(runs: dict[str, list[str]]) -> dict[str, list[Row]]:
    return {run: [trace_file.parse(line, run) for line in lines] for run, lines in runs.items()}


@pytest.mark.slow
def test_an_exported_trace_is_still_a_fixture_for_tests(version: str, earlier: Path, tmp_path: Path) -> None:
    ran = 0
    for number, (run, lines) in enumerate(exported(version).items()):
        end = json.loads(lines[-1])
        begun = json.loads(lines[0])
        if end["type"] != "run_finished" or end["status"] != "done" or any('"task_reused"' in line for line in lines):
            continue
        if begun["goal"].endswith("[changed]"):  # a user changed the plan afterwards
            continue
        file = tmp_path / f"{number}.jsonl"
        file.write_text("\n".join(lines), encoding="utf-8")
        recorded = Recorded.of(file, workspace=earlier, journal=tmp_path / f"{number}.sqlite")
        assert asyncio.run(recorded.run(recorded.goal)).answer == end["answer"], run
        ran += 1
    assert ran > 5


@pytest.mark.slow
def test_the_commands_read_the_journal_and_the_traces(
    earlier: Path, goalwright: Callable[..., Ran], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = json.loads(goalwright("trace", "list", "--json", cwd=earlier).out)
    assert {run["status"] for run in runs} >= {"done", "partial", "failed", "interrupted", "waiting"}
    for run in runs:
        assert show.main([run["run_id"], "--workspace", str(earlier)], standalone_mode=False) in (0, None)
        assert run["run_id"] in capsys.readouterr().out
    names = [run["run_id"] for run in runs if not run["goal"].endswith("[detect]")]  # one of them asked a model
    reselected = goalwright("replay", "--select", "--check", "--json", *names, cwd=earlier)
    assert reselected.status in (0, 3), reselected.err  # the ranking has improved since
    found = [one["run_id"] for one in json.loads(reselected.out)]
    assert found == [name for name in names if name in found]
    assert len(found) >= len(names) - 2, "newer versions select no skills for a plan that is given"


@pytest.mark.slow
def test_unfinished_runs_resume_without_paying_twice(
    earlier: Path, serve: Callable[[Script], OpenAIServer], goalwright: Callable[..., Ran]
) -> None:
    server = serve(scripted(GROWN, synthesis="resumed"))
    listed = json.loads(goalwright("trace", "list", "--json", cwd=earlier).out)
    unfinished = [run for run in listed if run["status"] == "interrupted" and "number" not in run["goal"]]
    assert len(unfinished) >= 2, "one was stopped with Ctrl-C, one killed"
    for run in unfinished:
        server.calls.clear()
        ran = goalwright("resume", run["run_id"], "--json", cwd=earlier, env=MODEL)
        assert ran.status == 0, ran.err
        document = json.loads(ran.out)
        assert (document["status"], document["answer"]) == ("done", "resumed")
        midway = run["goal"].endswith("[midway]")  # it was killed while its plan was being written
        third = "Do late" if midway else "Do three"
        assert [instruction(call) for call in server.calls if call.role == "task"] == ["Do two", third]
        assert len(server.asked("decomposer")) == midway


@pytest.mark.slow
def test_waiting_runs_are_answered_without_paying_twice(
    earlier: Path, serve: Callable[[Script], OpenAIServer], goalwright: Callable[..., Ran]
) -> None:
    waiting = json.loads(goalwright("approvals", "--json", cwd=earlier).out)
    assert len(waiting) == 2
    server = serve(scripted(json.loads(PAIR), synthesis="answered"))
    for request in waiting:
        server.calls.clear()
        flag = ("--answer", "The to-do service") if request["kind"] == "question" else ("--approve", request["id"])
        ran = goalwright("resume", request["run_id"], *flag, "--json", cwd=earlier, env=MODEL)
        assert (ran.status, json.loads(ran.out)["status"]) == (0, "done"), ran.err
        asked = [instruction(call) for call in server.asked("task")]
        assert asked == (["Do a", "Do b"] if request["kind"] == "question" else ["Send did: Do draft"])
        assert goalwright("replay", "--strict", request["run_id"], cwd=earlier).status == 0


@pytest.mark.slow
def test_a_done_run_is_rerun_in_part(
    earlier: Path, serve: Callable[[Script], OpenAIServer], goalwright: Callable[..., Ran]
) -> None:
    server = serve(scripted({}, synthesis="again"))
    listed = json.loads(goalwright("trace", "list", "--json", cwd=earlier).out)
    first = next(run["run_id"] for run in reversed(listed) if run["goal"].endswith("[skill]"))
    ran = goalwright("rerun", first, "--from", "brief", "--json", cwd=earlier, env=MODEL)
    assert (ran.status, json.loads(ran.out)["answer"]) == (0, "again")
    assert len(server.asked("task")) == 1


@pytest.mark.slow
def test_a_killed_batch_resumes_with_every_goal_once(
    earlier: Path, serve: Callable[[Script], OpenAIServer], goalwright: Callable[..., Ran]
) -> None:
    asked: list[str] = []

    def task(call: Call) -> Say:
        asked.append(instruction(call))
        return Say("resumed")

    serve(scripted({}, task=task, synthesis="all"))
    before = _rows(earlier / "results.jsonl")
    ran = goalwright("batch", "goals.jsonl", "-o", "results.jsonl", "--resume", "--json", cwd=earlier, env=MODEL)
    after = _rows(earlier / "results.jsonl")
    assert ran.status == 1, "one goal was partial before, and stays so"
    assert sorted(row["id"] for row in after) == ["g0", "g1", "g2", "g3", "g4"]
    assert [row for row in after if row["id"] in {one["id"] for one in before}] == before
    assert asked == ["Do two", "Do three"]


@pytest.mark.slow
def test_tools_stay_trusted_and_plan_files_run(earlier: Path, goalwright: Callable[..., Ran]) -> None:
    called = goalwright("skills", "call", "word_count", '{"text": "one two"}', cwd=earlier)
    assert called.status == 0, called.err
    assert json.loads(called.out)["text"] == '{"words": 2}'
    planned = goalwright("run", "--plan", "plan.yaml", "--dry-run", "a goal", cwd=earlier, env=MODEL)
    assert planned.status == 0, planned.err


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
