"""The files of a run reach the machine that continues it."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.runtime import Goalwright
from goalwright.runs.stop import Stop
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.transfer import delete_runs, import_runs
from goalwright_executor.capture.capture import Capture
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.results import file_contents
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.file_contents import FileContents
from goalwright_executor.results.kept_files import Artifact
from goalwright_executor.stores.urls import url_of
from goalwright_planner.events import FileKept, TaskFinished, Warned
from goalwright_planner.model import Reply, Request, ToolCall
from tests.conftest import CATALOGING, add_skill
from tests.fakes import Recorder, ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.events import Event

TEXT = "The orders of May, in euros.\n" * 40
PLAN = {
    "tasks": [
        {"id": "make", "action_type": "llm", "instruction": "Write the report"},
        {"id": "read", "action_type": "llm", "instruction": "Read <<make.output>>", "depends_on": ["make"]},
    ]
}


def replying(request: Request) -> Reply:
    """Task `make` writes a file, task `read` reads the file that its prompt names."""
    if request.role == "decomposer":
        return Reply(json.dumps(PLAN))
    results = [one for one in request.messages if one.role == "tool"]
    if results:
        return Reply(json.loads(results[-1].content)["text"])
    if request.task == "make":
        return _calling("WriteFile", path="tables/report.md", content=TEXT)
    asked = "".join(message.content for message in request.messages)
    path = next(line for line in asked.splitlines() if line.endswith("tables/report.md"))
    return _calling("ReadFile", path=path.removeprefix("- "))


def _calling(name: str, **arguments: Any) -> Reply:
    return Reply("", (ToolCall("c", name, json.dumps(arguments)),), finish="tool_calls")


def machine(folder: Path, journal: str, model: ScriptedModel) -> Goalwright:
    if not folder.exists():
        add_skill(folder, "cataloging-apis", CATALOGING)
    return Goalwright(folder, Settings(model="m", journal=journal), open_model=lambda _: model)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_run_that_stopped_on_one_machine_reads_its_files_on_another(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = url_of(tmp_path / "j.sqlite") if kind == "sqlite" else request.getfixturevalue("postgres").new_url()
    here, there, stop = tmp_path / "a" / "work", tmp_path / "b" / "elsewhere", Stop()

    def seen(event: Event) -> None:
        assert not isinstance(event, FileKept), "contents of files are for the journal alone"
        if isinstance(event, TaskFinished) and event.task == "make":
            stop.set()

    async with machine(here, url, ScriptedModel(replying)) as goalwright:
        begun = await goalwright.run("Report on May", record=seen, stop=stop)
    assert begun.status == "interrupted"
    shutil.rmtree(here)  # the machine is gone, with everything that was on it
    model, events = ScriptedModel(replying), Recorder()
    async with machine(there, url, model) as goalwright:
        result = await goalwright.resume(begun.run_id, record=events)
    assert result.status == "done"
    assert result.answer is not None
    assert "The orders of May" in result.answer
    assert {one.task for one in model.asked if one.role == "task"} == {"read"}
    file = Artifacts.of(there, begun.run_id).folder / "tables" / "report.md"
    assert file.read_text() == TEXT
    assert not events.of(Warned)
    store = open_store(url)
    try:
        delete_runs([begun.run_id], store, Paths.of(there, {}))
        assert not file.exists()
        assert list(store.summaries()) == []
    finally:
        store.close()


@pytest.mark.parametrize("gone", [False, True], ids=["from its folder", "from the journal"])
async def test_a_rerun_takes_over_the_files_of_the_tasks_that_it_reuses(*, gone: bool, tmp_path: Path) -> None:
    model, url = ScriptedModel(replying), url_of(tmp_path / "j.sqlite")
    async with machine(tmp_path / "a", url, model) as goalwright:
        parent = await goalwright.run("Report on May")
        if gone:
            shutil.rmtree(Artifacts.of(tmp_path / "a", parent.run_id).folder)
        events = Recorder()
        result = await goalwright.rerun(
            parent.run_id, goalwright.plan_rerun(parent.run_id, ["read"], {}), record=events
        )
        assert [(one.path, one.task) for one in result.artifacts] == [("tables/report.md", "make")]
        assert result.status == "done"
        assert (Artifacts.of(tmp_path / "a", result.run_id).folder / "tables" / "report.md").read_text() == TEXT
        assert not events.of(Warned)
        delete_runs([parent.run_id], goalwright.journal.store, goalwright.paths)
        shutil.rmtree(Artifacts.of(tmp_path / "a", result.run_id).folder)
        again = await goalwright.rerun(result.run_id, goalwright.plan_rerun(result.run_id, ["read"], {}))
    assert again.status == "done"
    assert "The orders of May" in str(again.answer)
    assert [one.task for one in model.asked if one.task == "make"] == ["make", "make"]  # its call and its answer


async def test_an_overwritten_reused_file_is_restored_with_its_last_content(tmp_path: Path) -> None:
    stop = Stop()

    def rewriting(request: Request) -> Reply:
        if request.role == "decomposer" or request.task == "make":
            return replying(request)
        if any(one.role == "tool" for one in request.messages):
            stop.set()
            return Reply("written")
        return _calling("WriteFile", path="tables/report.md", content="Nothing was sold.\n")

    async with machine(tmp_path / "a", url_of(tmp_path / "j.sqlite"), ScriptedModel(replying)) as goalwright:
        parent = await goalwright.run("Report on May")
    async with machine(tmp_path / "a", url_of(tmp_path / "j.sqlite"), ScriptedModel(rewriting)) as goalwright:
        cut = await goalwright.rerun(parent.run_id, goalwright.plan_rerun(parent.run_id, ["read"], {}), stop=stop)
        assert cut.status == "interrupted"
        folder = Artifacts.of(tmp_path / "a", cut.run_id).folder
        shutil.rmtree(folder)
        await goalwright.resume(cut.run_id)
    assert (folder / "tables" / "report.md").read_text() == "Nothing was sold.\n"


async def test_a_rerun_warns_about_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MOST_BYTES", 10)
    async with machine(tmp_path / "a", url_of(tmp_path / "j.sqlite"), ScriptedModel(replying)) as goalwright:
        parent = await goalwright.run("Report on May")
        shutil.rmtree(Artifacts.of(tmp_path / "a", parent.run_id).folder)
        events = Recorder()
        await goalwright.rerun(parent.run_id, goalwright.plan_rerun(parent.run_id, ["read"], {}), record=events)
    said = [event.message for event in events.of(Warned)]
    assert "tables/report.md, which a task wrote, is neither on this machine nor in the journal" in said


async def test_resuming_a_done_run_restores_its_files(tmp_path: Path) -> None:
    model, events = ScriptedModel(replying), Recorder()
    async with machine(tmp_path / "a", url_of(tmp_path / "j.sqlite"), model) as goalwright:
        done = await goalwright.run("Report on May")
        asked = len(model.asked)
        shutil.rmtree(Artifacts.of(tmp_path / "a", done.run_id).folder)
        assert (await goalwright.resume(done.run_id, record=events)).artifacts == done.artifacts
    assert (Artifacts.of(tmp_path / "a", done.run_id).folder / "tables" / "report.md").read_text() == TEXT
    assert (len(model.asked), events.of(Warned)) == (asked, [])


@pytest.mark.parametrize("run_id", ["..", "../../../private", "/private", "", "a/b", "x\0"])
def test_files_outside_run_folders_are_not_copied(run_id: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    contents = FileContents(Artifacts.of(work, "r"), Capture())
    for folder in (tmp_path / "private", work / ".agents", work / ".agents" / "runs" / "a" / "b", work):
        (folder / "artifacts").mkdir(parents=True, exist_ok=True)
        (folder / "artifacts" / "key").write_text("secret")
    contents.copy([Artifact("key", 6, hashlib.sha256(b"secret").hexdigest(), "t")], run_id)
    assert not contents.artifacts.folder.exists()


async def test_an_exported_run_brings_its_files_and_a_strangers_leads_nowhere_else(tmp_path: Path) -> None:
    from goalwright_executor.journal import trace_file

    url = url_of(tmp_path / "j.sqlite")
    async with machine(tmp_path / "a", url, ScriptedModel(replying)) as goalwright:
        begun = await goalwright.run("Report on May")
        rows = list(goalwright.journal.store.rows(begun.run_id))
        lines = list(trace_file.lines(rows))
    kept = [json.loads(line) for line in lines if '"file_kept"' in line]
    assert [(one["path"], one["text"], one["sha256"]) for one in kept] == [
        ("tables/report.md", TEXT, hashlib.sha256(TEXT.encode()).hexdigest())
    ]
    # As if the run had stopped before its second task, and someone had changed where its file goes.
    at = next(number for number, line in enumerate(lines) if '"task_finished"' in line)
    hostile = [line.replace("tables/report.md", "../../../../../outside.md") for line in lines[: at + 1]]
    (tmp_path / "run.jsonl").write_text("\n".join(hostile), encoding="utf-8")
    other = url_of(tmp_path / "other.sqlite")
    store = open_store(other)
    import_runs([tmp_path / "run.jsonl"], store, Paths.of(tmp_path / "a", {}))
    store.close()

    def answering(request: Request) -> Reply:
        return Reply("nothing to read") if request.task == "read" else replying(request)

    async with machine(tmp_path / "b", other, ScriptedModel(answering)) as goalwright:
        assert (await goalwright.resume(begun.run_id)).status == "done"
    assert not list(tmp_path.rglob("outside.md"))


def _left(folder: Path, **files: bytes) -> dict[str, Any]:
    rows = []
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        rows.append({"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    return {"status": "ok", "data": {"artifacts": rows}}


def test_file_contents_are_exact_without_large_or_secret_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MOST_BYTES", 1_000)
    monkeypatch.setattr(file_contents, "MOST_OF_A_RUN", 2_500)
    artifacts = Artifacts.of(tmp_path, "r")
    secret = "A7h2bXq9TzW4mNs8"
    contents = FileContents(artifacts, Capture(secrets=Secrets.of({"OPENAI_API_KEY": secret})))
    data = bytes(range(256)) * 3
    envelope = _left(
        artifacts.folder,
        picture=data,
        large=b"x" * 1_001,
        key=b"\xff\xfe" + secret.encode(),
        other=data[::-1],
        third=data[1:],
        fourth=data[2:],
    )
    (artifacts.folder / "link").symlink_to("/etc/hostname")
    envelope["data"]["artifacts"].append({"path": "link", "bytes": 3, "sha256": "0" * 64})
    kept = contents.taken("t", envelope)
    assert [one.path for one in kept] == ["fourth", "other", "picture"], "in all no more than a run may keep"
    assert not any("/" in one.data for one in kept)
    files = [Artifact(row["path"], row["bytes"], row["sha256"], "t") for row in envelope["data"]["artifacts"][:2]]
    shutil.rmtree(artifacts.folder)
    assert contents.restore(files, lambda: kept) == ["large"]
    assert (artifacts.folder / "picture").read_bytes() == data
    damaged = [FileKept("t", "large", files[1].sha256, data="AAAA")]
    assert contents.restore(files, lambda: damaged) == ["large"]


async def test_missing_files_cause_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MOST_BYTES", 10)
    url, stop = url_of(tmp_path / "j.sqlite"), Stop()

    def seen(event: Event) -> None:
        if isinstance(event, TaskFinished):
            stop.set()

    async with machine(tmp_path / "a", url, ScriptedModel(replying)) as goalwright:
        begun = await goalwright.run("Report on May", record=seen, stop=stop)
    events = Recorder()
    async with machine(tmp_path / "b", url, ScriptedModel(replying)) as goalwright:
        await goalwright.resume(begun.run_id, record=events)
    assert "tables/report.md" in str(events.of(Warned)[0])
