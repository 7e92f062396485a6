"""Limits a tool's processes for the launcher's watcher, if no control group does.

Each new process needs the watcher's permission through a seccomp listener that the child hands over; without a
listener, processes are counted at intervals. Imported beside the launcher by the same bare interpreter, and only if
needed, because every import costs time at every call.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from _socket import SOL_SOCKET, socketpair

TYPE_CHECKING = False  # typing takes five milliseconds to import
if TYPE_CHECKING:
    from typing import Any

AWAITED = frozenset({signal.SIGCHLD, signal.SIGTERM})
COUNT_INTERVAL = 0.05
NEW_LISTENER, RECEIVE, ANSWER, CONTINUE = 8, 0xC0502100, 0xC0182101, 1
PASS_FILE = 1  # SCM_RIGHTS: a message that carries an open file

libc = ctypes.CDLL(None, use_errno=True)


class ProcessGate:
    """Both sides of the gate: the child installs it, and the watcher answers its requests."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.remaining = limit - 1  # without the tool itself
        self.ends = socketpair()
        self.listener = self.signals = -1

    def install(self, orders: dict[str, Any]) -> None:
        """In the child: require permission for each new process, if the kernel supports it and there is no listener."""
        program = bytes.fromhex(orders["gate"]) if "gate" in orders else b""
        code = ctypes.create_string_buffer(program, len(program))
        filters = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
        listener = libc.syscall(ctypes.c_long(orders["seccomp"]), 1, NEW_LISTENER, filters) if program else -1
        if listener >= 0:
            self.ends[1].sendmsg([b"g"], [(SOL_SOCKET, PASS_FILE, struct.pack("=i", listener))])
            os.close(listener)
        for end in self.ends:
            end.close()

    def receive(self) -> None:
        """In the watcher: receive the listener, if the child has installed one."""
        self.ends[1].close()
        for _level, _kind, data in self.ends[0].recvmsg(1, 64)[1]:
            self.listener = struct.unpack_from("=i", data)[0]
            mask = struct.pack("=Q120x", sum(1 << (number - 1) for number in AWAITED))
            self.signals = libc.signalfd(-1, mask, 0)

    def wait(self) -> int:
        """Wait for a signal and return it, or 0 when it is time to count; answers requests meanwhile."""
        if self.listener < 0:
            info = signal.sigtimedwait(AWAITED, COUNT_INTERVAL)
            return info.si_signo if info else 0
        polled = ctypes.create_string_buffer(struct.pack("=ihhihh", self.signals, 1, 0, self.listener, 1, 0), 16)
        while True:
            libc.poll(polled, 2, -1)
            events = struct.unpack("=ihhihh", polled.raw)
            if events[2]:
                return int(struct.unpack_from("=I", os.read(self.signals, 128))[0])
            if events[5] & 1:
                self._answer()
            elif events[5]:  # no process is left that could send a request
                return signal.sigwait(AWAITED)

    def overrun(self) -> bool:
        """Whether there are too many processes, if they are counted at intervals."""
        return self.listener < 0 and _tasks(self.limit) > self.limit

    def _answer(self) -> None:
        """Allow a new process, or refuse it with EAGAIN."""
        request = ctypes.create_string_buffer(80)
        if libc.ioctl(self.listener, ctypes.c_ulong(RECEIVE), request) != 0:
            return  # the process ended before the answer
        if self.remaining <= 0:
            self.remaining = self.limit - _tasks(self.limit)
        error, flags = (0, CONTINUE) if self.remaining > 0 else (-errno.EAGAIN, 0)
        self.remaining -= 1
        answer = struct.pack("=QqiI", struct.unpack_from("=Q", request)[0], 0, error, flags)
        libc.ioctl(self.listener, ctypes.c_ulong(ANSWER), answer)


def _tasks(limit: int) -> int:
    """Return the number of threads of the tool and its descendants; stops counting beyond the limit."""
    me = str(os.getpid())
    count, pending = 0, children(me, me)
    while pending and count <= limit:
        number = pending.pop()
        try:
            threads = os.listdir(f"/proc/{number}/task")  # noqa: PTH208
            for thread in threads:
                pending += children(number, thread)
        except OSError:
            continue  # the process has ended
        count += len(threads)
    return count


def children(number: str, thread: str) -> list[str]:
    """Return the processes that a thread started or adopted."""
    with open(f"/proc/{number}/task/{thread}/children") as file:  # noqa: PTH123  pathlib costs milliseconds
        return file.read().split()
