"""The warm process that others are forked from.

Each connection is one process: the request carries the standard files; the process id and later the exit status are
sent back.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import socket
import sys
import tempfile
import threading
from contextlib import chdir, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import NoReturn

_LONGEST_REQUEST = 2**20
_MOST_FILES = 16
_OUT_OF_THE_WAY = 200
_SET_BY_LITELLM = ("TIKTOKEN_CACHE_DIR",)  # read at import; without it litellm downloads a tokenizer
PYTHON = "TESTS_PYTHON"  # the program to run as Python
_NOT_WARMED = (
    "__main__",
    "goalwright.testing",
    "engines.ray.cluster",
)  # it would shut Ray down at the end of every process


@dataclass(frozen=True)
class Request:
    """A request to run `python COMMAND` in an environment and folder, with descriptors beyond 0 to 2."""

    command: list[str]
    env: dict[str, str]
    cwd: str
    descriptors: list[int]
    session: bool


def send(connection: socket.socket, request: Request, files: list[int]) -> None:
    """Send a request with its files."""
    socket.send_fds(connection, [json.dumps(asdict(request)).encode()], files)


def _serve(listener: socket.socket) -> list[str]:
    """Fork for each connection and report exit statuses; return only in a child that runs a command."""
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        ready, _, _ = select.select([listener, sys.stdin, *running], [], [])
        for descriptor in running.keys() & ready:
            _tell_end(descriptor, *running.pop(descriptor))
        if listener in ready:
            connection, _ = listener.accept()
            body, files, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, _MOST_FILES)
            child = os.fork() if body else -1
            if child == 0:
                for other in running:
                    os.close(other)
                request = Request(**json.loads(body))
                for held in (listener, connection, *(held for _, held in running.values())):
                    held.close()
                _become(request, files)
                return request.command
            for file in files:
                os.close(file)
            if child < 0:  # the client is gone
                connection.close()
                continue
            running[os.pidfd_open(child)] = (child, connection)
            _tell(connection, child)
        elif sys.stdin in ready:
            sys.exit(0)


def _tell(connection: socket.socket, number: int) -> None:
    with suppress(OSError):  # the client may be gone; the process notices from its files
        connection.send(str(number).encode())


def _tell_end(descriptor: int, pid: int, connection: socket.socket) -> None:
    os.close(descriptor)
    with connection:
        _tell(connection, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _become(request: Request, files: list[int]) -> None:
    """Apply the requested environment, folder and files."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for descriptor in files]
    for descriptor in files:
        os.close(descriptor)
    for descriptor, number in zip(moved, [0, 1, 2, *request.descriptors], strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if request.session:
        os.setsid()
    kept = {name: os.environ[name] for name in _SET_BY_LITELLM if name in os.environ}
    os.environ.clear()
    os.environ.update(kept | request.env)
    sys.executable = os.environ.get(PYTHON, sys.executable)
    os.chdir(request.cwd)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - as long as the process lives
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115


def _execute(command: list[str]) -> None:
    """Run `-m MODULE`, `-c CODE` or a file."""
    given = [one for one in command if one != "-P"]
    if not given[0].startswith("-"):
        sys.argv = given
        runpy.run_path(given[0], run_name="__main__")
        return
    kind, program, arguments = given[0], given[1], given[2:]
    if kind == "-m":
        sys.argv = [program, *arguments]
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    assert kind == "-c", f"neither a file nor -m nor -c: {command}"
    sys.argv = ["-c", *arguments]
    module = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(program, "<string>", "exec"), module.__dict__)  # noqa: S102 - as `python -c` does


def _leave(code: str | int | None) -> NoReturn:
    """Exit like Python, but without freeing memory, which takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads, as Python does
    atexit._run_exitfuncs()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    status = code if isinstance(code, int) else int(code is not None)
    for file in (sys.stdout, sys.stderr):
        try:
            file.flush()
        except (OSError, ValueError):  # a closed pipe or file
            status = status or 120
    os._exit(status)


def _fork_workers(address: str) -> None:
    """Fork the call workers of `goalwright batch` here too; they import little besides litellm."""
    from goalwright.models.call_process import spawn
    from tests.nursery import Nursery

    spawn.private = Nursery(address).start_worker  # type: ignore[assignment]


def import_litellm() -> None:
    """Import litellm and the modules that it imports at its first call."""
    from goalwright.models.litellm import lifecycle

    lifecycle.load()
    for name in ("openai.resources", "litellm.litellm_core_utils.default_encoding"):
        importlib.import_module(name)


def _warm_up() -> None:
    """Import the modules that runs import."""
    import_litellm()
    packages = [
        importlib.import_module(name)
        for name in ("goalwright", "goalwright_executor", "goalwright_planner", "goalwright_skills")
    ]
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(_NOT_WARMED):
                importlib.import_module(module.name)
    importlib.import_module("snowballstemmer")
    importlib.import_module("goalwright_planner.prompting.prompts").Prompts().check()
    with tempfile.TemporaryDirectory(prefix="warm-") as folder:
        _run_once(Path(folder))
    assert threading.active_count() == 1, "whoever is forked from here would lack the other threads"


def _run_once(folder: Path) -> None:
    """Run a goal to fill in-memory caches: stems, schemas, templates, types.

    This includes the index of the bundled skills, alone and with the skill of most test workspaces.
    """
    from goalwright.interfaces.cli.main import cli
    from goalwright_skills.selection.index import building
    from tests.indexed_once import add_cataloging, remembered
    from tests.openai_server import OpenAIServer, scripted

    tasks = [{"id": name, "action_type": "llm", "instruction": "Greet", "depends_on": []} for name in "ab"]
    with OpenAIServer(scripted({"tasks": tasks})) as server, chdir(folder), redirect_stdout(io.StringIO()):
        for name in set(os.environ).difference(_SET_BY_LITELLM):
            del os.environ[name]  # nothing of the user's; forked processes get another environment
        os.environ.update(HOME=str(folder), PATH=os.defpath, OPENAI_API_BASE=server.base, OPENAI_API_KEY="sk-test")
        building.sections = remembered(building.sections)  # type: ignore[assignment]
        run = ["run", "--quiet", "--model", "openai/test-model", "Say hello"]
        for command in (run, ["trace", "show", "last"], ["skills", "select", "Catalog the APIs"]):
            if command[0] == "skills":
                add_cataloging(folder)
            assert not cli.main(args=command, prog_name="goalwright", standalone_mode=False, obj=command), command


def main(descriptor: int) -> None:
    """Serve requests on this socket."""
    listener = socket.socket(fileno=descriptor)
    gc.collect()
    gc.freeze()  # memory shared with children stays shared
    command = _serve(listener)
    try:
        _execute(command)
    except SystemExit as end:
        _leave(end.code)
    _leave(None)


if __name__ == "__main__":
    _warm_up()
    number = int(sys.argv[1])
    with socket.fromfd(number, socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        _fork_workers(listening.getsockname())
    main(number)
