"""Imports litellm once, as late as possible, and closes its connections.

The import takes 4 to 5 seconds, so commands start it in the background and do other work meanwhile.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from inspect import isawaitable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # use the bundled price list instead of fetching one at import
    "LITELLM_MODE": "PRODUCTION",  # do not read a .env file at import
}
# The attributes of litellm that hold callbacks, which log entries are prepared for.
_CALLBACKS = (
    "callbacks",
    "input_callback",
    "success_callback",
    "failure_callback",
    "_async_input_callback",
    "_async_success_callback",
    "_async_failure_callback",
)
# How many seconds the end of the program waits for the loading thread to reach its next import.
_EXIT_WAIT = 2.0
_importing = threading.Lock()


def load() -> Any:
    """Import litellm, once, and silence it."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    for name in list(os.environ):
        if name.endswith("_API_KEY") and not os.environ.get(name, "").strip():
            os.environ.pop(name, None)  # litellm would send an empty key
    # pydantic warns about one of litellm's own types whenever an answer is streamed
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier.*")
    litellm = _import()
    from goalwright.models.litellm import http_limits

    http_limits.install()
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def is_loaded() -> bool:
    """Whether litellm has been imported completely."""
    return hasattr(sys.modules.get("litellm"), "acompletion")


def preload() -> None:
    """Start loading litellm in the background."""
    _loader.start()


def _import() -> Any:
    with _importing, _garbage_collection_paused():
        try:
            import litellm
        except BaseException:
            # Python keeps the submodules that were imported, and a second import fails because of them: start afresh.
            for name in [name for name in list(sys.modules) if name == "litellm" or name.startswith("litellm.")]:
                del sys.modules[name]
            raise
    return litellm


@contextmanager
def without_log_entry(litellm: Any) -> Iterator[None]:
    """Keep litellm from preparing a log entry, a third of a call's CPU time, unless a program has set callbacks."""
    from litellm._internal_context import is_internal_call

    if any(getattr(litellm, name, None) for name in _CALLBACKS):
        yield
        return
    token = is_internal_call.set(True)
    try:
        yield
    finally:
        is_internal_call.reset(token)


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Pause garbage collection, which takes a sixth of the import's time and frees nothing."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class BackgroundLoader(MetaPathFinder):
    """Runs a slow import in a thread, and blocks that thread at its next import once the program ends.

    Python stops daemon threads at any point; inside an extension module that crashes the process.
    """

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self._name, self._load = name, load
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._exiting, self._blocked = threading.Event(), threading.Event()

    def start(self) -> None:
        """Start loading, unless a thread is at it already."""
        with self._starting:
            if self._thread is None:
                atexit.register(self._block)
            elif self._thread.is_alive():
                return
            self._thread = threading.Thread(target=self._load_quietly, name=self._name, daemon=True)
            self._thread.start()

    def _load_quietly(self) -> None:
        sys.meta_path.insert(0, self)
        try:
            with suppress(Exception):  # the next caller of `load` gets the error
                self._load()
        finally:
            sys.meta_path.remove(self)

    def _block(self) -> None:
        """Wait, for a limited time, until the thread is blocked or done."""
        self._exiting.set()
        deadline = time.monotonic() + _EXIT_WAIT
        while self._thread is not None and self._thread.is_alive() and time.monotonic() < deadline:
            if self._blocked.wait(0.01):
                return

    def find_spec(self, *_: object) -> None:
        """Find no module; when the program ends, block the loading thread forever."""
        if self._exiting.is_set() and threading.current_thread() is self._thread:
            self._blocked.set()
            threading.Event().wait()


_loader = BackgroundLoader("load litellm", load)


class LoopConnections:
    """Counts the calls of each event loop, so that closing one loop's clients never affects the calls of another."""

    def __init__(self) -> None:
        self._calls: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
        self._counting = threading.Lock()

    @contextmanager
    def in_use(self, litellm: Any) -> Iterator[None]:
        """Keep the connections of this event loop open during a call."""
        loop = asyncio.get_running_loop()
        with self._counting:
            if loop not in self._calls:
                _pop_clients(litellm, loop)  # left behind by a closed loop with the same id
            self._calls[loop] = self._calls.get(loop, 0) + 1
        try:
            yield
        finally:
            with self._counting:
                self._calls[loop] -= 1

    async def close(self, litellm: Any) -> None:
        """Close the connections of this event loop, unless a call of another run still uses them."""
        loop = asyncio.get_running_loop()
        with self._counting:
            if self._calls.get(loop):
                return
            clients = _pop_clients(litellm, loop)
            if not any(self._calls.values()):  # all loops share this client
                clients.append(getattr(litellm, "base_llm_aiohttp_handler", None))
        for client in clients:
            close = getattr(client, "aclose", None) or getattr(client, "close", None)
            with suppress(Exception):  # what is still open ends with the process
                closing = close() if close is not None else None
                if isawaitable(closing):
                    await closing


connections = LoopConnections()


async def close() -> None:
    """Close litellm's connections of this event loop if no call uses them; a later call opens new ones."""
    litellm = sys.modules.get("litellm")
    # `load` sets this after the import: do not wait for another thread that is still importing
    if getattr(litellm, "suppress_debug_info", False):
        await connections.close(litellm)


def _pop_clients(litellm: Any, loop: asyncio.AbstractEventLoop) -> list[Any]:
    """Remove the clients of an event loop from litellm's cache, whose keys end with the loop's id."""
    cache, suffix = litellm.in_memory_llm_clients_cache, f"-{id(loop)}"
    names = [name for name in list(cache.cache_dict) if name.endswith(suffix)]
    clients = [cache.cache_dict.pop(name, None) for name in names]
    for name in names:
        cache.ttl_dict.pop(name, None)
    return clients
