"""Real `weft` processes that start at once: forked from one that has litellm imported, which takes seconds.

Each is a process like any other: its own arguments, environment, folder, standard files and exit status.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from weft.providers import litellm_model

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_REQUEST = 2**20


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str


class Nursery:
    """Starts the process that all others are forked from, and asks it for them."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.nursery", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parent.parent,
            )
        self._socket = ours

    def run(self, arguments: list[str], env: Mapping[str, str], cwd: Path | None, stdin: str) -> Ran:
        """Run `weft` to its end."""
        request = {"arguments": arguments, "env": dict(env), "cwd": str(cwd or Path.cwd())}
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin.encode())
            given.seek(0)
            files = [given.fileno(), out.fileno(), err.fileno()]
            ours, theirs = socket.socketpair()
            with ours:
                with theirs:
                    socket.send_fds(self._socket, [json.dumps(request).encode()], [*files, theirs.fileno()])
                ours.settimeout(120)
                said = ours.recv(16)
            assert said, "the process that watched over it is gone"
            return Ran(int(said), _text(out), _text(err))

    def close(self) -> None:
        """End it; those forked from it are long at their end."""
        self._socket.close()
        self._process.wait(30)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace").replace("\r\n", "\n")


def _serve(requests: socket.socket) -> None:
    """Fork for each request; returns only in a process that is to become `weft`."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        body, files, _, _ = socket.recv_fds(requests, _LONGEST_REQUEST, 4)
        if not body:
            sys.exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            child = os.fork()
            if child:
                _watch(child, files)
            _become(json.loads(body), files)
            return
        for descriptor in files:
            os.close(descriptor)


def _watch(child: int, files: list[int]) -> NoReturn:
    """Wait for the process and tell how it ended, as a shell would."""
    _, status = os.waitpid(child, 0)
    os.write(files[3], str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: dict[str, Any], files: list[int]) -> None:
    for number in range(3):
        os.dup2(files[number], number)
    for descriptor in files:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = ["weft", *request["arguments"]]
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - as long as the process lives
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115


def main() -> None:
    """The process that all are forked from."""
    for name in ("weft.runs.runtime", "weft.cli.main", "executor.stores.sqlite.store"):
        importlib.import_module(name)
    litellm_model.load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from weft.cli.main import main as weft_main

    weft_main()


if __name__ == "__main__":
    main()
