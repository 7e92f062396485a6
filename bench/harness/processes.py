"""The CPU and the memory of processes that a benchmark did not start itself, from /proc."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _stat(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def cpu(pid: int, *, ended_children: bool = False) -> float:
    """The CPU seconds of a process with all its threads, and of children that it has waited for."""
    fields = _stat(pid)
    return sum(map(int, fields[11 : 15 if ended_children else 13])) / _TICK


def tree_cpu(pid: int) -> float:
    """The CPU seconds of a server and of all processes that it has, or had."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    total = cpu(pid, ended_children=True)
    for child in children:
        try:
            total += cpu(int(child), ended_children=True)
        except OSError:
            continue  # it has just ended, and the server has its time
    return total


def resident_memory(pid: int | None = None) -> float:
    """The memory that a process has now, this one unless told, in MB."""
    folder = Path(f"/proc/{pid or os.getpid()}")
    return int((folder / "statm").read_text(encoding="ascii").split()[1]) * _PAGE / 2**20


class Watch:
    """Looks, several times a second, at every process whose environment has a mark; sums up by kind of process.

    A child of one counts too: a process that sets its own title may write over its environment.
    """

    def __init__(self, mark: str, kind_of: Callable[[str], str]) -> None:
        self._mark, self._kind_of = mark.encode(), kind_of
        self._kinds: dict[int, str] = {}
        self._seconds: dict[int, float] = {}
        self.memory: dict[str, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)

    def seconds(self) -> dict[str, float]:
        """CPU seconds of each kind, as last seen."""
        found: dict[str, float] = {}
        for pid, seconds in self._seconds.items():
            found[self._kinds[pid]] = found.get(self._kinds[pid], 0.0) + seconds
        return found

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look_on(self) -> None:
        while not self._ended.wait(0.2):
            for folder in Path("/proc").iterdir():
                if folder.name.isdigit():
                    try:
                        self._look(int(folder.name), folder)
                    except OSError:
                        continue  # it has ended, or is another user's

    def _look(self, pid: int, folder: Path) -> None:
        known = pid in self._seconds or self._mark in (folder / "environ").read_bytes()
        if not known and int(_stat(pid)[1]) not in self._seconds:
            return
        title = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
        self._seconds[pid] = cpu(pid)
        if title or pid not in self._kinds:  # one that has ended, but is not waited for yet, has no title any more
            self._kinds[pid] = self._kind_of(title)
        kind = self._kinds[pid]
        pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
        self.memory[kind] = max(self.memory.get(kind, 0.0), pages * _PAGE / 2**20)
