"""A backend: the library or program that loads a model and serves it on loopback."""

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
    """A request to serve a model; `context` is in tokens per slot."""

    path: str
    alias: str
    key: str
    context: int
    slots: int
    threads: int
    verbose: bool
    states: str = ""  # the folder for prompt states; empty if none are saved


def library() -> Backend | None:
    """The library, if it is installed; it is not imported."""
    if find_spec(LIBRARY) is None:
        return None
    try:
        return Backend(LIBRARY, version(LIBRARY))
    except PackageNotFoundError:
        return Backend(LIBRARY, "of unknown version")


def command(program: Path, serving: Serving) -> list[str]:
    """The command line of llama-server, without the key, since all users of the machine can read it."""
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
        # Idle threads sleep, as with OpenMP above.
        "--poll": 0,
        # Fitting the context and warming up would double the time to load.
        "--fit": "off",
        "--verbosity": 4 if serving.verbose else 3,
    }
    if serving.states:
        options["--slot-save-path"] = serving.states
    flags = ["--no-ui", "--no-warmup", "--offline"]
    return [str(program), *(str(word) for option in options.items() for word in option), *flags]


def environment(serving: Serving) -> dict[str, str]:
    """The whole environment of llama-server: other variables could change its options or make it load a library."""
    return {**OPENMP, "LLAMA_API_KEY": serving.key}
