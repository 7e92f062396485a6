"""The local model as an OpenAI-compatible server on loopback, with a key of its own, in a process beside this one.

`shared` keeps one server for the process and closes it when the interpreter ends. A load that nobody waits for any
more, because the run was interrupted or is out of time, is ended at once.
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
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import httpx

from planner.errors import Unreachable
from skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

ALIAS = "weft-local"
SLOTS = 2
# Enough for a skill, a task and its inputs; each slot's share of memory grows with it.
CONTEXT = 8192
MISSING = "the embedded model needs the package xllamacpp, which is not installed"
REMEDY = (
    "Run `pip install 'weft[local]'` (in a checkout: `pip install -e '.[local]'`), "
    "or name another model with --model or WEFT_MODEL."
)
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from weft.local.server_process import main; main()"
# Without these, idle OpenMP threads spin, and on a busy machine everything slows down twentyfold.
_CALM = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach the server: through litellm as model `openai/<alias>`, with `base_url` as its API base."""

    base_url: str
    api_key: str
    alias: str
    context: int

    @property
    def model(self) -> str:
        """The name that litellm knows it by."""
        return f"openai/{self.alias}"


@dataclass(frozen=True, slots=True)
class Load:
    """What to serve and how; `context` is that of one slot, in tokens."""

    path: Path
    context: int = CONTEXT
    slots: int = SLOTS
    threads: int = 0
    verbose: bool = False


class Server:
    """A server that loads, then runs; close it, or use it in a `with` statement."""

    def __init__(self, load: Load, spawn: Callable[[], subprocess.Popen[bytes]] | None = None) -> None:
        if find_spec("xllamacpp") is None:
            raise SetupError(MISSING, hint=REMEDY)
        self.waiting = 0
        self._load = load
        self._key = secrets.token_urlsafe(24)
        self._loading = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._fault: SetupError | None = None
        self._address: str | None = None
        self._process = (spawn or _spawn)()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process.poll() is None

    @property
    def loaded(self) -> bool:
        """Whether it answers calls."""
        return self._endpoint is not None

    def endpoint(self) -> Endpoint:
        """How to reach it, once it is loaded."""
        with self._loading:
            if self._fault is not None:
                raise self._fault
            if self._address is None:  # it is asked but once: a further line on its stdin ends it
                try:
                    self._address = self._started()
                except SetupError as error:
                    self._fault = error
                    raise
            if self._endpoint is None:
                context = _slot_context(self._address, self._key)
                self._endpoint = Endpoint(f"{self._address}/v1", self._key, ALIAS, context)
            return self._endpoint

    def _started(self) -> str:
        """Where it listens, or why it does not."""
        answer = self._ask()
        if "missing" in answer:
            raise SetupError(f"{MISSING} ({answer['missing']})", hint=REMEDY)
        if "address" not in answer:
            raise SetupError(
                f"{self._load.path} could not be loaded as a model ({answer['refused']})",
                hint="It may be damaged, too big for this machine's memory, or of a kind that this version "
                "does not know. `weft models remove` and `weft models pull` fetch it anew.",
            )
        return str(answer["address"])

    def _ask(self) -> dict[str, Any]:
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None  # noqa: S101 - both are pipes
        assert answers is not None  # noqa: S101
        load = self._load
        wanted = {"path": str(load.path), "alias": ALIAS, "key": self._key, "context": load.context}
        wanted |= {"slots": load.slots, "threads": load.threads or len(_cores()), "verbose": load.verbose}
        try:
            given.write(json.dumps(wanted).encode() + b"\n")
            given.flush()
            line = answers.readline()
        except OSError:  # it has ended, or was ended
            line = b""
        if not line.endswith(b"\n"):
            return {"refused": f"its process ended with status {self._process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it, whatever it does, and free the model; calls under way end with an error."""
        self._process.kill()
        self._process.wait()
        with self._loading:  # whoever waits for it hears of its end at once
            for pipe in filter(None, (self._process.stdin, self._process.stdout)):
                with suppress(BrokenPipeError):
                    pipe.close()


def _spawn() -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for weft, which lets calls under way end.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_CALM | os.environ,
        start_new_session=True,
    )


def count_tokens(endpoint: Endpoint, messages: Sequence[dict[str, Any]]) -> int:
    """How many tokens the messages take of the context window, by the model's own template and tokenizer."""
    body = {"messages": list(messages)}
    address = endpoint.base_url.removesuffix("/v1")
    answer = _call(address, endpoint.api_key, "POST", "/v1/chat/completions/input_tokens", body)
    return int(answer["input_tokens"])


_lock = threading.Lock()
_shared: dict[Path, Server] = {}


async def shared(load: Load) -> Endpoint:
    """The process's server for that model, started on first use; the last who gives up waiting ends the load."""
    with _lock:
        server = _shared.get(load.path)
        if server is None or not server.running:
            if server is not None:
                server.close()  # it died: its pipes are still open
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


def close_shared() -> None:
    """Close what `shared` started; it may be started again afterwards."""
    with _lock:
        while _shared:
            _shared.popitem()[1].close()
    atexit.unregister(close_shared)


def _slot_context(address: str, key: str) -> int:
    """The context window that a slot really got: a model may be made for less than was asked."""
    slots = _call(address, key, "GET", "/slots")
    return min(int(slot["n_ctx"]) for slot in slots)


def _cores() -> Sequence[int]:
    """The processors that this process may use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


def _call(address: str, key: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    # The loopback server is ours: a proxy of the user's must not come between.
    try:
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            response = client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"})
            response.raise_for_status()
            return response.json()
    except httpx.HTTPError as error:  # its process may have been killed; the next attempt starts another
        raise Unreachable(f"the embedded model does not answer: {error}") from error
