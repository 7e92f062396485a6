"""Starts one tool confined by Landlock and seccomp, watches it, and kills its process group when it ends.

Run by a bare interpreter (`-I -S`) with its orders as JSON. It imports nothing from goalwright, because the child that
becomes the tool is a fork of it, and little else, because every import costs time at every call. The watching parent is
not confined. It kills the group when the tool ends, on SIGTERM, and when goalwright dies, which also sends SIGTERM.

Orphaned processes become children of the watcher, so it can kill the whole tree and count it (see process_gate.py).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
import time

TYPE_CHECKING = False  # typing takes five milliseconds to import
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from goalwright_skills.confinement.process_gate import ProcessGate

SET_DEATH_SIGNAL, SET_SECCOMP, DROP_BOUNDING, ADOPT_ORPHANS, NO_NEW_PRIVILEGES = 1, 22, 24, 36, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
CAPABILITIES_VERSION = 0x20080522
OWN_PID = struct.pack("=I", 0x5EEDF00D)
SETUP_FAILED = 125  # the exit status
AWAITED = frozenset({signal.SIGCHLD, signal.SIGTERM})
KILL_ATTEMPTS = 1_000

libc = ctypes.CDLL(None, use_errno=True)


def main(gate_type: type[ProcessGate] | None = None) -> NoReturn:
    """Fork the tool and watch it, with a gate that counts its processes if one is passed."""
    orders = json.loads(_orders(sys.argv[1]))
    for group in orders["groups"]:
        with open(group + "/cgroup.procs", "w") as file:  # noqa: PTH123  pathlib costs milliseconds
            file.write("0")
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    _die_with_parent(signal.SIGTERM, orders["parent"])
    if sys.platform.startswith("linux"):
        _prctl(ADOPT_ORPHANS, 1)
    watcher = os.getpid()
    gate = gate_type(orders["processes"]) if gate_type else None
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            _die_with_parent(signal.SIGKILL, watcher)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED)
            confine(orders, gate)
        except BaseException as error:  # noqa: BLE001  the child must never continue as a second watcher
            os.write(2, f"goalwright: the sandbox could not be set up: {error}\n".encode())
            os._exit(SETUP_FAILED)
        become(orders)
    if gate:
        gate.receive()
    watch(child, gate)


def _orders(argument: str) -> str:
    """Return the orders: the argument itself, or the contents of the open file that it names."""
    if not argument.startswith("@"):
        return argument
    fd = int(argument[1:])
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, encoding="utf-8") as file:
        return file.read()


def watch(child: int, gate: ProcessGate | None) -> NoReturn:
    """Wait until the tool ends, SIGTERM arrives or there are too many processes; then kill all its processes."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    while True:
        number = gate.wait() if gate else signal.sigwait(AWAITED)
        if number == signal.SIGTERM or _ended(child):
            break
        if gate and gate.overrun():
            os.write(2, f"goalwright: more than {gate.limit} processes at once, so all were killed\n".encode())
            break
        _reap(child)
    try:
        # The tool is not reaped yet, so its group id cannot have been reused.
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _kill_orphans()
    os._exit(code if code >= 0 else 128 - code)


def _children(number: str, thread: str) -> list[str]:
    with open(f"/proc/{number}/task/{thread}/children") as file:  # noqa: PTH123  pathlib costs milliseconds
        return file.read().split()


def _reap(tool: int) -> None:
    """Reap orphans that have ended, so that they no longer count; the tool itself is reaped last."""
    me = str(os.getpid())
    try:
        orphans = [int(number) for number in _children(me, me) if int(number) != tool]
        for orphan in orphans:
            os.waitpid(orphan, os.WNOHANG)
    except (OSError, ValueError):
        return  # this kernel does not list children


def _kill_orphans() -> None:
    """Kill and reap processes that left the group, which is possible without confinement."""
    me = str(os.getpid())
    for _ in range(KILL_ATTEMPTS):
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            for number in _children(me, me):
                os.kill(int(number), signal.SIGKILL)
        except OSError:
            return  # no process is left
        time.sleep(0.002)


def _ended(child: int) -> bool:
    """Whether the tool has ended, without reaping it; without `waitid`, SIGCHLD counts as its end."""
    if not hasattr(os, "waitid"):
        return True
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def confine(orders: dict[str, Any], gate: ProcessGate | None) -> None:
    """Confine this process; raises OSError if a step fails."""
    for name, value in orders["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))
    if "ruleset" not in orders:
        if gate:
            gate.install(orders)
        return
    _prctl(NO_NEW_PRIVILEGES, 1)
    _landlock(orders["ruleset"])
    _drop_capabilities()
    if gate:
        gate.install(orders)
    # A filter that allows signals only to oneself has a placeholder for the process id.
    process = struct.pack("=I", os.getpid())
    _seccomp(bytes.fromhex(orders["filter"]).replace(OWN_PID, process))


def become(orders: dict[str, Any]) -> NoReturn:
    """Execute the tool; a Python script runs in this interpreter, which saves the start of a second one."""
    argv = orders["argv"]
    os.environ.update(orders["env"])
    if not orders["script"]:
        try:
            os.execvpe(argv[0], argv, os.environ)  # noqa: S606  no shell is needed
        except OSError as error:
            os.write(2, f"goalwright: {argv[0]}: {error.strerror}\n".encode())
            os._exit(127)
    import site

    script = orders["script"]
    sys.argv = argv[argv.index(script) :]
    site.main()
    sys.path.insert(0, os.path.dirname(script))  # noqa: PTH120  pathlib costs milliseconds
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__dict__.update(__file__=script, __builtins__=__builtins__)
    with open(script, "rb") as file:  # noqa: PTH123
        source = file.read()
    exec(compile(source, script, "exec"), main.__dict__)  # noqa: S102  the script is the tool
    _exit()


def _exit() -> NoReturn:
    """Exit like an interpreter, but without its teardown, which only costs time."""
    import atexit

    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # the tool closed them
        os._exit(0)
    os._exit(0)


def _landlock(ruleset: dict[str, Any]) -> None:
    fields = struct.pack("=QQQ", ruleset["handled"], 0, ruleset["scoped"])
    size = 24 if ruleset["scoped"] else 8
    fd = _syscall(CREATE_RULESET, fields, ctypes.c_size_t(size), 0)
    own_proc = (f"/proc/{os.getpid()}", 12)
    for path, rights in (*ruleset["rules"], own_proc):
        try:
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # a path that does not exist needs no rule
        _syscall(ADD_RULE, fd, 1, struct.pack("=Qi", rights, parent), 0)
        os.close(parent)
    _syscall(RESTRICT_SELF, fd, 0)
    os.close(fd)


def _drop_capabilities() -> None:
    """Make root an ordinary user; an empty bounding set keeps exec from restoring capabilities."""
    if os.geteuid() == 0:
        number = 0
        while libc.prctl(DROP_BOUNDING, number, 0, 0, 0) == 0:
            number += 1
    header = struct.pack("=Ii", CAPABILITIES_VERSION, 0)
    if libc.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0)) != 0:
        raise OSError(ctypes.get_errno(), "capset failed")


def _seccomp(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    _prctl(SET_SECCOMP, 2, filters)


def _die_with_parent(number: int, parent: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    _prctl(SET_DEATH_SIGNAL, int(number))
    if os.getppid() != parent:  # the parent died before the signal was set
        os._exit(SETUP_FAILED)


def _prctl(*arguments: Any) -> None:
    if libc.prctl(*_padded(arguments, 5)) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {arguments[0]} failed")


def _syscall(*arguments: Any) -> int:
    result = libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {arguments[0]} failed")
    return int(result)


def _padded(arguments: tuple[Any, ...], length: int) -> list[Any]:
    padded = [*arguments, *[0] * (length - len(arguments))]
    return [ctypes.c_ulong(a) if isinstance(a, int) else a for a in padded]
