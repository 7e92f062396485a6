"""Worker processes that are starting: several at once, of which one loads litellm and the others are forks of it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from weft.models.workers import frames
from weft_planner.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.models.model_check import ModelProblem
    from weft.models.workers.worker import Ready, WorkerSettings

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from weft.models.workers.worker import main; main(*map(int, sys.argv[2:]))"
)


class Process(Protocol):
    """A process, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Its number."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; returns its exit status."""

    def kill(self) -> None:
        """End it at once."""


class ForkedProcess:
    """A worker that another worker forked; held by a descriptor, so that its number cannot come to mean another."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._lock = threading.Lock()  # several threads may wait for it
        try:
            self._descriptor: int | None = os.pidfd_open(pid)
        except OSError:  # it has ended
            self._descriptor = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; its status is known to the worker that forked it alone."""
        with self._lock:
            if self._descriptor is not None:
                watched = select.poll()
                watched.register(self._descriptor, select.POLLIN)
                if not watched.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0.0)
                os.close(self._descriptor)
                self._descriptor = None
        return 0

    def kill(self) -> None:
        """End it at once."""
        with self._lock:
            if self._descriptor is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)


@dataclass(slots=True)
class StartingWorker:
    """A worker that is loading litellm: our end of its socket, and its process, once it is known."""

    connection: socket.socket
    process: Process | None = None
    is_ready: bool = False

    def wait(self) -> None:
        """Wait until it is ready, where there is no event loop yet."""
        if not self.is_ready:
            self.note(frames.receive(self.connection))

    def note(self, ready: Ready | None) -> None:
        """Take its first message; raises if it ended instead."""
        if ready is None:
            status = f" (status {self.process.wait(5)})" if self.process is not None else ""
            raise ModelError(
                f"a worker process ended at once{status}",
                hint="see its message above; `weft doctor` checks whether litellm is installed correctly",
            )
        self.is_ready = True
        if self.process is None:
            self.process = ForkedProcess(ready.pid)

    def problems(self, names: Sequence[str]) -> list[ModelProblem | None]:
        """What keeps each of these models from being called, if anything does."""
        self.wait()
        found: list[ModelProblem | None] = []
        for name in names:
            frames.send(self.connection, (0, name, True))
            answer = frames.receive(self.connection)
            if answer is None:
                raise ModelError("a worker process ended", hint="run the same command again")
            found.append(answer[1])
        return found

    def abandon(self) -> None:
        """End it, wherever it is."""
        self.connection.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def start(setup: WorkerSettings, count: int = 1) -> list[StartingWorker]:
    """Start workers; they load litellm meanwhile, once for all of them where processes can be forked safely."""
    if count > 1 and not hasattr(os, "pidfd_open"):
        return [one for _ in range(count) for one in start(setup)]
    pairs = [socket.socketpair() for _ in range(count)]
    process = spawn(*(theirs.fileno() for _, theirs in pairs))
    started = [StartingWorker(ours) for ours, _ in pairs]
    started[0].process = process
    for ours, theirs in pairs:
        theirs.close()
        frames.send(ours, setup)
    return started


def spawn(*descriptors: int) -> subprocess.Popen[bytes]:
    """The process that serves these sockets, forking itself for all but the first."""
    # A session of its own: Ctrl-C is for weft, which lets calls in progress finish.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, json.dumps(sys.path), *map(str, descriptors)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=descriptors,
        start_new_session=True,
    )
