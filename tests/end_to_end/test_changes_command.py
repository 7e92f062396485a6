"""Files that a run makes: artifacts beside the answer, and changes of the workspace, approved and undone."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.builtin.writing.changes import WorkspaceChanges
from goalwright_skills.builtin.writing.file_change import FileChange
from tests.nursery import Ran
from tests.openai_server import Call, OpenAIServer, Say, Script, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
Goalwright = Callable[..., Ran]
Serve = Callable[[Script], OpenAIServer]


def tool(task_id: str, name: str, *before: str, **arguments: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "tool", "name": name, "arguments": arguments, "depends_on": list(before)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.py").write_text("a = 1\nb = 2\n", encoding="utf-8")
    (folder / "README.md").write_text("# App\n", encoding="utf-8")
    return folder


def test_three_files_one_edited_twice_one_denied(
    project: Path, serve: Serve, goalwright: Goalwright, tmp_path: Path
) -> None:
    serve(scripted({}))
    rows = [
        tool("report", "WriteFile", path="report.md", content="# Report\n"),
        tool("new", "WriteFile", path="workspace:docs/new.md", content="new\n"),
        tool("first", "EditFile", path="workspace:src/app.py", old="a = 1", new="a = 10"),
        tool("second", "EditFile", "first", path="workspace:src/app.py", old="b = 2", new="b = 20"),
        tool("no", "WriteFile", path="workspace:README.md", content="gone\n"),
    ]
    (project / "plan.json").write_text(json.dumps({"tasks": rows}), encoding="utf-8")
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    ran = goalwright("run", "--plan", "plan.json", "--write", "--json", cwd=project, env=MODEL)
    assert ran.status == 6, ran.err
    document = json.loads(ran.out)
    waiting = {one["task"]: one for one in document["waiting"]}
    assert set(waiting) == {"new", "first", "no"}
    assert "-a = 1\n+a = 10\n" in waiting["first"]["preview"]
    assert (project / "src/app.py").read_text(encoding="utf-8") == "a = 1\nb = 2\n", "nothing before the answer"
    assert document["artifacts"] == [
        {"path": "report.md", "bytes": 9, "sha256": hashlib.sha256(b"# Report\n").hexdigest(), "task": "report"}
    ]
    answers = [
        "--approve",
        waiting["new"]["id"],
        "--approve",
        waiting["first"]["id"],
        "--deny",
        f"{waiting['no']['id']}=keep",
    ]
    ran = goalwright("resume", "last", "--json", *answers, cwd=project)
    assert ran.status == 6, "the second edit asks by itself"
    second = json.loads(ran.out)["waiting"][0]["id"]
    ran = goalwright("resume", "last", "--approve", second, "--json", "-o", "out/", cwd=project)
    assert (ran.status, json.loads(ran.out)["status"]) == (1, "partial"), ran.err
    assert (project / "src/app.py").read_text(encoding="utf-8") == "a = 10\nb = 20\n"
    assert sorted(one.name for one in (project / "out").iterdir()) == ["answer.md", "report.md"]
    shutil.rmtree(project / "out")
    (project / "plan.json").unlink()

    found = json.loads(goalwright("changes", "--json", cwd=project).out)
    assert [(one["path"], one["state"]) for one in found["files"]] == [
        ("README.md", "denied"), ("docs/new.md", "applied"), ("src/app.py", "applied"),
    ]  # fmt: skip
    assert found["files"][2]["sha256"] == hashlib.sha256(b"a = 10\nb = 20\n").hexdigest()
    patch = goalwright("changes", "last", cwd=project).out
    assert (patch, patch.count("src/app.py b/")) == (found["patch"], 1)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=copy, check=True)
    assert (copy / "src/app.py").read_text(encoding="utf-8") == "a = 10\nb = 20\n"
    assert (copy / "docs/new.md").read_text(encoding="utf-8") == "new\n"

    replayed = goalwright("replay", "last", "--strict", "--json", cwd=project)
    assert (json.loads(replayed.out)["drift"], json.loads(replayed.out)["artifacts"]) == ([], document["artifacts"])
    assert goalwright("changes", "--undo", cwd=project).status == 0
    assert (project / "src/app.py").read_text(encoding="utf-8") == "a = 1\nb = 2\n"
    assert not (project / "docs/new.md").exists()
    undone = json.loads(goalwright("changes", "--json", cwd=project).out)
    assert ({one["state"] for one in undone["files"]}, undone["patch"]) == ({"denied", "undone"}, "")


def test_a_tasks_files_are_named_below_its_result_and_read_by_the_next(
    project: Path, serve: Serve, goalwright: Goalwright
) -> None:
    plan = {
        "tasks": [
            {"id": "draft", "action_type": "llm", "instruction": "draft"},
            {"id": "check", "action_type": "llm", "instruction": "check", "depends_on": ["draft"]},
        ],
        "synthesis": "briefly",
    }

    def task(call: Call) -> Say:
        if not call.tool_results and instruction(call) == "draft":
            return Say(tool_calls=(("WriteFile", {"path": "d/draft.md", "content": "the draft"}),))
        if not call.tool_results:
            path = call.user.partition("ReadFile:\n- ")[2].partition("\n")[0]
            return Say(tool_calls=(("ReadFile", {"path": path}), ("ReadFile", {"path": "d/draft.md"})))
        return Say("; ".join(one["text"] for one in call.tool_results))

    server = serve(scripted(plan, task=task))
    ran = goalwright("run", "Draft it", "--json", cwd=project, env=MODEL)
    document = json.loads(ran.out)
    assert document["tasks"][1]["output"] == "the draft; the draft", "by its whole path and by its own"
    assert [one["task"] for one in document["artifacts"]] == ["draft"]
    assert "draft.md" not in server.asked("synthesis")[0].user.partition("</goal>")[0]
    replayed = goalwright("replay", "last", "--strict", "--json", cwd=project)
    assert (json.loads(replayed.out)["drift"], replayed.status) == ([], 0)
    listed = goalwright("resume", "last", cwd=project).err
    assert "d/draft.md  9 bytes" in listed


def test_without_write_the_workspace_is_not_changed(project: Path, goalwright: Goalwright) -> None:
    row = tool("no", "WriteFile", path="workspace:README.md", content="gone\n")
    (project / "plan.json").write_text(json.dumps({"tasks": [row]}), encoding="utf-8")
    (project / "goalwright.toml").write_text('workspace_writes = "allow"\n', encoding="utf-8")
    ran = goalwright("run", "--plan", "plan.json", "--json", cwd=project)
    assert (ran.status, "may not change files" in json.loads(ran.out)["error"]) == (1, True), ran.out
    assert "'workspace_writes' is ignored" in ran.err
    assert (project / "README.md").read_text(encoding="utf-8") == "# App\n"
    assert goalwright("changes", "--undo", cwd=project).status == 0


def test_undoing_takes_away_the_folders_that_were_made_and_no_others(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    (workspace / "there").mkdir(parents=True)
    changes = WorkspaceChanges(workspace, workspace / ".agents/runs/r1/changes")
    for number, path in enumerate(("new/deep/a.txt", "new/deep/b.txt", "there/c.txt", "there/more/d.txt")):
        data = f"{number}".encode()
        change = FileChange(f"k{number}", path, None, hashlib.sha256(data).hexdigest())
        changes.apply(changes.propose(change, None, data))
    assert (workspace / "there/more/d.txt").exists()

    assert changes.undo() == []

    assert sorted(path.name for path in workspace.iterdir()) == [".agents", "there"]
    assert list((workspace / "there").iterdir()) == []


def test_files_are_moved_and_deleted_with_approval_and_brought_back(
    project: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted({}))
    rows = [
        tool("move", "MoveFile", path="workspace:src/app.py", to="workspace:lib/app.py"),
        tool("delete", "DeleteFile", path="workspace:README.md"),
        tool("no", "DeleteFile", path="workspace:plan.json"),
        tool("outside", "DeleteFile", path="/etc/hosts"),
    ]
    (project / "plan.json").write_text(json.dumps({"tasks": rows}), encoding="utf-8")
    off = goalwright("run", "--plan", "plan.json", "--json", cwd=project, env=MODEL)
    assert (off.status, "MoveFile needs --write" in off.out) == (2, True), "it is not there without"
    ran = goalwright("run", "--plan", "plan.json", "--write", "--json", cwd=project, env=MODEL)
    assert ran.status == 6, ran.err
    waiting = {one["task"]: one for one in json.loads(ran.out)["waiting"]}
    assert set(waiting) == {"move", "delete", "no"}, "what is outside is refused before anybody is asked"
    assert "rename from src/app.py\nrename to lib/app.py" in waiting["move"]["preview"]
    assert "-# App\n" in waiting["delete"]["preview"]
    before = {path.name for path in project.rglob("*") if path.is_file()}
    replayed = goalwright("replay", "last", "--strict", "--json", cwd=project)
    assert (json.loads(replayed.out)["drift"], (project / "README.md").exists()) == ([], True)
    answers = ["--approve", waiting["move"]["id"], "--approve", waiting["delete"]["id"], "--deny", waiting["no"]["id"]]
    ran = goalwright("resume", "last", "--json", *answers, cwd=project)
    assert (ran.status, json.loads(ran.out)["status"]) == (1, "partial"), ran.err
    outside = next(one for one in json.loads(ran.out)["tasks"] if one["id"] == "outside")
    assert "outside the run's artifacts" in outside["error"]
    assert (project / "lib/app.py").read_text(encoding="utf-8") == "a = 1\nb = 2\n"
    assert not (project / "README.md").exists()

    found = json.loads(goalwright("changes", "--json", cwd=project).out)
    assert [(one["path"], one["action"], one["to"], one["state"]) for one in found["files"]] == [
        ("README.md", "delete", None, "applied"),
        ("plan.json", "delete", None, "denied"),
        ("src/app.py", "move", "lib/app.py", "applied"),
    ]
    assert found["files"][2]["sha256"] == hashlib.sha256(b"a = 1\nb = 2\n").hexdigest()
    shown = goalwright("changes", cwd=project)
    assert (shown.out, "src/app.py → lib/app.py" in shown.err, "README.md (deleted)" in shown.err) == (
        found["patch"], True, True,
    )  # fmt: skip
    replayed = goalwright("replay", "last", "--strict", "--json", cwd=project)
    assert json.loads(replayed.out)["drift"] == []
    assert goalwright("changes", "--undo", cwd=project).status == 0
    assert (project / "README.md").read_text(encoding="utf-8") == "# App\n"
    assert (project / "src/app.py").read_text(encoding="utf-8") == "a = 1\nb = 2\n"
    assert before <= {path.name for path in project.rglob("*") if path.is_file()}
    assert not (project / "lib").exists()
    replayed = goalwright("replay", "last", "--strict", "--json", cwd=project)
    assert (json.loads(replayed.out)["drift"], (project / "README.md").exists()) == ([], True)
    states = {one["state"] for one in json.loads(goalwright("changes", "--json", cwd=project).out)["files"]}
    assert states == {"denied", "undone"}
