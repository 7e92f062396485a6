"""The process of the embedded model: loads it, serves it on loopback, and ends with its parent.

It reads a request as a line of JSON from stdin, and prints a line with the address or an error. The native library
holds Python's GIL while it loads, which can take seconds: in its own process it blocks nothing else, and can be killed
when nobody waits for it any more. With a `command`, the process becomes that program, which prints its log and address.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Serve until stdin ends."""
    request = json.loads(sys.stdin.readline())
    _end_with_stdin()
    if "command" in request:
        _become(request["command"], request["environment"])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # keep the library's own output off stdout
    server = None
    try:
        server = _serve(request)
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
    """Replace this process with the program; stdin, and the signal when it closes, stay the same."""
    os.dup2(1, 2)
    try:
        # llama.cpp also loads libraries from the current folder, which may be untrusted.
        os.chdir(Path(command[0]).parent)
        os.execve(command[0], command, environment)  # noqa: S606 - no shell is request
    except OSError as error:
        os.write(1, json.dumps({"refused": f"{command[0]} cannot be started: {error.strerror}"}).encode() + b"\n")
        os._exit(1)


def _serve(request: dict[str, Any]) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = request["path"]
    parameters.model_alias = {request["alias"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [request["key"]]
    # No web page may call it, and its own web page is disabled.
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.n_parallel = request["slots"]
    parameters.n_batch = parameters.n_ubatch = request["batch"]
    parameters.n_ctx = request["context"] * request["slots"]
    parameters.cache_ram_mib = request["prompt_cache"]
    if request["states"]:
        parameters.slot_save_path = f"{request['states']}/"
    parameters.cpuparams.n_threads = request["threads"]
    parameters.cpuparams_batch.n_threads = request["threads"]
    parameters.verbosity = 3 if request["verbose"] else -1
    return xllamacpp.Server(parameters)
