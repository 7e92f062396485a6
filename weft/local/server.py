"""The local model as an OpenAI-compatible server on loopback, with its own API key, in a separate process.

`shared` keeps one server for each model and closes it when the interpreter exits. If nobody waits for a load any more,
because the run was interrupted or timed out, the load is stopped at once.
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

import httpx

from weft.local.backends.backend import BATCH, OPENMP, PROMPT_CACHE, Serving, command, environment, library
from weft.local.backends.choose import MISSING, REMEDY, choose
from weft.local.server_output import ServerOutput
from weft.local.store import made_states_of
from weft_planner.errors import Unreachable
from weft_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from weft.local.backends.backend import Backend

ALIAS = "weft-local"
SLOTS = 2
# Enough for a skill, a task and its inputs; the memory of each slot grows with it.
CONTEXT = 8192
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from weft.local.server_process import main; main()"
# How long a load may take: some seconds to start, and the file from a slow disk.
_START_SECONDS = 120.0
_SLOW_DISK = 5_000_000  # bytes a second


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach the server: through litellm as model `openai/<alias>`, with `base_url` as its API base.

    It keeps what it has read in the folder `states`, if it has one; `build` is the backend and its version.
    """

    base_url: str
    api_key: str
    alias: str
    context: int
    states: Path | None = None
    build: str = ""

    @property
    def model(self) -> str:
        """Its name in litellm."""
        return f"openai/{self.alias}"


@dataclass(frozen=True, slots=True)
class Load:
    """What to serve and how; `context` is per slot, in tokens."""

    path: Path
    context: int = CONTEXT
    slots: int = SLOTS
    threads: int = 0
    verbose: bool = False


class Server:
    """A server process for one model; close it, or use it in a `with` statement."""

    def __init__(
        self,
        load: Load,
        backend: Backend | None = None,
        spawn: Callable[[], subprocess.Popen[bytes]] | None = None,
    ) -> None:
        self.waiting = 0
        self.backend = backend or choose().backend
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
        """Its process, which has all the threads that compute."""
        return self._process.pid

    def endpoint(self) -> Endpoint:
        """How to reach it; returns once the model is loaded."""
        with self._loading:
            if self._fault is not None:
                raise self._fault
            if self._address is None:  # ask only once: a second line on its stdin ends it
                try:
                    self._address = self._start()
                except SetupError as error:
                    self._fault = error
                    raise
            if self._endpoint is None:
                context = _slot_context(self._address, self._key)
                build = str(self.backend)
                self._endpoint = Endpoint(f"{self._address}/v1", self._key, ALIAS, context, self._states, build)
            return self._endpoint

    def _start(self) -> str:
        """The address it listens on; raises SetupError if it could not load the model."""
        answer = self._ask()
        if "refused" in answer and self.backend.program and self._fall_back():
            answer = self._ask()
        if "missing" in answer:
            raise SetupError(f"{MISSING} ({answer['missing']})", hint=REMEDY)
        if "address" not in answer:
            raise SetupError(
                f"{self._load.path} could not be loaded as a model ({answer['refused']})",
                hint="It may be damaged, too large for this machine's memory, or of an unsupported type. "
                "`weft models remove` and `weft models pull` download it again.",
            )
        return str(answer["address"])

    def _ask(self) -> dict[str, Any]:
        requests = self._process.stdin
        assert requests is not None  # noqa: S101 - it is a pipe
        with suppress(OSError):  # the process ended or was killed
            requests.write(json.dumps(self._wanted()).encode() + b"\n")
            requests.flush()
        seconds = _START_SECONDS + _size(self._load.path) / _SLOW_DISK
        try:
            answer = self._output.answer(seconds)
        except TimeoutError:
            self._process.kill()
            return {"refused": f"{self.backend} did not load it within {seconds:.0f} s"}
        if answer is not None:
            return answer
        status = f"its process ended with status {self._process.wait()}"
        said = self._output.errors()
        return {"refused": f"{status}: {said}" if said else status}

    def _wanted(self) -> dict[str, Any]:
        load = self._load
        serving = Serving(
            path=str(load.path.absolute()),
            alias=ALIAS,
            key=self._key,
            context=load.context,
            slots=load.slots,
            threads=load.threads or len(cores()),
            verbose=load.verbose,
            states=str(self._states or ""),
        )
        if self.backend.program is None:
            return asdict(serving) | {"batch": BATCH, "prompt_cache": PROMPT_CACHE}
        return {"command": command(self.backend.program, serving), "environment": environment(serving)}

    def _fall_back(self) -> bool:
        """Start again with the library, if it is installed and nobody has closed the server meanwhile."""
        own = library()
        with self._closing:
            if own is None or self._closed:
                return False
            self._end_process()
            self.backend = own
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

    def close(self) -> None:
        """Kill it and free the model's memory; calls in progress fail."""
        with self._closing:
            self._closed = True
            self._process.kill()
        with self._loading:  # anyone waiting in endpoint() sees the end of its output at once
            self._end_process()


def _spawn() -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for weft, which lets calls in progress finish.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=OPENMP | os.environ,
        start_new_session=True,
    )


def count_tokens(endpoint: Endpoint, messages: Sequence[dict[str, Any]]) -> int:
    """The number of tokens in these messages, by the model's own template and tokenizer."""
    body = {"messages": list(messages)}
    address = endpoint.base_url.removesuffix("/v1")
    answer = _call(address, endpoint.api_key, "POST", "/v1/chat/completions/input_tokens", body)
    return int(answer["input_tokens"])


_lock = threading.Lock()
_shared: dict[Path, Server] = {}


async def shared(load: Load) -> Endpoint:
    """This process's server for the model, started on first use; a load is stopped when its last waiter gives up."""
    with _lock:
        server = _shared.get(load.path)
        if server is None or not server.running:
            if server is not None:
                server.close()  # it died, and its pipes are still open
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
    """Whether this process's server for the model can be called."""
    with _lock:
        server = _shared.get(path)
        return server is not None and server.running and server.loaded


def close_shared() -> None:
    """Close every server that `shared` started; they may be started again."""
    with _lock:
        while _shared:
            _shared.popitem()[1].close()
    atexit.unregister(close_shared)


def _slot_context(address: str, key: str) -> int:
    """The actual context window of a slot: a model may support less than requested."""
    slots = _call(address, key, "GET", "/slots")
    return min(int(slot["n_ctx"]) for slot in slots)


def cores() -> Sequence[int]:
    """The CPUs this process may use; in a container, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _call(address: str, key: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    # Requests to loopback never go through a proxy.
    try:
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            response = client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"})
            response.raise_for_status()
            return response.json()
    except httpx.HTTPError as error:  # the process may have been killed; a retry starts another
        raise Unreachable(f"the embedded model does not answer: {error}") from error
