"""Files that are too large to be copied are renamed instead, kept intact, and restored."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import threading
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.builtin.writing import remove_file
from goalwright_skills.builtin.writing.remove_file import DeleteFile, MoveFile
from goalwright_skills.builtin.writing.targets import LARGEST, SIZE_LIMIT
from goalwright_skills.builtin.writing.write_file import WriteFile
from goalwright_skills.tools.current_call import calling
from tests.skills.builtin.writing.test_moving import code, delete, move, place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ONE, TWO = (random.Random(seed).randbytes(SIZE_LIMIT + seed) for seed in (1, 2))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "one.bin").write_bytes(ONE)
    (work / "one.bin").chmod(0o750)
    (work / "two.bin").write_bytes(TWO)
    return work


def tree(workspace: Path) -> dict[str, tuple[int, int, int]]:
    """Return inode, size and permissions of every file except goalwright's own."""
    found = (path for path in workspace.rglob("*") if path.is_file() and ".agents" not in path.parts)
    stats = ((str(path.relative_to(workspace)), path.stat()) for path in found)
    return {name: (one.st_ino, one.st_size, one.st_mode & 0o777) for name, one in stats}


async def test_deleted_large_file_is_kept_and_restored(workspace: Path) -> None:
    at, before = place(workspace), tree(workspace)
    tracemalloc.start()
    assert (await delete(at, "workspace:one.bin")).text == "deleted one.bin in the workspace"
    assert tracemalloc.get_traced_memory()[1] < SIZE_LIMIT / 2, "it is read in parts"
    tracemalloc.stop()
    assert tree(workspace) == {"two.bin": before["two.bin"]}
    (kept,) = (at.changes.folder / "contents").iterdir()
    assert kept.stat().st_ino == before["one.bin"][0], "and not copied"
    assert at.changes.undo() == []
    assert (tree(workspace), (workspace / "one.bin").read_bytes()) == (before, ONE)
    assert list((at.changes.folder / "contents").iterdir()) == []


async def test_moved_large_file_keeps_its_inode_and_moves_back(workspace: Path) -> None:
    at, before = place(workspace), tree(workspace)
    assert (await move(at, "workspace:one.bin", "workspace:deep/er/one.bin")).status == "success"
    assert tree(workspace) == {"deep/er/one.bin": before["one.bin"], "two.bin": before["two.bin"]}
    assert at.changes.undo() == []
    assert tree(workspace) == before
    assert not (workspace / "deep").exists()


async def test_swapped_or_overwritten_large_files_are_restored(workspace: Path) -> None:
    at, before = place(workspace), tree(workspace)
    for path, to in (("one.bin", "t"), ("two.bin", "one.bin"), ("t", "two.bin")):
        assert (await move(at, f"workspace:{path}", f"workspace:{to}")).status == "success"
    assert tree(workspace)["one.bin"] == before["two.bin"]
    assert at.changes.undo() == []
    assert tree(workspace) == before
    assert (await delete(at, "workspace:one.bin", "again#1")).status == "success"
    assert (await WriteFile(at).call({"path": "workspace:one.bin", "content": "small"})).status == "success"
    assert (await move(at, "workspace:two.bin", "workspace:three.bin")).status == "success"
    assert (await delete(at, "workspace:three.bin")).status == "success"
    assert at.changes.undo() == []
    assert tree(workspace) == before


async def test_large_files_with_equal_content_stay_separate(workspace: Path) -> None:
    (workspace / "two.bin").write_bytes(ONE)
    at, before = place(workspace), tree(workspace)
    await delete(at, "workspace:one.bin")
    await delete(at, "workspace:two.bin")
    assert tree(workspace) == {}
    assert at.changes.undo() == []
    assert {name: one[1] for name, one in tree(workspace).items()} == {name: one[1] for name, one in before.items()}
    assert {one[0] for one in tree(workspace).values()} == {one[0] for one in before.values()}


async def test_changed_large_file_or_taken_path_is_a_conflict(workspace: Path) -> None:
    at = place(workspace)
    calls: dict[str, tuple[Any, dict[str, str], str, str]] = {
        "k#1": (DeleteFile(at), {"path": "workspace:one.bin"}, "one.bin", "delete one.bin, which has 10,485,761 bytes"),
        "k#2": (MoveFile(at), {"path": "workspace:two.bin", "to": "workspace:new.bin"}, "new.bin", "rename to new.bin"),
        "k#3": (MoveFile(at), {"path": "workspace:two.bin", "to": "workspace:other.bin"}, "two.bin", "rename from two"),
    }
    for key, (tool, arguments, changed, shown) in calls.items():
        with calling(key):
            assert shown in tool.preview(arguments)
            with (workspace / changed).open("ab") as file:
                file.write(b"meanwhile")
            before = tree(workspace)
            assert code(await tool.call(arguments)) == "CONFLICT", key
        assert tree(workspace) == before
    (workspace / "one.bin").unlink()
    with calling("k#4"):
        assert "rename to" in MoveFile(at).preview({"path": "workspace:two.bin", "to": "workspace:gone.bin"})
        (workspace / "two.bin").unlink()
        refused = await MoveFile(at).call({"path": "workspace:two.bin", "to": "workspace:gone.bin"})
    assert (code(refused), list(tree(workspace))) == ("CONFLICT", ["new.bin"])
    assert at.changes.undo() == []


async def test_too_large_file_is_refused_before_approval(workspace: Path) -> None:
    with (workspace / "huge.bin").open("wb") as file:
        file.truncate(LARGEST + 1)
    at, before = place(workspace), tree(workspace)
    refused = DeleteFile(at).refusal({"path": "workspace:huge.bin"})
    assert refused is not None
    assert "has more than 10 GB" in refused.text
    assert DeleteFile(at).effects({"path": "workspace:huge.bin"}).reach == "nothing"
    assert code(await move(at, "workspace:huge.bin", "workspace:x.bin")) == "INVALID_PARAM"
    assert tree(workspace) == before


async def test_damaged_large_file_is_not_restored(workspace: Path) -> None:
    os.link(workspace / "one.bin", workspace / "other-name.bin")
    at = place(workspace)
    await delete(at, "workspace:one.bin")
    await WriteFile(at).call({"path": "workspace:one.bin", "content": "small"})
    with (workspace / "other-name.bin").open("r+b") as file:
        file.write(b"changed")
    before = tree(workspace)
    assert at.changes.undo() == ["one.bin"]
    assert (tree(workspace), (workspace / "one.bin").read_text()) == (before, "small"), "nothing is touched"


def test_patch_lists_omitted_files_and_applies_with_git(workspace: Path, tmp_path: Path) -> None:
    (workspace / "a.md").write_text("a\n")
    subprocess.run(["cp", "-a", workspace, tmp_path / "copy"], check=True)
    at = place(workspace)

    async def changes() -> None:
        await delete(at, "workspace:a.md")
        await delete(at, "workspace:one.bin")
        await move(at, "workspace:two.bin", "workspace:moved.bin")

    asyncio.run(changes())
    patch = at.changes.patch(at.changes.every())
    assert "# not in this patch: one.bin, 10,485,761 bytes\n" in patch
    assert len(patch) < 1000
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path / "copy", check=True)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir() if path.name != ".agents") == [
        "moved.bin",
        "one.bin",
    ]


async def test_growing_large_file_is_a_conflict(workspace: Path) -> None:
    at, stop = place(workspace), threading.Event()

    def grow() -> None:
        with (workspace / "one.bin").open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"x" * 4096)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        assert code(await delete(at, "workspace:one.bin")) == "CONFLICT"
    finally:
        stop.set()
        thread.join()
    assert (workspace / "one.bin").stat().st_size > len(ONE)


def killed_at(step: str, number: int, act: Callable[[], object]) -> bool:
    """Run an action in a child that is killed at the given call of an `os` function; False if it completes."""
    child = os.fork()
    if child == 0:
        original, calls = getattr(os, step), []

        def die(*given: Any, **more: Any) -> Any:
            calls.append(step)
            if len(calls) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*given, **more)

        setattr(os, step, die)
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("step", ["link", "unlink"])
@pytest.mark.parametrize("tool", [DeleteFile, MoveFile])
def test_killed_removal_of_a_large_file_loses_nothing(workspace: Path, step: str, tool: type[DeleteFile]) -> None:
    at, before = place(workspace), tree(workspace)
    arguments = {"path": "workspace:one.bin"} | ({"to": "workspace:to.bin"} if tool is MoveFile else {})

    def act() -> None:
        with calling("k#1"):
            tool(at)._answer(arguments)

    assert killed_at(step, 1, act)
    everywhere = {path.stat().st_ino for path in workspace.rglob("*") if path.is_file()}
    assert before["one.bin"][0] in everywhere
    with calling("k#1"):
        assert asyncio.run(tool(at).call(arguments)).status == "success"
    gone = {"two.bin": before["two.bin"]}
    assert tree(workspace) == (gone | {"to.bin": before["one.bin"]} if tool is MoveFile else gone)
    assert at.changes.undo() == []
    assert tree(workspace) == before


def test_next_undo_completes_a_killed_undo(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remove_file, "SIZE_LIMIT", 10_000)  # every step reads the files again
    for name in ("one.bin", "two.bin"):
        os.truncate(workspace / name, 10_001)
    at, before = place(workspace), tree(workspace)

    async def changes(number: int) -> None:
        for path, to in (("one.bin", "t"), ("two.bin", "one.bin"), ("t", "two.bin")):
            assert (await move(at, f"workspace:{path}", f"workspace:{to}", f"{number} {path}#1")).status == "success"

    for number in range(1, 20):
        for step in ("link", "unlink"):
            asyncio.run(changes(number * 2 + (step == "link")))
            killed = killed_at(step, number, at.changes.undo)
            assert at.changes.undo() == [], (step, number)
            assert tree(workspace) == before, (step, number)
        if not killed:
            break
    assert number > 3
