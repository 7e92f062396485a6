"""A local Ray cluster for tests: a head, more nodes on request, and the processes of its workers."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from tests.nursery_process import PYTHON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.nursery import Nursery

MARK = "TESTS_RAY_CLUSTER"
PATIENCE = {"RAY_raylet_start_wait_time_s": "120"}  # Ray's limit of 30 s is too short for a busy machine
TRIES = 3  # a node exits if its agent takes more than 15 s to start
# `ray start`; it starts workers with the Python that it finds.
_START = "import sys; sys.executable = sys.argv.pop(1); from ray.scripts.scripts import main; sys.exit(main())"


class RayCluster:
    """A running cluster. Drivers need `env`; workers get the environment `given`.

    With a nursery the head forks its workers, which saves the import of litellm.
    """

    def __init__(
        self,
        cores: int = 4,
        given: Mapping[str, str] | None = None,
        *,
        token: bool = True,
        metrics: bool = False,
        nursery: Nursery | None = None,
    ) -> None:
        self.mark = secrets.token_hex(8)
        self.address = f"127.0.0.1:{free_port()}"
        secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.env = secret if token else {"RAY_AUTH_MODE": "disabled"}
        self._given = {**os.environ, **PATIENCE, **(given or {}), **self.env, MARK: self.mark}
        self.home = Path(self._given["HOME"])
        self._nodes: list[subprocess.Popen[bytes]] = []
        self._folder = TemporaryDirectory(prefix="cluster-")
        self._forked = Path(self._folder.name) / "forked"
        self._forked.touch()
        self.metrics_port = free_port() if metrics else 0
        head = ["--head", f"--port={self.address.rpartition(':')[2]}", "--include-dashboard=false", "--no-monitor"]
        head += [f"--metrics-export-port={self.metrics_port}"] if metrics else []
        self._start(head, cores, {}, nursery)

    def add_node(self, cores: int, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Add a node whose workers get further environment variables."""
        self._start([f"--address={self.address}"], cores, env)
        return self._nodes[-1]

    def add_machine(self, cores: int = 1, env: Mapping[str, str] | None = None) -> Machine:
        """Add a node with its own PID namespace; as for another machine, only heartbeats show which processes live."""
        before = set(self._processes())
        self._start([f"--address={self.address}"], cores, env or {}, inside=space_command())
        here = _space("self")
        (space, *_) = {_space(pid) for pid in set(self._processes()) - before} - {here, ""}
        return Machine(self, space, self._nodes[-1])

    @property
    def running(self) -> bool:
        """Whether the head runs."""
        return self._nodes[0].poll() is None

    def workers(self, what: str = "GoalWorker") -> list[int]:
        """Return the process ids of an actor (default: the goal workers)."""
        return [pid for pid, title in self._processes().items() if title.startswith(f"ray::{what}")]

    def kill_head(self) -> None:
        """Kill all processes of the head at once, as a power failure does; other machines stay."""
        for pid in self._processes():
            if _space(pid) == _space("self"):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._nodes[0].wait(120)

    def hang_head(self) -> None:
        """Stop the head's server; the kernel still accepts connections to it."""
        for pid, title in self._processes().items():
            if title.split("\0")[0].endswith("gcs_server"):
                os.kill(pid, signal.SIGSTOP)

    def close(self) -> None:
        """Stop the cluster."""
        for node in reversed(self._nodes):
            node.kill() if node.args[0] == "unshare" else node.terminate()  # type: ignore[index]
        for node in self._nodes:
            node.wait(120)
            if node.stdout is not None:
                node.stdout.close()
        until = time.monotonic() + 10
        while (left := self._processes()) and time.monotonic() < until:
            time.sleep(0.1)
        for pid in left:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(
        self,
        arguments: list[str],
        cores: int,
        env: Mapping[str, str],
        nursery: Nursery | None = None,
        inside: Sequence[str] = (),
    ) -> None:
        ray = ["-m", "ray.scripts.scripts"]
        if nursery is not None:
            python = Path(self._folder.name) / "python"
            nursery.write_program(python, "/ray/_private/workers/")
            env = {**env, PYTHON: str(python), "TESTS_FORKED": str(self._forked)}
            ray = ["-c", _START, str(python)]
        command = [*inside, sys.executable, *ray, "start", *arguments, "--block"]
        command += [f"--num-cpus={cores}", "--include-log-monitor=false"]
        command += ["--object-store-memory=90000000", "--disable-usage-stats", "--node-ip-address=127.0.0.1"]
        said = b""
        for _ in range(TRIES):
            node = subprocess.Popen(
                command, env={**self._given, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            assert node.stdout is not None
            for line in node.stdout:  # closed when it ends
                said += line
                if b"--block" in line:
                    self._nodes.append(node)
                    return
            node.stdout.close()
            node.wait()
        self.close()
        raise AssertionError(f"Ray did not start: {said.decode(errors='replace')}")

    def _processes(self) -> dict[int, str]:
        """Return the command lines of the cluster's processes by id."""
        found = {}
        forked = self._forked.read_text(encoding="ascii").split() if self._forked.exists() else []
        for folder in Path("/proc").iterdir():
            try:
                title = (folder / "cmdline").read_text(errors="replace") if folder.name.isdigit() else ""
                ours = title.startswith("ray::") and folder.name in forked
                if title and (ours or f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes()):
                    found[int(folder.name)] = title
            except OSError:
                continue  # it has ended, or belongs to another user
        return found


@dataclass(frozen=True)
class Machine:
    """A node with its own PID namespace (`space`), whose leases look like those of another machine."""

    cluster: RayCluster
    space: str
    node: subprocess.Popen[bytes]

    def worker(self) -> int:
        """Return the id of its only goal worker, in this PID namespace."""
        (pid,) = (pid for pid in self.cluster.workers() if _space(pid) == self.space)
        return pid

    def kill(self) -> None:
        """Kill all its processes at once, as a power failure does."""
        self.node.kill()
        self.node.wait(30)


def space_command() -> list[str]:
    """Return a command prefix that runs a command in a new PID namespace."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    return ["unshare", *user, "--pid", "--fork", "--mount-proc", "--kill-child"]


def process_id(pid: int) -> tuple[str, int]:
    """Return the PID namespace of a process and its id there, as in its leases."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return "", pid
    return _space(pid), int(status.partition("NSpid:")[2].split("\n")[0].split()[-1])


def _space(pid: int | str) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def free_port() -> int:
    """Return a free port below the ephemeral ports, because Ray binds it seconds later."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("0.0.0.0", port))  # noqa: S104 - as Ray does
            return port
