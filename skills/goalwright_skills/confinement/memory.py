"""A limit on the memory of a whole call, where no control group sets one: a thread that looks at its processes.

The kernel's own limit per process does not count shared memory, which no process owns. So that is counted by what is
open or mapped, each once: how much of it is in one process's page table says little, since a page can be dropped there
and stay in memory.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from goalwright_skills.confinement.box import ResourceLimits
    from goalwright_skills.confinement.cgroup import Group

OFTEN, SELDOM = 0.05, 0.2
PAGE = 1024
# How often a call that seems to use too much is measured again, as long as its processes change meanwhile.
_LOOKS = 3
_FIELDS = re.compile(r"^(?:RssAnon|VmSwap|HugetlbPages):\s+(\d+)", re.MULTILINE)
_SHARED = re.compile(r"^(\w+)-(\w+) ...s (\w+) (00:\w+) (\d+) +(/dev/zero|/memfd:|/SYSV|/dev/shm/|/ )", re.MULTILINE)
_EXACT = re.compile(r"^(?:Pss_Anon|SwapPss):\s+(\d+)", re.MULTILINE)
_IN_FLIGHT = re.compile(r"^scm_fds:\s+(\d+)", re.MULTILINE)


@dataclass(slots=True, eq=False)
class Watch:
    """A call under watch; `exceeded` says whether it used too much and was ended."""

    process: int
    limit: int
    file_size: int
    gentle: bool
    exceeded: bool = False
    handle: int = -1
    due: float = 0.0

    def measure(self) -> int:
        """Measure the call, and say when to look again."""
        used = measure(self.process, self.limit, self.file_size)
        for _ in range(_LOOKS):
            if used <= self.limit:
                break
            # Pages of processes that began or ended meanwhile may have been counted with those that share them.
            before = _tree(str(self.process))
            used = min(used, measure(self.process, self.limit, self.file_size))
            if _tree(str(self.process)) == before:
                break
        self.due = time.monotonic() + (OFTEN if used > self.limit // 2 else SELDOM)
        return used

    def end(self) -> None:
        """End the call."""
        self.exceeded = True
        number = signal.SIGTERM if self.gentle else signal.SIGKILL
        with contextlib.suppress(OSError):
            if self.handle >= 0:
                signal.pidfd_send_signal(self.handle, number)
            else:
                os.kill(self.process, number)


@dataclass(slots=True)
class Watchers:
    """The calls under watch in this process, and the thread that looks at them while there are any."""

    calls: list[Watch] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    thread: threading.Thread | None = None

    @contextlib.contextmanager
    def watching(self, watch: Watch) -> Iterator[Callable[[], bool]]:
        """Watch a call while the body runs; its process is not mistaken for a later one of the same number.

        Gives a function that says whether the call used too much.
        """
        with contextlib.suppress(OSError, AttributeError):
            watch.handle = os.pidfd_open(watch.process)
        watch.due = time.monotonic() + SELDOM
        with self.changed:
            self.calls.append(watch)
            if self.thread is None:
                self.thread = threading.Thread(target=self._look, name="goalwright-memory", daemon=True)
                self.thread.start()
        try:
            yield lambda: watch.exceeded
        finally:
            with self.changed:
                self.calls.remove(watch)
                if watch.handle >= 0:
                    os.close(watch.handle)
                    watch.handle = -1

    def _look(self) -> None:
        while True:
            with self.changed:
                if not self.calls:
                    self.thread = None
                    return
                now = time.monotonic()
                due = [call for call in self.calls if call.due <= now and not call.exceeded]
                pause = min(call.due for call in self.calls) - now
            for call in due:
                used = call.measure()
                with self.changed:  # not while the call is being taken off
                    if used > call.limit and call in self.calls:
                        call.end()
            if not due:
                time.sleep(max(0.01, min(pause, SELDOM)))


def watched(
    group: Group | None, limits: ResourceLimits, watchers: Watchers, *, gentle: bool
) -> Callable[[int], AbstractContextManager[Callable[[], bool]]]:
    """How a call's memory is watched: by the kernel if its group counts it, else by us."""
    if group is not None and group.memory is not None:
        return group.watching
    return lambda process: watchers.watching(Watch(process, limits.memory, limits.file_size, gentle))


def measure(process: int, limit: int, file_size: int) -> int:
    """The bytes that a process and its descendants use; exact only where a first estimate is over the limit."""
    numbers = _tree(str(process))
    shared: dict[tuple[str, str], int] = {}
    pending = sum(_shared(number, shared) for number in numbers)
    total = sum(shared.values()) + pending * file_size
    estimate = sum(map(_private, numbers))
    if total + estimate <= limit:
        return total + estimate
    # Processes that were forked share pages, which the estimate counts for each of them.
    for number in numbers:
        exact = _EXACT.findall(_read(f"/proc/{number}/smaps_rollup"))
        total += sum(map(int, exact)) * PAGE if exact else _private(number)
    return total


def _private(number: str) -> int:
    return sum(map(int, _FIELDS.findall(_read(f"/proc/{number}/status")))) * PAGE


def _shared(number: str, found: dict[tuple[str, str], int]) -> int:
    """Add the shared memory that a process has mapped or open; returns how many files it has on their way to others."""
    mapped: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for start, end, offset, device, inode, _ in _SHARED.findall(_read(f"/proc/{number}/maps")):
        mapped.setdefault((device, inode), set()).add((offset, int(end, 16) - int(start, 16)))
    for key, ranges in mapped.items():
        found[key] = max(found.get(key, 0), sum(size for _, size in ranges))
    pending = 0
    folder = f"/proc/{number}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208
            with contextlib.suppress(OSError):
                target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
                if target.startswith("/memfd:"):
                    held = os.stat(f"{folder}/{name}")  # noqa: PTH116
                    device = f"{os.major(held.st_dev):02x}:{os.minor(held.st_dev):02x}"
                    found[device, str(held.st_ino)] = held.st_blocks * 512
                elif target.startswith("socket:"):
                    pending += sum(map(int, _IN_FLIGHT.findall(_read(f"/proc/{number}/fdinfo/{name}"))))
    return pending


def _tree(process: str) -> list[str]:
    """A process and its descendants."""
    found, waiting = [], [process]
    while waiting:
        number = waiting.pop()
        found.append(number)
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{number}/task"):  # noqa: PTH208
                waiting += _read(f"/proc/{number}/task/{thread}/children").split()
    return found


def _read(path: str) -> str:
    """A file of the kernel's; empty if the process has ended or hides it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""
