"""A backend: what loads a model and serves it on loopback."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = "xllamacpp"
# Prompt tokens per batch; a call can be stopped between batches, and larger ones are no faster on a CPU.
BATCH = 128
# Memory for cached prompts, in MiB; the server's own default is 8 GiB.
PROMPT_CACHE = 256
# Without these, idle OpenMP threads spin, which on a busy machine slows everything down twentyfold.
OPENMP = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


@dataclass(frozen=True, slots=True)
class Backend:
    """The library in a Python process, or, with `program`, llama.cpp's own server."""

    name: str
    version: str
    program: Path | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Serving:
    """What a backend is asked to serve; `context` is per slot, in tokens."""

    path: str
    alias: str
    key: str
    context: int
    slots: int
    threads: int
    verbose: bool
    states: str = ""  # the folder for what slots have read; empty if none is kept


def library() -> Backend | None:
    """The library, if it is installed; it is not imported."""
    if find_spec(LIBRARY) is None:
        return None
    try:
        return Backend(LIBRARY, version(LIBRARY))
    except PackageNotFoundError:
        return Backend(LIBRARY, "of unknown version")


def command(program: Path, serving: Serving) -> list[str]:
    """The command line of llama-server; the key is not in it, because every user of the machine can read it."""
    options = {
        "--model": serving.path,
        "--alias": serving.alias,
        "--host": "127.0.0.1",
        "--port": "0",
        # No web page may call it.
        "--cors-origins": "",
        "--parallel": serving.slots,
        "--ctx-size": serving.context * serving.slots,
        "--batch-size": BATCH,
        "--ubatch-size": BATCH,
        "--cache-ram": PROMPT_CACHE,
        "--threads": serving.threads,
        "--threads-batch": serving.threads,
        # Threads that wait for work sleep, as those of OpenMP do above.
        "--poll": 0,
        # What a context takes is known, and the first call warms up: both would double the time to load.
        "--fit": "off",
        "--verbosity": 4 if serving.verbose else 3,
    }
    if serving.states:
        options["--slot-save-path"] = serving.states
    flags = ["--no-ui", "--no-warmup", "--offline"]
    return [str(program), *(str(word) for option in options.items() for word in option), *flags]


def environment(serving: Serving) -> dict[str, str]:
    """All that llama-server gets of the environment: variables could change its options, or have it load a library."""
    return {**OPENMP, "LLAMA_API_KEY": serving.key}
