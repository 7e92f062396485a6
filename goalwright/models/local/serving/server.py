"""The local model as an OpenAI-compatible server on loopback, with its own API key, in a separate process.

`shared` keeps one server per model and closes it when the interpreter exits. A load is stopped as soon as nobody waits
for it any more, such as after an interruption or a timeout.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import secrets
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goalwright.models.local.backends.backend import BATCH, OPENMP, PROMPT_CACHE, Serving, command, environment, library
from goalwright.models.local.backends.choose import MISSING, REMEDY, BackendChoice, choose, gave_way
from goalwright.models.local.backends.machine import cores, free_cores, this_machine
from goalwright.models.local.serving.endpoint import Endpoint, call, measure
from goalwright.models.local.serving.server_output import ServerOutput
from goalwright.models.local.serving.speed import SpeedStore
from goalwright.models.local.store import made_states_of
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from goalwright.models.local.backends.backend import Backend
    from goalwright.models.local.serving.speed import Speed

ALIAS = "goalwright-local"
SLOTS = 2
# Enough for a skill, a task and its inputs; the memory of each slot grows with it.
CONTEXT = 8192
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from goalwright.models.local.serving.server_process import main; main()"
)
_SLOW_DISK = 5_000_000  # bytes a second


@dataclass(frozen=True, slots=True)
class Load:
    """A model to serve; `context` is in tokens per slot, and `start_seconds` is extended for slow disks."""

    path: Path
    context: int = CONTEXT
    slots: int = SLOTS
    threads: int = 0
    verbose: bool = False
    start_seconds: float = 120.0


class Server:
    """A server process for one model; close it, or use it in a `with` statement."""

    def __init__(
        self,
        load: Load,
        backend: Backend | None = None,
        spawn: Callable[[], subprocess.Popen[bytes]] | None = None,
    ) -> None:
        self.waiting = 0
        choice = BackendChoice(backend, "") if backend else choose()
        self.backend, self._slow = choice.backend, choice.slow
        self.threads = 0
        self._load = load
        self._states = made_states_of(load.path)
        self._key = secrets.token_urlsafe(24)
        self._spawn = spawn or _spawn
        self._loading = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._fault: SetupError | None = None
        self._address: str | None = None
        self._closing = threading.Lock()
        self._closed = False
        self._start_process()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether its process is alive."""
        return self._process.poll() is None

    @property
    def loaded(self) -> bool:
        """Whether it answers calls."""
        return self._endpoint is not None

    @property
    def pid(self) -> int:
        """The id of its process, whose threads do the computing."""
        return self._process.pid

    def endpoint(self) -> Endpoint:
        """The server's endpoint; waits until the model is loaded."""
        with self._loading:
            if self._fault is not None:
                raise self._fault
            if self._address is None:  # send the request only once
                try:
                    self._address = self._start()
                except SetupError as error:
                    self._fault = error
                    raise
            if self._endpoint is None:
                context = _slot_context(self._address, self._key)
                speed = self._speed(self._address)
                self._endpoint = Endpoint(
                    f"{self._address}/v1",
                    self._key,
                    ALIAS,
                    context,
                    speed,
                    states=self._states,
                    build=str(self.backend),
                    slow=self._slow,
                )
            return self._endpoint

    def _speed(self, address: str) -> Speed | None:
        """The model's speed on this machine: measured now if it was not measured before."""
        if (speed := known_speed(self._load.path, self.backend, self.threads)) is None:
            speed = measure(address, self._key, self.pid, self.threads)
            if speed is not None:
                SpeedStore.of_user().keep(speed_name(self._load.path, self.backend, self.threads), speed)
        return speed

    def _start(self) -> str:
        """Load the model and return the server's address; raises SetupError if that fails."""
        answer = self._ask()
        if "refused" in answer and self.backend.program and self._fall_back(str(answer["refused"])):
            answer = self._ask()
        if "missing" in answer:
            raise SetupError(f"{MISSING} ({answer['missing']})", hint=REMEDY)
        if "address" not in answer:
            raise SetupError(
                f"{self._load.path} could not be loaded as a model ({answer['refused']})",
                hint="It may be damaged, too large for this machine's memory, or of an unsupported type. "
                "`goalwright models remove` and `goalwright models pull` download it again.",
            )
        return str(answer["address"])

    def _ask(self) -> dict[str, Any]:
        requests = self._process.stdin
        assert requests is not None  # noqa: S101 - it is a pipe
        # The program's threads spin while they wait: a thread without a free core would slow down all of them.
        self.threads = self._load.threads or (free_cores() if self.backend.program else len(cores()))
        with suppress(OSError):  # the process ended or was killed
            requests.write(json.dumps(self._request()).encode() + b"\n")
            requests.flush()
        seconds = self._load.start_seconds + _size(self._load.path) / _SLOW_DISK
        try:
            answer = self._output.answer(seconds)
        except TimeoutError:
            self._process.kill()
            return {"refused": f"{self.backend} did not load it within {seconds:.0f} s"}
        if answer is not None:
            return answer
        status = f"its process ended with status {self._process.wait()}"
        errors = self._output.errors()
        return {"refused": f"{status}: {errors}" if errors else status}

    def _request(self) -> dict[str, Any]:
        load = self._load
        serving = Serving(
            path=str(load.path.absolute()),
            alias=ALIAS,
            key=self._key,
            context=load.context,
            slots=load.slots,
            threads=self.threads,
            verbose=load.verbose,
            states=str(self._states or ""),
        )
        if self.backend.program is None:
            return asdict(serving) | {"batch": BATCH, "prompt_cache": PROMPT_CACHE}
        return {"command": command(self.backend.program, serving), "environment": environment(serving)}

    def _fall_back(self, fault: str) -> bool:
        """Restart with the library if it is installed and the server has not been closed."""
        own = library()
        with self._closing:
            if own is None or self._closed:
                return False
            self._end_process()
            self.backend, self._slow = own, gave_way(self.backend, own, fault)
            self._start_process()
        return True

    def _start_process(self) -> None:
        self._process = self._spawn()
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        self._output = ServerOutput(self._process.stdout)

    def _end_process(self) -> None:
        self._process.kill()
        self._process.wait()
        self._output.close()
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def log(self) -> list[str]:
        """The last lines of its log."""
        return self._output.log()

    def close(self) -> None:
        """Kill the server and free the model's memory; calls in progress fail."""
        with self._closing:
            self._closed = True
            self._process.kill()
        with self._loading:  # a thread waiting in endpoint() sees the end of the output at once
            self._end_process()


def _spawn() -> subprocess.Popen[bytes]:
    # In its own session: Ctrl-C is handled by goalwright, which lets calls in progress finish.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=OPENMP | os.environ,
        start_new_session=True,
    )


_lock = threading.Lock()
_shared: dict[Path, Server] = {}


async def shared(load: Load) -> Endpoint:
    """Return this process's server for the model; a load is stopped when its last waiter is cancelled."""
    with _lock:
        server = _shared.get(load.path)
        if server is None or not server.running:
            if server is not None:
                server.close()  # its process died, but its pipes are open
            server = Server(load)
            atexit.unregister(close_shared)
            atexit.register(close_shared)
            _shared[load.path] = server
        server.waiting += 1
    try:
        return await asyncio.to_thread(server.endpoint)
    finally:
        with _lock:
            server.waiting -= 1
            if not (server.waiting or server.loaded):
                server.close()
                if _shared.get(load.path) is server:
                    del _shared[load.path]


def is_loaded(path: Path) -> bool:
    """Whether this process's server for the model is ready for calls."""
    with _lock:
        server = _shared.get(path)
        return server is not None and server.running and server.loaded


def servers() -> list[Server]:
    """This process's servers."""
    with _lock:
        return list(_shared.values())


def close_shared() -> None:
    """Close every server that `shared` started; they may be started again."""
    with _lock:
        while _shared:
            _shared.popitem()[1].close()
    atexit.unregister(close_shared)


def _slot_context(address: str, key: str) -> int:
    """The actual context window of a slot: a model may support less than requested."""
    slots = call(address, key, "GET", "/slots")
    return min(int(slot["n_ctx"]) for slot in slots)


def known_speed(path: Path, backend: Backend, threads: int = 0) -> Speed | None:
    """The measured speed of a model with this many threads; 0: with the most threads that were measured."""
    store = SpeedStore.of_user()
    counts = [threads] if threads else range(len(cores()), 0, -1)
    speeds = (store.find(speed_name(path, backend, count)) for count in counts)
    return next((speed for speed in speeds if speed is not None), None)


def speed_name(path: Path, backend: Backend, threads: int) -> str:
    """The name under which a speed is stored: the model, the backend and the processor."""
    return f"{path.name} of {_size(path)} bytes by {backend} on {threads} threads of {this_machine().cpu}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
