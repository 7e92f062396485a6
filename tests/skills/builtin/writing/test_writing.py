"""WriteFile and EditFile, with hostile paths, links, races and kills."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.cli import request_text
from goalwright_executor.approvals.approvals import Approvals
from goalwright_executor.approvals.policy import ApprovalPolicy
from goalwright_executor.capture.capture import Capture
from goalwright_planner.approvals import Answer, ApprovalRequest
from goalwright_skills import safe_files
from goalwright_skills.builtin.writing.changes import sha256
from goalwright_skills.builtin.writing.write_file import EditFile, WriteFile
from goalwright_skills.builtin.writing.write_place import Claims, WritePlace
from goalwright_skills.tools.current_call import calling
from goalwright_skills.tools.disk_use import DiskLimits

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src/app.py").write_text("one\ntwo\ntwo\n")
    (tmp_path / "secret").write_text("SECRET")
    return work


def place(workspace: Path, **more: Any) -> WritePlace:
    return WritePlace(workspace, workspace / ".agents/runs/r1/artifacts", **{"writes": "allow", **more})


async def write(at: WritePlace, path: Any, content: Any = "new\n") -> Envelope:
    return await WriteFile(at).call({"path": path, "content": content})


async def edit(at: WritePlace, path: str, old: str, new: str, **more: Any) -> Envelope:
    return await EditFile(at).call({"path": path, "old": old, "new": new, **more})


def code(envelope: Envelope) -> str:
    assert envelope.error is not None, envelope.text
    return envelope.error.code


async def test_relative_path_writes_an_artifact(workspace: Path) -> None:
    at = place(workspace, writes="deny")
    done = await write(at, "notes/a.md", "héllo\n")
    file = at.artifacts / "notes/a.md"
    assert (done.status, file.read_text(encoding="utf-8")) == ("success", "héllo\n")
    assert done.data["artifacts"][0]["bytes"] == 7
    assert len(done.data["artifacts"][0]["sha256"]) == 64
    assert str(file) in done.text
    assert (await write(at, str(file), "again")).status == "success", "an absolute path inside"
    assert (await edit(at, "notes/a.md", "again", "changed")).status == "success"
    assert file.read_text() == "changed"


async def test_edit_of_a_workspace_file_suggests_the_right_call(workspace: Path) -> None:
    at = place(workspace)
    lost = await edit(at, "src/app.py", "one", "1")
    said = "src/app.py is not in the run's artifacts but in the workspace — edit workspace:src/app.py"
    assert (code(lost), lost.error and lost.error.message) == ("NOT_FOUND", said)
    kept = await edit(place(workspace, writes="deny"), "src/app.py", "one", "1")
    assert kept.error is not None
    assert "this run may not change (workspace_writes) — read it with ReadFile, and write" in kept.error.message
    (workspace / "link.txt").symlink_to(workspace.parent / "secret")
    (workspace / ".env").write_text("KEY=1")
    (workspace / "same.txt").hardlink_to(workspace / ".env")
    os.mkfifo(workspace / "pipe")
    for path in ("link.txt", "same.txt", "pipe", "src/none.py"):
        hidden = await edit(at, path, "a", "b")
        assert hidden.error is not None
        assert hidden.error.message == f"{path} does not exist — write it with WriteFile"


async def test_passage_must_occur_exactly_once(workspace: Path) -> None:
    at = place(workspace)
    twice = await edit(at, "workspace:src/app.py", "two", "2")
    assert (code(twice), "occurs 2 times" in twice.text) == ("CONFLICT", True)
    none = await edit(at, "workspace:src/app.py", "three", "3")
    assert (code(none), "occurs 0 times" in none.text) == ("CONFLICT", True)
    assert (await edit(at, "workspace:src/app.py", "two", "2", all=True)).status == "success"
    assert (workspace / "src/app.py").read_text() == "one\n2\n2\n"
    (workspace / "dos.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    assert (await edit(at, "workspace:dos.txt", "a\nb", "x\ny")).status == "success"
    assert (workspace / "dos.txt").read_bytes() == b"x\r\ny\r\nc\r\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "INVALID_PARAM"),
        (7, "INVALID_PARAM"),
        ("a\0b", "INVALID_PARAM"),
        ("../x", "ACCESS_DENIED"),
        ("a/../../x", "ACCESS_DENIED"),
        ("/etc/passwd", "ACCESS_DENIED"),
        ("/tmp/x", "ACCESS_DENIED"),
        ("workspace:../x", "ACCESS_DENIED"),
        ("workspace:/etc/passwd", "ACCESS_DENIED"),
        ("workspace:.git/hooks/post-checkout", "ACCESS_DENIED"),
        ("workspace:sub/.GIT/config", "ACCESS_DENIED"),
        ("workspace:.agents/skills/x/SKILL.md", "ACCESS_DENIED"),
        ("workspace:goalwright.toml", "ACCESS_DENIED"),
        ("workspace:.mcp.json", "ACCESS_DENIED"),
        ("workspace:.env.local", "ACCESS_DENIED"),
        ("workspace:id.pem", "ACCESS_DENIED"),
        ("workspace:.g\u200cit/config", "ACCESS_DENIED"),
        ("a\nb.md", "INVALID_PARAM"),
        ("\x1b[2Ja.md", "INVALID_PARAM"),
        ("workspace:gpj.\u202eexe", "INVALID_PARAM"),
        (".git/hooks/x", "ACCESS_DENIED"),
        ("workspace:src", "IS_DIRECTORY"),
        ("workspace:src/", "IS_DIRECTORY"),
        ("workspace:link/x", "ACCESS_DENIED"),
        ("workspace:file-link", "ACCESS_DENIED"),
        ("workspace:pipe", "ACCESS_DENIED"),
        ("workspace:src/app.py/x", "ACCESS_DENIED"),
        ("x" * 300, "EXECUTION_ERROR"),
    ],
)
async def test_forbidden_paths_are_refused(workspace: Path, path: Any, expected: str) -> None:
    (workspace / "link").symlink_to(workspace.parent)
    (workspace / "file-link").symlink_to(workspace.parent / "secret")
    os.mkfifo(workspace / "pipe")
    before = sorted(str(one) for one in workspace.parent.rglob("*") if ".agents" not in one.parts)
    refused = await write(place(workspace), path)
    assert code(refused) == expected
    assert "SECRET" not in refused.to_json()
    assert sorted(str(one) for one in workspace.parent.rglob("*") if ".agents" not in one.parts) == before
    assert (workspace.parent / "secret").read_text() == "SECRET"


async def test_links_in_artifacts_are_not_followed(workspace: Path) -> None:
    at = place(workspace)
    at.artifacts.mkdir(parents=True)
    (at.artifacts / "out").symlink_to(workspace.parent)
    (at.artifacts / "leak.md").symlink_to(workspace.parent / "secret")
    assert code(await write(at, "out/x")) == "ACCESS_DENIED"
    assert code(await edit(at, "leak.md", "SECRET", "x")) == "ACCESS_DENIED"
    assert code(await write(at, "leak.md")) == "ACCESS_DENIED"
    assert (workspace.parent / "secret").read_text() == "SECRET"


async def test_size_type_and_permission_checks(workspace: Path) -> None:
    at = place(workspace)
    assert code(await write(at, "big", "x" * (10 * 1024**2 + 1))) == "INVALID_PARAM"
    assert code(await write(at, "n", 7)) == "INVALID_PARAM"
    assert code(await WriteFile(at).call({"path": "n", "text": "x"})) == "INVALID_PARAM"
    (workspace / "data.bin").write_bytes(b"\xff\xfe\x00")
    assert code(await edit(at, "workspace:data.bin", "a", "b")) == "BINARY_FILE"
    assert code(await edit(at, "missing.md", "a", "b")) == "NOT_FOUND"
    off = place(workspace, writes="deny")
    assert code(await write(off, "workspace:src/app.py")) == "ACCESS_DENIED"
    assert WriteFile(off).effects({"path": "workspace:a", "content": ""}).reach == "nothing", "nobody is asked"
    assert WriteFile(at).effects({"path": "workspace:a", "content": ""}).reach == "workspace"
    assert WriteFile(at).effects({"path": "a", "content": ""}).reach == "artifacts"


async def test_change_is_applied_only_to_the_previewed_content(workspace: Path) -> None:
    at, file = place(workspace), workspace / "src/app.py"
    file.chmod(0o755)
    arguments = {"path": "workspace:src/app.py", "old": "one", "new": "1"}
    with calling("k#1"):
        shown = EditFile(at).preview(arguments)
        assert "--- a/src/app.py\n+++ b/src/app.py\n" in shown
        assert "-one\n+1\n" in shown
        file.write_text("one\nmeanwhile\n")
        late = await EditFile(at).call(arguments)
    assert (code(late), file.read_text()) == ("CONFLICT", "one\nmeanwhile\n")
    with calling("k#2"):
        assert EditFile(at).preview(arguments)
        assert (await EditFile(at).call(arguments)).status == "success"
        assert (await EditFile(at).call(arguments)).status == "success", "made again after a kill: it is done already"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("1\nmeanwhile\n", 0o755)
    fresh = {"path": "workspace:new.md", "content": "mine"}
    with calling("k#3"):
        assert "new file mode" in WriteFile(at).preview(fresh)
        (workspace / "new.md").write_text("theirs")
        assert code(await WriteFile(at).call(fresh)) == "CONFLICT"
    assert (workspace / "new.md").read_text() == "theirs"


async def test_control_characters_cannot_disguise_added_lines(workspace: Path) -> None:
    hidden = {"path": "workspace:a.py", "content": "x = 1\r import os\x1b[1A\n\u202ey\u2028z\n\tkept\r\n"}
    shown = WriteFile(place(workspace)).preview(hidden)
    assert "+x = 1\\r import os\\x1b[1A\n+\\u202ey\\u2028z\n+\tkept\r\n" in shown
    request = ApprovalRequest("k#1", "t", "tool", "WriteFile", hidden, "+a\r b\x0c c")
    assert [line for line in request_text.lines(request) if "b" in line and "c" in line] == ["    +a\r b\x0c c"]


async def test_concurrent_tasks_cannot_write_the_same_file(workspace: Path) -> None:
    claims = Claims()
    first, beside = place(workspace, task="a", claims=claims), place(workspace, task="b", claims=claims)
    after = place(workspace, task="c", claims=claims, before=lambda task: task == "a")
    assert (await write(first, "x.md", "a")).status == "success"
    assert code(await write(beside, "x.md", "b")) == "CONFLICT"
    assert "task 'a'" in (await write(beside, "./x.md", "b")).text
    assert (await write(after, "x.md", "c")).status == "success"
    assert code(await write(first, "x.md", "a")) == "CONFLICT"


@pytest.mark.parametrize("at_end", [False, True])
def test_killed_write_leaves_the_old_or_the_new_file(workspace: Path, at_end: bool) -> None:
    at, file = place(workspace), workspace / "src/app.py"
    arguments = {"path": "workspace:src/app.py", "content": "whole\n"}
    child = os.fork()
    if child == 0:  # dies between the check and the move, or right after the move

        def die(*given: Any, **more: Any) -> None:
            if at_end:
                move(*given, **more)
            os.kill(os.getpid(), signal.SIGKILL)

        move, safe_files._move = safe_files._move, die
        with calling("k#1"):
            WriteFile(at)._answer(arguments)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert file.read_text() == ("whole\n" if at_end else "one\ntwo\ntwo\n")
    assert sorted(one.name for one in (workspace / "src").iterdir()) == ["app.py"], "nothing lies beside it"
    assert [one.state for one in at.changes.every()] == ["applied" if at_end else "proposed"]
    with calling("k#1"):
        assert asyncio.run(WriteFile(at).call(arguments)).status == "success"
    assert file.read_text() == "whole\n"


async def test_artifact_edit_is_not_repeated_after_a_kill(workspace: Path) -> None:
    at = place(workspace)
    await write(at, "log.md", "x\n")
    for key in ("k#1", "k#1", "k#2"):
        with calling(key):
            assert (await edit(at, "log.md", "x\n", "x\nx\n", all=True)).status == "success"
    assert (at.artifacts / "log.md").read_text() == "x\n" * 4, "once for each call"


def test_patch_applies_with_git_and_undo_restores(workspace: Path, tmp_path: Path) -> None:
    names = ["src/app.py", "new/with space.md", 'ünï "q".txt', "no-newline.txt"]
    (workspace / "no-newline.txt").write_text("a\nb")
    original, copy = {name: _content(workspace / name) for name in names}, tmp_path / "copy"
    subprocess.run(["cp", "-r", workspace, copy], check=True)
    at = place(workspace)
    for number, (name, text) in enumerate(
        [(names[0], "one\n2\n"), (names[0], "one\n2\n3\n"), *((name, f"{name}\n\x0cx") for name in names[1:])]
    ):
        with calling(f"k#{number}"):
            assert asyncio.run(write(at, f"workspace:{name}", text)).status == "success"
    patch = at.changes.patch(at.changes.every())
    assert patch.count("diff --git") == 4
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=copy, check=True)
    assert {name: _content(copy / name) for name in names} == {name: _content(workspace / name) for name in names}
    (workspace / names[0]).write_text("changed since\n")
    assert at.changes.undo() == [names[0]]
    assert {name: _content(workspace / name) for name in names} == {**original, names[0]: "changed since\n"}
    assert {one.state for one in at.changes.every()} == {"applied", "undone"}


@pytest.mark.parametrize(
    "row",
    [
        {"path": ".git/config"},
        {"path": "../outside"},
        {"path": "/etc/hosts"},
        {"path": ".agents/skills/x/SKILL.md"},
        {"path": "src/app.py", "before": "../../../secret"},
        {"path": "src/app.py", "after": None},
        {"path": "src/app.py", "at": "x"},
        {"path": 7},
        {"other": 1},
    ],
)
async def test_forged_changes_in_a_checkout_are_not_undone(workspace: Path, row: dict[str, Any]) -> None:
    at, evil = place(workspace), b"[core]\n\tfsmonitor = evil\n"
    (workspace / ".git").mkdir()
    (workspace / ".git/config").write_text("[core]\n")
    now = sha256((workspace / ".git/config").read_bytes())
    contents = at.changes.folder / "contents"
    contents.mkdir(parents=True)
    for data in (evil, b"[core]\n"):
        (contents / sha256(data)).write_bytes(data)
    planted = {"key": "k", "path": "x", "before": sha256(evil), "after": now, "state": "applied", **row}
    (at.changes.folder / "k.json").write_text(json.dumps(planted))
    assert at.changes.undo() == []
    assert at.changes.every() == []
    assert (workspace / ".git/config").read_text() == "[core]\n"


async def test_forged_change_does_not_replace_the_requested_one(workspace: Path) -> None:
    at, call = place(workspace), {"path": "workspace:src/app.py", "content": "mine\n"}
    (workspace / "other.py").write_text("other\n")
    with calling("k#1"):
        WriteFile(at).preview(call)
        file = next(at.changes.folder.glob("*.json"))
        file.write_text(file.read_text().replace("src/app.py", "other.py"))
        assert "+mine" in WriteFile(at).preview(call)
        assert (await WriteFile(at).call(call)).status == "success"
    assert ((workspace / "src/app.py").read_text(), (workspace / "other.py").read_text()) == ("mine\n", "other\n")


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


async def test_invalid_write_is_refused_before_approval(workspace: Path) -> None:
    asked: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> Answer:
        asked.append(request)
        return Answer()

    async def settle() -> None:
        return None

    claims = Claims()
    claims.take("workspace:src/taken.py", "other")
    at = place(workspace, claims=claims, task="mine", writes="ask")
    approvals = Approvals(lambda _: None, settle, Capture(), ApprovalPolicy("all"), approve=approve)
    refused = {
        "workspace:src/app.py/below.txt": "INVALID_PARAM",
        "workspace:src/taken.py": "CONFLICT",
        "workspace:.git/config": "ACCESS_DENIED",
        "workspace:src": "IS_DIRECTORY",
    }
    for number, (path, expected) in enumerate(refused.items()):
        envelope = await approvals.call(WriteFile(at), "mine", {"path": path, "content": "x"}, f"k{number}#1")
        assert code(envelope) == expected, path
    old = {"path": "workspace:src/app.py", "old": "nowhere", "new": "x"}
    assert code(await approvals.call(EditFile(at), "mine", old, "k9#1")) == "CONFLICT"
    assert asked == []

    done = await approvals.call(WriteFile(at), "mine", {"path": "workspace:src/new.py", "content": "x"}, "k10#1")

    assert (done.status, len(asked)) == ("success", 1)


async def test_file_beyond_the_disk_limits_is_not_written(workspace: Path) -> None:
    at = place(workspace, disk=DiskLimits(megabytes=1, files=3))
    assert (await write(at, "a.txt", "x" * 900_000)).status == "success"

    refused = await write(at, "b.txt", "x" * 200_000)

    assert (code(refused), "more than 1 MB (`max_artifact_mb`)" in refused.text) == ("EXECUTION_ERROR", True)
    assert not (at.artifacts / "b.txt").exists()
    assert (await write(at, "a.txt", "x" * 950_000)).status == "success", "instead of what it was, it fits"
    assert code(await edit(at, "a.txt", "x" * 950_000, "y" * 1_100_000)) == "EXECUTION_ERROR"
    assert (await write(at, "a.txt", "short")).status == "success"
    assert (await write(at, "b.txt")).status == "success"
    assert (await write(at, "c.txt")).status == "success"
    refused = await write(at, "d.txt")
    assert (code(refused), "more than 3 files (`max_artifact_files`)" in refused.text) == ("EXECUTION_ERROR", True)
    assert WriteFile(at).refusal({"path": "d.txt", "content": "x"}) is not None, "nobody is asked to allow it"
    assert (await write(at, "workspace:d.txt")).status == "success", "the workspace has no such limit"
