"""The local model as an OpenAI-compatible server inside this process, on loopback, with a key of its own.

xllamacpp is imported here and only when a server starts. A server lives until it is closed; `shared` keeps
one for the process and closes it when the interpreter ends, before the native library's own clean-up.
"""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

ALIAS = "weft-local"
SLOTS = 2
# Enough for a skill, a task and its inputs; each slot's share of memory grows with it.
CONTEXT = 8192
# What the server may keep of earlier prompts, in MiB; its own default is 8 GiB.
PROMPT_CACHE = 256
# Tokens of a prompt worked on in one go, between which a call can be ended; more is no faster on a CPU.
BATCH = 128
# The native server looks once a second, when nothing else happens, whether a call's caller has gone;
# asking it more often than that would keep it from looking.
POLL_SECONDS = 1.5
PATIENCE = 60.0
MISSING = "the embedded model needs the package xllamacpp, which is not installed"
REMEDY = (
    "Run `pip install 'weft[local]'` (in a checkout: `pip install -e '.[local]'`), "
    "or name another model with --model or WEFT_MODEL."
)


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
    """A running server; close it, or use it in a `with` statement."""

    def __init__(self, load: Load) -> None:
        library = _library()
        key = secrets.token_urlsafe(24)
        try:
            self._native: Any = library.Server(_parameters(library, load, key))
        except RuntimeError as error:
            raise SetupError(
                f"{load.path} could not be loaded as a model ({error})",
                hint="It may be damaged, too big for this machine's memory, or of a kind that this version "
                "does not know. `weft models remove` and `weft models pull` fetch it anew.",
            ) from error
        address = str(self._native.listening_address)
        self.endpoint = Endpoint(f"{address}/v1", key, ALIAS, self._slot_context(address, key))

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving and free the model; calls under way end with an error."""
        if self._native is None:
            return
        if not self._idle(POLL_SECONDS):
            hang_up(urlsplit(self.endpoint.base_url).port or 0)
            self._idle(PATIENCE)
        self._native = None

    def _idle(self, seconds: float) -> bool:
        """Wait until no call is under way: freed under one, the native server would wait for ever."""
        address, key = self.endpoint.base_url.removesuffix("/v1"), self.endpoint.api_key
        end = time.monotonic() + seconds
        while any(slot["is_processing"] for slot in _call(address, key, "GET", "/slots")):
            if time.monotonic() >= end:
                return False
            time.sleep(POLL_SECONDS)
        return True

    @property
    def running(self) -> bool:
        """Whether it still answers."""
        return self._native is not None

    @staticmethod
    def _slot_context(address: str, key: str) -> int:
        """The context window that a slot really got: a model may be made for less than was asked."""
        slots = _call(address, key, "GET", "/slots")
        return min(int(slot["n_ctx"]) for slot in slots)


def count_tokens(endpoint: Endpoint, messages: Sequence[dict[str, Any]]) -> int:
    """How many tokens the messages take of the context window, by the model's own template and tokenizer."""
    body = {"messages": list(messages)}
    address = endpoint.base_url.removesuffix("/v1")
    answer = _call(address, endpoint.api_key, "POST", "/v1/chat/completions/input_tokens", body)
    return int(answer["input_tokens"])


_lock = threading.Lock()
_shared: dict[Path, Server] = {}


def shared(load: Load) -> Endpoint:
    """The process's server for that model, started on first use.

    The native library is one per process, threads and memory included, so its server is too.
    """
    with _lock:
        server = _shared.get(load.path)
        if server is None:
            server = Server(load)
            if not _shared:
                atexit.register(close_shared)
            _shared[load.path] = server
        return server.endpoint


def close_shared() -> None:
    """Close what `shared` started; it may be started again afterwards."""
    with _lock:
        while _shared:
            _shared.popitem()[1].close()
    atexit.unregister(close_shared)


def _library() -> Any:
    # Without these, idle OpenMP threads spin, and on a busy machine everything slows down twentyfold.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    try:
        import xllamacpp
    except ImportError as error:
        raise SetupError(f"{MISSING} ({error})", hint=REMEDY) from error
    return xllamacpp


def _parameters(library: Any, load: Load, key: str) -> Any:
    parameters = library.CommonParams()
    parameters.model.path = str(load.path)
    parameters.model_alias = {ALIAS}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    # No page may call it from a browser; the web page it brings along is not served.
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.n_parallel = load.slots
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.n_ctx = load.context * load.slots
    parameters.cache_ram_mib = PROMPT_CACHE
    threads = load.threads or len(_cores())
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = 3 if load.verbose else -1
    return parameters


def hang_up(port: int) -> None:
    """Shut this process's own connections to that port on loopback, so that the calls on them end."""
    folder = next((path for path in map(Path, ("/proc/self/fd", "/dev/fd")) if path.is_dir()), None)
    for entry in list(folder.iterdir()) if folder else []:
        try:
            with socket.socket(fileno=os.dup(int(entry.name))) as connection:
                if connection.getpeername()[:2] == ("127.0.0.1", port):
                    connection.shutdown(socket.SHUT_RDWR)
        except OSError:  # not a socket, not connected, or closed meanwhile
            continue


def _cores() -> Sequence[int]:
    """The processors that this process may use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


def _call(address: str, key: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    # The loopback server is ours: a proxy of the user's must not come between.
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        response = client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"})
        response.raise_for_status()
        return response.json()
