"""A limit on the memory of a whole call without a control group: a thread that measures its processes.

The kernel's limit per process does not count shared memory. Each piece of shared memory that is open or mapped is
therefore counted once, by its size: a process's page table says little, since pages dropped from it stay in memory.
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

SHORT_INTERVAL, LONG_INTERVAL = 0.05, 0.2
PAGE = 1024
# A call that seems to exceed its limit is measured again this often, as long as its processes change meanwhile.
_REPEATS = 3
_FIELDS = re.compile(r"^(?:RssAnon|VmSwap|HugetlbPages):\s+(\d+)", re.MULTILINE)
_SHARED = re.compile(r"^(\w+)-(\w+) ...s (\w+) (00:\w+) (\d+) +(/dev/zero|/memfd:|/SYSV|/dev/shm/|/ )", re.MULTILINE)
_EXACT = re.compile(r"^(?:Pss_Anon|SwapPss):\s+(\d+)", re.MULTILINE)
_IN_FLIGHT = re.compile(r"^scm_fds:\s+(\d+)", re.MULTILINE)


@dataclass(slots=True, eq=False)
class Watch:
    """A watched call; `exceeded` is set when it used too much memory and was ended."""

    process: int
    limit: int
    file_size: int
    gentle: bool
    exceeded: bool = False
    handle: int = -1
    due: float = 0.0

    def measure(self) -> int:
        """Measure the call and schedule the next measurement."""
        used = measure(self.process, self.limit, self.file_size)
        for _ in range(_REPEATS):
            if used <= self.limit:
                break
            # If processes started or ended meanwhile, shared pages may have been counted twice.
            before = _tree(str(self.process))
            used = min(used, measure(self.process, self.limit, self.file_size))
            if _tree(str(self.process)) == before:
                break
        self.due = time.monotonic() + (SHORT_INTERVAL if used > self.limit // 2 else LONG_INTERVAL)
        return used

    def end(self) -> None:
        """Kill the call."""
        self.exceeded = True
        number = signal.SIGTERM if self.gentle else signal.SIGKILL
        with contextlib.suppress(OSError):
            if self.handle >= 0:
                signal.pidfd_send_signal(self.handle, number)
            else:
                os.kill(self.process, number)


@dataclass(slots=True)
class Watchers:
    """The watched calls of this process, and the thread that measures them while there are any."""

    calls: list[Watch] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    thread: threading.Thread | None = None

    @contextlib.contextmanager
    def watching(self, watch: Watch) -> Iterator[Callable[[], bool]]:
        """Watch a call during the block and yield a function that returns whether it used too much memory.

        A process handle ensures that a later process with the same id is not killed.
        """
        with contextlib.suppress(OSError, AttributeError):
            watch.handle = os.pidfd_open(watch.process)
        watch.due = time.monotonic() + LONG_INTERVAL
        with self.changed:
            self.calls.append(watch)
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="goalwright-memory", daemon=True)
                self.thread.start()
        try:
            yield lambda: watch.exceeded
        finally:
            with self.changed:
                self.calls.remove(watch)
                if watch.handle >= 0:
                    os.close(watch.handle)
                    watch.handle = -1

    def _run(self) -> None:
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
                with self.changed:  # not while the call is being removed
                    if used > call.limit and call in self.calls:
                        call.end()
            if not due:
                time.sleep(max(0.01, min(pause, LONG_INTERVAL)))


def watched(
    group: Group | None, limits: ResourceLimits, watchers: Watchers, *, gentle: bool
) -> Callable[[int], AbstractContextManager[Callable[[], bool]]]:
    """Return the function that watches a call's memory: the kernel's count of its group, or a thread."""
    if group is not None and group.memory is not None:
        return group.watching
    return lambda process: watchers.watching(Watch(process, limits.memory, limits.file_size, gentle))


def measure(process: int, limit: int, file_size: int) -> int:
    """Return the bytes that a process and its descendants use; exact only if an estimate exceeds the limit."""
    numbers = _tree(str(process))
    shared: dict[tuple[str, str], int] = {}
    pending = sum(_shared(number, shared) for number in numbers)
    total = sum(shared.values()) + pending * file_size
    estimate = sum(map(_private, numbers))
    if total + estimate <= limit:
        return total + estimate
    # The estimate counts pages that forked processes share once for each process.
    for number in numbers:
        exact = _EXACT.findall(_read(f"/proc/{number}/smaps_rollup"))
        total += sum(map(int, exact)) * PAGE if exact else _private(number)
    return total


def _private(number: str) -> int:
    return sum(map(int, _FIELDS.findall(_read(f"/proc/{number}/status")))) * PAGE


def _shared(number: str, sizes: dict[tuple[str, str], int]) -> int:
    """Add the shared memory of a process to `sizes`; returns the number of its files in flight to others."""
    mapped: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for start, end, offset, device, inode, _ in _SHARED.findall(_read(f"/proc/{number}/maps")):
        mapped.setdefault((device, inode), set()).add((offset, int(end, 16) - int(start, 16)))
    for key, ranges in mapped.items():
        sizes[key] = max(sizes.get(key, 0), sum(size for _, size in ranges))
    pending = 0
    folder = f"/proc/{number}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208
            with contextlib.suppress(OSError):
                target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
                if target.startswith("/memfd:"):
                    info = os.stat(f"{folder}/{name}")  # noqa: PTH116
                    device = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}"
                    sizes[device, str(info.st_ino)] = info.st_blocks * 512
                elif target.startswith("socket:"):
                    pending += sum(map(int, _IN_FLIGHT.findall(_read(f"/proc/{number}/fdinfo/{name}"))))
    return pending


def _tree(process: str) -> list[str]:
    """Return the ids of a process and its descendants."""
    tree, pending = [], [process]
    while pending:
        number = pending.pop()
        tree.append(number)
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{number}/task"):  # noqa: PTH208
                pending += _read(f"/proc/{number}/task/{thread}/children").split()
    return tree


def _read(path: str) -> str:
    """Read a file in /proc; empty if the process has ended or hides it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""
