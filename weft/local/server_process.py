"""The process that holds the embedded model: loads it, serves it on loopback, and ends with whoever started it.

A line of JSON on stdin says what to serve; a line on stdout says where it is served, or why it is not. The native
library keeps Python's lock for as long as it loads, seconds on end: in a process of its own that holds up nobody, and a
load that nobody waits for any more is ended like any process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# Tokens of a prompt worked on in one go, between which a call can be ended; more is no faster on a CPU.
_BATCH = 128
# What the server may keep of earlier prompts, in MiB; its own default is 8 GiB.
_PROMPT_CACHE = 256


def main() -> None:
    """Serve until stdin ends."""
    asked = json.loads(sys.stdin.readline())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever the library prints is no answer
    _end_with_stdin()
    served = None
    try:
        served = _serve(asked)
        answer = {"address": str(served.listening_address)}
    except ImportError as error:
        answer = {"missing": str(error)}
    except RuntimeError as error:
        answer = {"refused": str(error)}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    if served is not None:
        sys.stdin.read()
    os._exit(0)  # the library's own clean-up would wait for calls under way


def _end_with_stdin() -> None:
    """Have the system end this process when stdin does: while the model loads, nothing here could see to it."""
    if sys.platform == "win32":  # it has no such signal; there the load is ended once it is over
        return
    import fcntl
    import signal

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _serve(asked: dict[str, Any]) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = asked["path"]
    parameters.model_alias = {asked["alias"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [asked["key"]]
    # No page may call it from a browser; the web page it brings along is not served.
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.n_parallel = asked["slots"]
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.n_ctx = asked["context"] * asked["slots"]
    parameters.cache_ram_mib = _PROMPT_CACHE
    parameters.cpuparams.n_threads = asked["threads"]
    parameters.cpuparams_batch.n_threads = asked["threads"]
    parameters.verbosity = 3 if asked["verbose"] else -1
    return xllamacpp.Server(parameters)
