"""Locks on files: exclusive between processes and within one, and free again when the holder dies."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from goalwright_skills import file_lock

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, time
from pathlib import Path
from goalwright_skills import file_lock
with file_lock.hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def is_free(path: Path) -> bool:
    with path.open("a") as file:
        return file_lock.try_lock(file.fileno())


def test_a_held_lock_is_refused_and_free_again_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "a.lock"
    with file_lock.hold(path):
        assert not is_free(path)
    assert is_free(path)
    assert path.exists(), "two processes could otherwise lock two files of one name"


def test_a_lock_is_released_when_its_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert not is_free(path)
    holder.kill()
    holder.communicate()
    assert is_free(path)


def test_waiting_for_a_lock_is_announced_once(tmp_path: Path) -> None:
    path, announced = tmp_path / "a.lock", threading.Event()
    calls: list[str] = []
    acquired: list[bool] = []

    def wait() -> None:
        def announce() -> None:
            calls.append("waiting")
            announced.set()

        with file_lock.hold(path, announce):
            acquired.append(True)

    with file_lock.hold(path):
        waiter = threading.Thread(target=wait)
        waiter.start()
        assert announced.wait(60)
        assert acquired == []
    waiter.join(60)
    assert (calls, acquired) == (["waiting"], [True])


async def test_tasks_of_one_process_take_turns_without_blocking_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    inside = peak = 0

    async def work() -> None:
        nonlocal inside, peak
        async with file_lock.hold_async(path):
            inside += 1
            peak = max(peak, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    async with asyncio.timeout(60):
        await asyncio.gather(*(work() for _ in range(3)))
    assert peak == 1
