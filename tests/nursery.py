"""Starts Python processes quickly, by forking a warm process that has imported litellm (which takes five seconds).

A forked process has its own process id, arguments, environment, folder, standard files, signals and exit status. Tests
of startup itself use `subprocess`.

    nursery.run(["trace", "list"], os.environ)                      runs `goalwright trace list`
    nursery.start(["-m", "goalwright", "run", "..."], stderr=PIPE)        in the background, as with `subprocess.Popen`
    nursery.start(["-c", "print(1)"], stdout=PIPE)
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import IO, TYPE_CHECKING, Any, Self

from goalwright.models.call_process.spawn import program
from tests.nursery_process import Request, send

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
REQUEST = Path(__file__).with_name("fork_request.py")
# Huge pages for Python's objects: forking 250 MB takes a fifth of the time.
HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


@dataclass(frozen=True)
class Ran:
    """The output and exit status of a command."""

    status: int
    out: str
    err: str


class Process:
    """A started process: the part of `subprocess.Popen` that tests use, with text pipes."""

    def __init__(self, address: str, request: Request, files: Sequence[int | IO[Any] | None]) -> None:
        self.returncode: int | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        self._waiting = threading.Lock()
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours: list[int] = []
        try:
            self._connection.connect(address)
            given = [self._descriptor(number, file, ours) for number, file in enumerate(files)]
            send(self._connection, request, given)
        except OSError:
            self._connection.close()
            raise
        finally:
            for descriptor in ours:
                os.close(descriptor)
        self.pid = int(self._connection.recv(16))

    def _descriptor(self, number: int, file: int | IO[Any] | None, ours: list[int]) -> int:
        """Return the descriptor for a standard file; append descriptors opened for it to `ours`."""
        if file is None:
            return number
        if not isinstance(file, int):
            return file.fileno()
        if file == DEVNULL:
            ours.append(os.open(os.devnull, os.O_RDWR))
            return ours[-1]
        if file != PIPE:
            return file
        assert number > 0, "standard input is a file here, never a pipe"
        read, write = os.pipe()
        ours.append(write)
        pipe = os.fdopen(read, encoding="utf-8", errors="replace")
        self.stdout, self.stderr = (pipe, self.stderr) if number == 1 else (self.stdout, pipe)
        return write

    def poll(self) -> int | None:
        """Return the exit status as `subprocess` does, or None while the process runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process to end."""
        with self._waiting:
            if self.returncode is None:
                self._connection.settimeout(timeout)
                try:
                    status = self._connection.recv(16)
                except (TimeoutError, BlockingIOError):
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0) from None
                assert status, "the process that watched over it is gone"
                self.returncode = int(status)
                self._connection.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return the remaining output, once the pipes are closed and the process has ended."""
        read: dict[IO[str], str] = {}
        pipes = [pipe for pipe in (self.stdout, self.stderr) if pipe is not None]
        readers = [threading.Thread(target=lambda one=pipe: read.update({one: one.read()})) for pipe in pipes]
        for reader in readers:
            reader.daemon = True
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        self.wait(timeout)
        for pipe in pipes:
            pipe.close()
        return read.get(self.stdout, "") if self.stdout else "", read.get(self.stderr, "") if self.stderr else ""

    def send_signal(self, number: int) -> None:
        """Send a signal unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(9)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait(120)


class Nursery:
    """Starts processes by requests to the warm process at an address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def command(self, *arguments: str) -> list[str]:
        """The command that a shell or a client runs instead of `python ARGUMENTS`."""
        return [sys.executable, "-I", "-S", str(REQUEST), self.address, *arguments]

    def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int | IO[Any] | None = DEVNULL,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        pass_fds: Sequence[int] = (),
        start_new_session: bool = False,
    ) -> Process:
        """Start `python COMMAND`, where the command is `-m MODULE …` or `-c CODE …`."""
        environ = dict(os.environ if env is None else env)
        request = Request(list(command), environ, str(cwd or Path.cwd()), list(pass_fds), start_new_session)
        return Process(self.address, request, [stdin, stdout, stderr, *pass_fds])

    def write_program(self, place: Path, only: str) -> None:
        """Write a program that replaces Python and forks commands that contain `text`."""
        fork, python = shlex.join(self.command()), shlex.quote(sys.executable)
        script = f'#!/bin/sh\ncase "$*" in *{only}*) exec {fork} "$@" ;; esac\nexec {python} "$@"\n'
        place.write_text(script, encoding="utf-8")
        place.chmod(0o700)

    def start_worker(self, *descriptors: int) -> Process:
        """Start a call worker of a batch, as the batch does."""
        return self.start(
            ["-P", *program("serve_private", sys.path, *map(str, descriptors))],
            stdout=DEVNULL,
            pass_fds=descriptors,
            start_new_session=True,
        )

    def run(
        self, arguments: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: str = ""
    ) -> Ran:
        """Run `goalwright`."""
        return self.run_python(["-m", "goalwright", *arguments], env, cwd, stdin)

    def run_python(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
        timeout: float = 600,
    ) -> Ran:
        """Run `python COMMAND`."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin.encode())
            given.seek(0)
            with self.start(command, env=env, cwd=cwd, stdin=given, stdout=out, stderr=err) as process:
                status = process.wait(timeout)
            return Ran(status, _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace").replace("\r\n", "\n")


@contextmanager
def open_nursery() -> Iterator[Nursery]:
    """Start the warm process; it ends with this process, even if this one is killed."""
    with tempfile.TemporaryDirectory(prefix="nursery-") as folder:
        address = f"{folder}/socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(address)
            listener.listen(128)  # requests queue here until it is warm
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.nursery_process", str(listener.fileno())],
                stdin=PIPE,  # the warm process ends when this pipe closes
                pass_fds=[listener.fileno()],
                env={**os.environ, **HUGE_PAGES},
                cwd=ROOT,
                start_new_session=True,
            )
        with process:
            yield Nursery(address)
