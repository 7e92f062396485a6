"""CPU time and memory of other processes, from /proc."""

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
    """Return the fields of /proc/PID/stat, starting with the state."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def cpu(pid: int, *, ended_children: bool = False) -> float:
    """Return the CPU seconds of a process and, if asked for, of the children that it has waited for."""
    fields = _stat(pid)
    return sum(map(int, fields[11 : 15 if ended_children else 13])) / _TICK


def tree_cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its current and past children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    total = cpu(pid, ended_children=True)
    for child in children:
        try:
            total += cpu(int(child), ended_children=True)
        except OSError:
            continue  # it has just ended, and its time counts for the parent
    return total


def resident_memory(pid: int | None = None) -> float:
    """Return the resident memory of a process (default: this one) in MB."""
    folder = Path(f"/proc/{pid or os.getpid()}")
    return int((folder / "statm").read_text(encoding="ascii").split()[1]) * _PAGE / 2**20


class Watch:
    """Samples the CPU and memory of every process whose environment has a mark, summed by kind of process.

    Children of marked processes count too, since a process that sets its own title may overwrite its environment.
    """

    def __init__(self, mark: str, kind_of: Callable[[str], str]) -> None:
        self._mark, self._kind_of = mark.encode(), kind_of
        self._kinds: dict[int, str] = {}
        self._seconds: dict[int, float] = {}
        self.memory: dict[str, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample_all, daemon=True)

    def seconds(self) -> dict[str, float]:
        """Return the last sampled CPU seconds of each kind."""
        totals: dict[str, float] = {}
        for pid, seconds in self._seconds.items():
            totals[self._kinds[pid]] = totals.get(self._kinds[pid], 0.0) + seconds
        return totals

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample_all(self) -> None:
        while not self._ended.wait(0.2):
            for folder in Path("/proc").iterdir():
                if folder.name.isdigit():
                    try:
                        self._sample(int(folder.name), folder)
                    except OSError:
                        continue  # it has ended, or belongs to another user

    def _sample(self, pid: int, folder: Path) -> None:
        marked = pid in self._seconds or self._mark in (folder / "environ").read_bytes()
        if not marked and int(_stat(pid)[1]) not in self._seconds:
            return
        title = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
        self._seconds[pid] = cpu(pid)
        if title or pid not in self._kinds:  # a zombie has no title
            self._kinds[pid] = self._kind_of(title)
        kind = self._kinds[pid]
        pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
        self.memory[kind] = max(self.memory.get(kind, 0.0), pages * _PAGE / 2**20)
