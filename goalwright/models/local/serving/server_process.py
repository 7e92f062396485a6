"""The process of the embedded model: loads it, serves it on loopback, and ends with its parent.

A line of JSON on stdin says what to serve; a line on stdout gives the address, or the reason for a failure. The native
library holds Python's GIL for as long as it loads, which can take seconds: in a process of its own it blocks nothing
else, and can be killed when nobody waits for it any more. With a `command`, the process becomes that program, which
prints its log and its address on stdout.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Serve until stdin ends."""
    wanted = json.loads(sys.stdin.readline())
    _end_with_stdin()
    if "command" in wanted:
        _become(wanted["command"], wanted["environment"])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # keep the library's own output off stdout
    server = None
    try:
        server = _serve(wanted)
        answer = {"address": str(server.listening_address)}
    except ImportError as error:
        answer = {"missing": str(error)}
    except RuntimeError as error:
        answer = {"refused": str(error)}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    if server is not None:
        sys.stdin.read()
    os._exit(0)  # the library's own clean-up would wait for calls in progress


def _end_with_stdin() -> None:
    """Have the system kill this process when stdin closes, because no Python code runs while the model loads."""
    if sys.platform == "win32":  # no such signal; there the process ends after the load
        return
    import fcntl
    import signal

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _become(command: list[str], environment: dict[str, str]) -> None:
    """Run the program in place of this one: stdin, and what happens when it closes, stay as they are."""
    os.dup2(1, 2)
    try:
        # llama.cpp also looks for libraries in the current folder, which may be anyone's.
        os.chdir(Path(command[0]).parent)
        os.execve(command[0], command, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(1, json.dumps({"refused": f"{command[0]} cannot be started: {error.strerror}"}).encode() + b"\n")
        os._exit(1)


def _serve(wanted: dict[str, Any]) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = wanted["path"]
    parameters.model_alias = {wanted["alias"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [wanted["key"]]
    # No web page may call it, and its own web page is not served.
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.n_parallel = wanted["slots"]
    parameters.n_batch = parameters.n_ubatch = wanted["batch"]
    parameters.n_ctx = wanted["context"] * wanted["slots"]
    parameters.cache_ram_mib = wanted["prompt_cache"]
    if wanted["states"]:
        parameters.slot_save_path = f"{wanted['states']}/"
    parameters.cpuparams.n_threads = wanted["threads"]
    parameters.cpuparams_batch.n_threads = wanted["threads"]
    parameters.verbosity = 3 if wanted["verbose"] else -1
    return xllamacpp.Server(parameters)
