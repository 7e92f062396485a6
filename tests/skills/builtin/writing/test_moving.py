"""DeleteFile and MoveFile: changes and undo, with links, races and kills."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_executor.approvals.approvals import Approvals
from goalwright_executor.approvals.policy import ApprovalPolicy
from goalwright_executor.capture.capture import Capture
from goalwright_planner.approvals import Answer, ApprovalRequest
from goalwright_skills import safe_files
from goalwright_skills.builtin.writing.changes import sha256
from goalwright_skills.builtin.writing.remove_file import DeleteFile, MoveFile
from goalwright_skills.builtin.writing.write_file import WriteFile
from goalwright_skills.builtin.writing.write_place import Claims, WritePlace
from goalwright_skills.tools.current_call import calling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope

BINARY = b"\x89PNG\xff\x00"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src/app.py").write_text("one\ntwo\n")
    (work / "src/app.py").chmod(0o755)
    (work / "a.md").write_text("a\n")
    (work / "b.md").write_text("b\n")
    (work / "pic.png").write_bytes(BINARY)
    (work / "link").symlink_to(tmp_path)
    (work / "file-link").symlink_to(tmp_path / "secret")
    (work / "inside-link").symlink_to("a.md")
    (tmp_path / "secret").write_text("SECRET")
    return work


def place(workspace: Path, **more: Any) -> WritePlace:
    return WritePlace(workspace, workspace / ".agents/runs/r1/artifacts", **{"writes": "allow", **more})


def code(envelope: Envelope) -> str:
    assert envelope.error is not None, envelope.text
    return envelope.error.code


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return content and permissions of every regular file of a folder except goalwright's own."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    shown = (path for path in found if ".agents" not in path.parts)
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in shown}


async def delete(at: WritePlace, path: Any, key: str = "") -> Envelope:
    with calling(key or f"delete {path}#1"):
        return await DeleteFile(at).call({"path": path})


async def move(at: WritePlace, path: Any, to: Any, key: str = "") -> Envelope:
    with calling(key or f"move {path} {to}#1"):
        return await MoveFile(at).call({"path": path, "to": to})


REFUSED = [
    (7, "INVALID_PARAM"),
    ("a.md", "INVALID_PARAM"),
    ("/etc/passwd", "ACCESS_DENIED"),
    ("workspace:../secret", "ACCESS_DENIED"),
    ("workspace:/etc/passwd", "ACCESS_DENIED"),
    ("workspace:link/secret", "ACCESS_DENIED"),
    ("workspace:link", "ACCESS_DENIED"),
    ("workspace:file-link", "ACCESS_DENIED"),
    ("workspace:inside-link", "ACCESS_DENIED"),
    ("workspace:.git/config", "ACCESS_DENIED"),
    ("workspace:.agents/journal.sqlite", "ACCESS_DENIED"),
    ("workspace:goalwright.toml", "ACCESS_DENIED"),
    ("workspace:.env", "ACCESS_DENIED"),
    ("workspace:src", "IS_DIRECTORY"),
    ("workspace:src/", "IS_DIRECTORY"),
    ("workspace:", "IS_DIRECTORY"),
    ("workspace:none.md", "NOT_FOUND"),
    ("workspace:nowhere/none.md", "NOT_FOUND"),
    ("workspace:a.md/x", "INVALID_PARAM"),
]


@pytest.mark.parametrize(("path", "expected"), REFUSED)
async def test_paths_outside_the_workspace_are_refused_before_approval(
    workspace: Path, path: Any, expected: str
) -> None:
    asked: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> Answer:
        asked.append(request)
        return Answer()

    async def settle() -> None:
        return None

    for name in (".git/config", ".agents/journal.sqlite", "goalwright.toml", ".env"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("mine")
    before, at = files(workspace.parent), place(workspace, writes="ask")
    approvals = Approvals(lambda _: None, settle, Capture(), ApprovalPolicy("all"), approve=approve)
    calls = [
        (DeleteFile(at), {"path": path}),
        (MoveFile(at), {"path": path, "to": "workspace:new/place.md"}),
        (MoveFile(at), {"path": "workspace:a.md", "to": path}),
    ]
    for number, (tool, arguments) in enumerate(calls if expected != "NOT_FOUND" else calls[:2]):
        envelope = await approvals.call(tool, "t", arguments, f"k{number}#1")
        links = expected == "ACCESS_DENIED" and path in ("workspace:file-link", "workspace:inside-link")
        assert code(envelope) == expected or (links and code(envelope) == "CONFLICT"), (path, envelope.text)
        assert "SECRET" not in envelope.to_json()
    assert (asked, files(workspace.parent)) == ([], before)
    assert not (workspace / "new").exists()


async def test_move_to_an_existing_path_is_a_conflict(workspace: Path) -> None:
    before, at = files(workspace), place(workspace)
    for to in ("workspace:b.md", "workspace:a.md", "workspace:inside-link"):
        assert code(await move(at, "workspace:a.md", to)) in ("CONFLICT", "ACCESS_DENIED")
    assert code(await move(at, "workspace:a.md", "workspace:src")) == "IS_DIRECTORY"
    assert files(workspace) == before


async def test_nothing_is_removed_without_permission_to_write(workspace: Path) -> None:
    before, at = files(workspace), place(workspace, writes="deny")
    refused = await delete(at, "workspace:a.md")
    assert (code(refused), "may not change" in refused.text) == ("ACCESS_DENIED", True)
    assert code(await move(at, "workspace:a.md", "workspace:c.md")) == "ACCESS_DENIED"
    assert DeleteFile(at).effects({"path": "workspace:a.md"}).reach == "nothing", "nobody is asked"
    assert DeleteFile(place(workspace)).effects({"path": "workspace:a.md"}).reach == "workspace"
    assert code(await DeleteFile(place(workspace)).call({"path": "workspace:a.md", "to": "x"})) == "INVALID_PARAM"
    assert files(workspace) == before


async def test_undo_restores_deleted_and_moved_files(workspace: Path) -> None:
    before, at = files(workspace), place(workspace)
    assert (await delete(at, "workspace:src/app.py")).text == "deleted src/app.py in the workspace"
    assert at.changes.undo() == []
    assert files(workspace) == before, "with its permissions"
    assert (await move(at, "workspace:src/app.py", "workspace:deep/er/main.py")).status == "success"
    assert files(workspace)["deep/er/main.py"] == before["src/app.py"]
    assert at.changes.undo() == []
    assert files(workspace) == before
    assert not (workspace / "deep").exists(), "and the folders that were made for it are gone"
    assert (await delete(at, "workspace:pic.png")).status == "success"
    assert at.changes.undo() == []
    assert (files(workspace), {one.state for one in at.changes.every()}) == (before, {"undone"})


async def test_chained_moves_are_undone_together(workspace: Path) -> None:
    before, at = files(workspace), place(workspace)
    for path, to in (("a.md", "t.md"), ("b.md", "a.md"), ("t.md", "b.md")):
        assert (await move(at, f"workspace:{path}", f"workspace:{to}")).status == "success"
    assert (workspace / "a.md").read_text() == "b\n"
    assert not (workspace / "t.md").exists()
    (workspace / "b.md").write_text("changed since\n")
    assert at.changes.undo() == ["a.md", "b.md", "t.md"], "what hangs together is left together"
    assert (workspace / "a.md").read_text() == "b\n"
    (workspace / "b.md").write_text("a\n")
    assert at.changes.undo() == []
    assert files(workspace) == before


async def test_recreated_file_is_not_overwritten_by_undo(workspace: Path) -> None:
    at = place(workspace)
    await delete(at, "workspace:a.md")
    await delete(at, "workspace:b.md")
    (workspace / "a.md").write_text("another\n")
    assert at.changes.undo() == ["a.md"]
    assert ((workspace / "a.md").read_text(), (workspace / "b.md").read_text()) == ("another\n", "b\n")
    (workspace / "a.md").unlink()
    assert at.changes.undo() == []
    assert (workspace / "a.md").read_text() == "a\n"


async def test_files_changed_since_the_preview_stay(workspace: Path) -> None:
    at, seen = place(workspace), {}
    calls: dict[str, tuple[Any, dict[str, str], str, str]] = {
        "k#1": (DeleteFile(at), {"path": "workspace:a.md"}, "a.md", "meanwhile\n"),
        "k#2": (MoveFile(at), {"path": "workspace:b.md", "to": "workspace:c.md"}, "c.md", "theirs\n"),
        "k#3": (MoveFile(at), {"path": "workspace:src/app.py", "to": "workspace:d.py"}, "src/app.py", "meanwhile\n"),
    }
    for key, (tool, arguments, changed, text) in calls.items():
        with calling(key):
            seen[key] = tool.preview(arguments)
            (workspace / changed).write_text(text)
            assert code(await tool.call(arguments)) == "CONFLICT", key
        assert (workspace / changed).read_text() == text
    assert "-a\n" in seen["k#1"]
    assert "rename from b.md\nrename to c.md\n" in seen["k#2"]
    assert (workspace / "b.md").read_text() == "b\n"
    assert not (workspace / "d.py").exists(), "no copy is left where it was to go"
    assert {one.state for one in at.changes.every()} == {"conflict"}
    assert at.changes.undo() == []


async def test_binary_file_is_previewed_by_size(workspace: Path) -> None:
    with calling("k#1"):
        shown = DeleteFile(place(workspace)).preview({"path": "workspace:pic.png"})
    assert shown == f"delete pic.png, which is not text and has {len(BINARY)} bytes"


async def test_concurrent_tasks_cannot_remove_the_same_file(workspace: Path) -> None:
    claims = Claims()
    first, beside = place(workspace, task="a", claims=claims), place(workspace, task="b", claims=claims)
    assert (await move(first, "workspace:a.md", "workspace:c.md")).status == "success"
    for refused in (
        await delete(beside, "workspace:c.md"),
        await move(beside, "workspace:b.md", "workspace:a.md"),
        await WriteFile(beside).call({"path": "workspace:a.md", "content": "new"}),
    ):
        assert (code(refused), "task 'a'" in refused.text) == ("CONFLICT", True)


def test_patch_of_moves_and_deletions_applies_with_git(workspace: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", workspace, copy], check=True)
    at = place(workspace)

    async def changes() -> None:
        await move(at, "workspace:src/app.py", "workspace:ünï/main.py")
        await move(at, "workspace:ünï/main.py", "workspace:bin/main.py")
        await move(at, "workspace:a.md", "workspace:c.md")
        await WriteFile(at).call({"path": "workspace:c.md", "content": "changed\n"})
        await delete(at, "workspace:b.md")
        await delete(at, "workspace:pic.png")
        await WriteFile(at).call({"path": "workspace:short-lived", "content": "x"})
        await delete(at, "workspace:short-lived")
        for name in ("made", "made-and-gone"):
            await WriteFile(at).call({"path": f"workspace:{name}", "content": "x"})
            await move(at, f"workspace:{name}", f"workspace:{name}.txt")
        await delete(at, "workspace:made-and-gone.txt")

    asyncio.run(changes())
    patch = at.changes.patch(at.changes.every())
    assert "rename from src/app.py\nrename to bin/main.py\n" in patch
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=copy, check=True)
    assert files(copy) == files(workspace)
    assert at.changes.undo() == []


def _die_in(child: Callable[[], None]) -> None:
    forked = os.fork()
    if forked == 0:
        child()
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("step", ["_move", "remove_if"])
@pytest.mark.parametrize("at_end", [False, True])
def test_killed_move_loses_nothing_and_resume_completes_it(workspace: Path, step: str, at_end: bool) -> None:
    at, before = place(workspace), files(workspace)
    arguments = {"path": "workspace:src/app.py", "to": "workspace:main.py"}

    def child() -> None:
        act = getattr(safe_files, step)

        def die(*given: Any, **more: Any) -> None:
            if at_end:
                act(*given, **more)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(safe_files, step, die)
        with calling("k#1"):
            MoveFile(at)._answer(arguments)

    _die_in(child)
    left = files(workspace)
    assert before["src/app.py"] in (left.get("src/app.py"), left.get("main.py"))
    with calling("k#1"):
        assert MoveFile(at).refusal(arguments) is None, "it may go on"
        assert asyncio.run(MoveFile(at).call(arguments)).status == "success"
    expected = dict(before)
    expected["main.py"] = expected.pop("src/app.py")
    assert files(workspace) == expected
    assert at.changes.undo() == []
    assert files(workspace) == before


@pytest.mark.parametrize("at_end", [False, True])
def test_killed_deletion_is_detected_afterwards(workspace: Path, at_end: bool) -> None:
    at, before = place(workspace), files(workspace)

    def child() -> None:
        remove = safe_files.remove_if

        def die(*given: Any, **more: Any) -> None:
            if at_end:
                remove(*given, **more)
            os.kill(os.getpid(), signal.SIGKILL)

        safe_files.remove_if = die
        with calling("k#1"):
            DeleteFile(at)._answer({"path": "workspace:a.md"})

    _die_in(child)
    assert [one.state for one in at.changes.every()] == ["applied" if at_end else "proposed"]
    with calling("k#1"):
        assert asyncio.run(DeleteFile(at).call({"path": "workspace:a.md"})).status == "success"
    assert "a.md" not in files(workspace)
    assert at.changes.undo() == []
    assert files(workspace) == before


async def test_undo_does_not_restore_a_file_deleted_by_the_user(workspace: Path) -> None:
    at = place(workspace, writes="ask")
    with calling("k#1"):
        assert DeleteFile(at).preview({"path": "workspace:a.md"})
    (workspace / "a.md").unlink()
    assert at.changes.undo() == []
    assert not (workspace / "a.md").exists()


@pytest.mark.parametrize(
    "row",
    [
        {"action": "delete", "path": ".git/config", "after": None},
        {"action": "delete", "path": "artifacts:../../x", "after": None},
        {"action": "move", "path": "a.md", "to": ".git/config"},
        {"action": "move", "path": "a.md", "to": "../outside"},
        {"action": "move", "path": "a.md", "to": 7},
        {"action": "move", "path": "a.md", "to": None},
        {"action": "run", "path": "a.md"},
        {"action": "delete", "path": "a.md", "after": None, "mode": 0o4755},
        {"action": "delete", "path": "a.md", "after": None, "folders": "x"},
    ],
)
async def test_forged_changes_in_a_checkout_are_not_undone(workspace: Path, row: dict[str, Any]) -> None:
    at, data = place(workspace), b"a\n"
    contents = at.changes.folder / "contents"
    contents.mkdir(parents=True)
    (contents / sha256(data)).write_bytes(data)
    (workspace / "a.md").unlink()
    before = files(workspace.parent)
    planted = {"key": "k", "before": sha256(data), "after": sha256(data), "state": "applied", **row}
    (at.changes.folder / "k.json").write_text(json.dumps(planted))
    assert (at.changes.every(), at.changes.undo()) == ([], [])
    assert files(workspace.parent) == before
