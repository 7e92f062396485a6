"""Counts a tool's processes for the launcher's watcher, where no control group does.

Each process that the tool would start asks first, through a seccomp listener that the child hands to the watcher;
where none can be made to ask, they are counted now and then. Imported beside the launcher, by the same bare
interpreter, and only where it is needed: every line is paid at every call.
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
COUNTED_EVERY = 0.05
NEW_LISTENER, RECEIVE, ANSWER, GO_ON = 8, 0xC0502100, 0xC0182101, 1
PASS_FILE = 1  # SCM_RIGHTS, a message between processes that holds an open file

libc = ctypes.CDLL(None, use_errno=True)


class ProcessGate:
    """The gate from both sides: the child puts it up, the watcher keeps it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.left = most - 1  # the tool itself is there
        self.ends = socketpair()
        self.listener = self.signals = -1

    def put_up(self, orders: dict[str, Any]) -> None:
        """In the child: have each new process ask, where the kernel has such a gate and no one else has taken it."""
        program = bytes.fromhex(orders["gate"]) if "gate" in orders else b""
        code = ctypes.create_string_buffer(program, len(program))
        filters = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
        listener = libc.syscall(ctypes.c_long(orders["seccomp"]), 1, NEW_LISTENER, filters) if program else -1
        if listener >= 0:
            self.ends[1].sendmsg([b"g"], [(SOL_SOCKET, PASS_FILE, struct.pack("=i", listener))])
            os.close(listener)
        for end in self.ends:
            end.close()

    def keep(self) -> None:
        """In the watcher: take the listener, once the child has put it up or has not."""
        self.ends[1].close()
        for _level, _kind, data in self.ends[0].recvmsg(1, 64)[1]:
            self.listener = struct.unpack_from("=i", data)[0]
            mask = struct.pack("=Q120x", sum(1 << (number - 1) for number in AWAITED))
            self.signals = libc.signalfd(-1, mask, 0)

    def wait(self) -> int:
        """The next signal; 0 where none came and it is time to count. Meanwhile what asks is answered."""
        if self.listener < 0:
            got = signal.sigtimedwait(AWAITED, COUNTED_EVERY)
            return got.si_signo if got else 0
        polled = ctypes.create_string_buffer(struct.pack("=ihhihh", self.signals, 1, 0, self.listener, 1, 0), 16)
        while True:
            libc.poll(polled, 2, -1)
            events = struct.unpack("=ihhihh", polled.raw)
            if events[2]:
                return int(struct.unpack_from("=I", os.read(self.signals, 128))[0])
            if events[5] & 1:
                self._answer()
            elif events[5]:  # no one is left who could ask
                return signal.sigwait(AWAITED)

    def overrun(self) -> bool:
        """Whether there are too many, where they were not asked about one by one."""
        return self.listener < 0 and _tasks(self.most) > self.most

    def _answer(self) -> None:
        """Whoever asks goes on, or gets the error that a full machine would give."""
        request = ctypes.create_string_buffer(80)
        if libc.ioctl(self.listener, ctypes.c_ulong(RECEIVE), request) != 0:
            return  # it ended before it was heard
        if self.left <= 0:
            self.left = self.most - _tasks(self.most)
        error, flags = (0, GO_ON) if self.left > 0 else (-errno.EAGAIN, 0)
        self.left -= 1
        answer = struct.pack("=QqiI", struct.unpack_from("=Q", request)[0], 0, error, flags)
        libc.ioctl(self.listener, ctypes.c_ulong(ANSWER), answer)


def _tasks(most: int) -> int:
    """How many threads the tool and all that it started have; counted on only until they are too many."""
    me = str(os.getpid())
    count, waiting = 0, children(me, me)
    while waiting and count <= most:
        number = waiting.pop()
        try:
            threads = os.listdir(f"/proc/{number}/task")  # noqa: PTH208
            for thread in threads:
                waiting += children(number, thread)
        except OSError:
            continue  # it ended meanwhile
        count += len(threads)
    return count


def children(number: str, thread: str) -> list[str]:
    """The processes that a thread started, or took over."""
    with open(f"/proc/{number}/task/{thread}/children") as file:  # noqa: PTH123  pathlib costs milliseconds
        return file.read().split()
