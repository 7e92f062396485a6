"""The seccomp filter as bytes: an allow-list of system calls on x86-64 and arm64.

Landlock does not restrict most kinds of sockets, a file's mode, owner, times and attributes, watching a folder, the
limits and priorities of other processes, or leaving a process group; a strict filter does. System calls that can target
another process are allowed only for the caller itself.
"""

from __future__ import annotations

import errno
import functools
import platform
import struct
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from goalwright_skills.confinement import syscalls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOAD, JUMP, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ABOVE, JUMP_ANY, RETURN = 0x20, 0x05, 0x15, 0x35, 0x25, 0x45, 0x06
ALLOW, ASK, ERRNO, KILL = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
INSTRUCTION = 8  # bytes
LONGEST_JUMP = 255

INTERNET_FAMILIES = (2, 10, 16)  # IPv4, IPv6, and netlink, with which libraries list interfaces
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag
OWN_PID = 0x5EEDF00D  # a placeholder, which the launcher replaces with the tool's process id
SIGNALS_STAY_INSIDE, TRUNCATE_IS_CHECKED = 6, 3  # the versions of Landlock that restrict them
# Terminals, sockets, reflinks, reading flags; not setting flags (FS_IOC_SETFLAGS) or the owner of a socket's signals.
IOCTLS = ((0x5401, 0x5411), (0x5413, 0x541B), (0x541D, 0x54FF), (0x8903, 0x89FF), 0x802C542A, 0x402C542B,
          0x40049409, 0x4020940D, 0x80086601)  # fmt: skip
# Not F_SETOWN, F_SETSIG and F_SETOWN_EX, which redirect signals, nor leases or directory notifications.
FCNTLS = ((0, 7), 9, 11, 16, (36, 38), (1027, 1040))
# Not PR_SET_DUMPABLE, which hides a process from the memory watcher, nor options that name another process.
PRCTLS = ((1, 3), (5, 16), (21, 26), (29, 32), (36, 42), 47, (50, 58), (60, 61), (63, 68), 0x53564D41)
PERSONALITIES = (0, 0xFFFFFFFF)
SELF, PROCESS, PROCESS_IO, UNIX = (0,), 0, 1, 1
# Stream and packet sockets with the flags for new files; a pair of datagram sockets could write to local services.
PAIRS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture: its audit constant, and its column in the tables of system calls."""

    audit: int
    column: int
    second_abi: int = 0  # the first number of another calling convention (x32)

    def calls(self, *tables: str) -> dict[str, int]:
        """Return the system calls of some tables with their numbers."""
        return {name: number for table in tables for name, number in syscalls.numbers(table, self.column).items()}

    @property
    def seccomp(self) -> int:
        """The number of the system call that installs a filter."""
        return self.calls(syscalls.PROCESSES)["seccomp"]


ARM64 = Machine(audit=0xC00000B7, column=1)
X86_64 = Machine(audit=0xC000003E, column=0, second_abi=0x40000000)
MACHINES = {"aarch64": ARM64, "arm64": ARM64, "x86_64": X86_64, "amd64": X86_64}


def machine() -> Machine | None:
    """Return this machine's architecture; None if it is not supported."""
    return MACHINES.get(platform.machine().lower())


@functools.cache
def current(*, network: bool, strict: bool, abi: int = SIGNALS_STAY_INSIDE) -> bytes:
    """Return the filter for this machine; empty if its architecture is not supported."""
    here = machine()
    return program(here, network=network, strict=strict, abi=abi) if here is not None else b""


def program(machine: Machine, *, network: bool, strict: bool, abi: int = SIGNALS_STAY_INSIDE) -> bytes:
    """Return the filter; `strict` also restricts the calls that this version of Landlock does not."""
    bodies = dict.fromkeys(machine.calls(*syscalls.ALLOWED).values(), ALLOWED)
    bodies |= dict.fromkeys(machine.calls(syscalls.DENIED).values(), refuse(errno.EPERM))
    for table, error in (
        (syscalls.LEAVING, errno.EPERM),
        (syscalls.WATCHING, errno.ENOSYS),
        (syscalls.ATTRIBUTES, errno.EOPNOTSUPP),
        (syscalls.METADATA, 0),
    ):
        bodies |= dict.fromkeys(machine.calls(table).values(), refuse(error) if strict else ALLOWED)
    for name, body in (_checks(network=network) | _signals(inside=not strict or abi >= SIGNALS_STAY_INSIDE)).items():
        bodies[machine.calls(syscalls.CHECKED, syscalls.SIGNALS)[name]] = body
    if not strict or abi >= TRUNCATE_IS_CHECKED:
        bodies[machine.calls(syscalls.CHECKED)["truncate"]] = ALLOWED
    code = [_prologue(machine)]
    if machine.second_abi:
        code += [step(JUMP_AT_LEAST, machine.second_abi, 0, 1), refuse(errno.ENOSYS)]
    return b"".join([*code, search(bodies, refuse(errno.ENOSYS))])


def gate(machine: Machine) -> bytes:
    """Return a filter that asks a listener about each new process or thread."""
    calls = machine.calls(syscalls.CHECKED, syscalls.PROCESSES)
    code = [_prologue(machine)]
    for name in ("clone", "fork", "vfork"):
        if name in calls:
            code += [step(JUMP_EQUAL, calls[name], 0, 1), step(RETURN, ASK)]
    return b"".join([*code, ALLOWED])


def _prologue(machine: Machine) -> bytes:
    check = step(JUMP_EQUAL, machine.audit, 1, 0)
    return load(ARCHITECTURE) + check + step(RETURN, KILL) + load(NUMBER)


def _checks(*, network: bool) -> dict[str, bytes]:
    """Return the programs for calls that are allowed with some arguments only."""
    namespaces = step(JUMP_ANY, NEW_NAMESPACES, 0, 1) + refuse(errno.EPERM)
    # Without the network no sockets; with it only internet sockets, never one to a local service.
    sockets = allow_values(0, INTERNET_FAMILIES, errno.EACCES) if network else refuse(errno.EACCES)
    own = dict.fromkeys(
        ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"),
        allow_values(0, SELF, errno.EPERM),
    )
    return own | {
        "socket": sockets,
        "socketpair": _both(UNIX, PAIRS, errno.EACCES),
        "clone": load(argument(0)) + namespaces + ALLOWED,
        "ioctl": allow_values(1, IOCTLS, errno.ENOTTY),
        "fcntl": allow_values(1, FCNTLS, errno.EINVAL),
        "prctl": allow_values(0, PRCTLS, errno.EINVAL),
        "personality": allow_values(0, PERSONALITIES, errno.EPERM),
        "setpriority": _both(PROCESS, SELF, errno.EPERM),
        "ioprio_set": _both(PROCESS_IO, SELF, errno.EPERM),
    }


def _both(kind: int, values: tuple[int, ...], error: int) -> bytes:
    """Allow a call whose first argument is `kind` and whose second is one of `values`."""
    first = load(argument(0)) + step(JUMP_EQUAL, kind, 1, 0) + refuse(error)
    return first + allow_values(1, values, error)


def _signals(*, inside: bool) -> dict[str, bytes]:
    """Return the programs for signals: to any process if Landlock or a namespace confines them, else to oneself."""
    names = syscalls.numbers(syscalls.SIGNALS, 0)
    if inside:
        return dict.fromkeys(names, ALLOWED)
    own = dict.fromkeys(("tgkill", "rt_tgsigqueueinfo", "rt_sigqueueinfo"), allow_values(0, (OWN_PID,), errno.EPERM))
    refused = dict.fromkeys(names, refuse(errno.EPERM))
    return refused | own | {"kill": allow_values(0, (0, OWN_PID), errno.EPERM)}


def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Return one BPF instruction."""
    return struct.pack("=HBBI", code, yes, no, value)


def load(offset: int) -> bytes:
    """Load a word of `struct seccomp_data`."""
    return step(LOAD, offset)


def argument(number: int) -> int:
    """Return the offset of an argument's lower half; the kernel reads no more of the arguments checked here."""
    return FIRST_ARGUMENT + 8 * number


def refuse(error: int) -> bytes:
    """Refuse the call with an error number."""
    return step(RETURN, ERRNO | error)


def allow_values(number: int, values: Sequence[int | tuple[int, int]], error: int) -> bytes:
    """Allow the call if an argument has one of these values or lies in one of these ranges; else refuse it."""
    body = [load(argument(number))]
    for value in values:
        first, last = value if isinstance(value, tuple) else (value, value)
        body += [step(JUMP_AT_LEAST, first, 0, 2), step(JUMP_ABOVE, last, 1, 0), ALLOWED]
    return b"".join([*body, refuse(error)])


def search(bodies: Mapping[int, bytes], default: bytes) -> bytes:
    """Run the program of the loaded number by binary search, because the kernel runs the filter on every call."""
    programs = [(number, bodies.get(number, default)) for number in range(max(bodies) + 2)]
    spans = [(next(group)[0], body) for body, group in groupby(programs, key=lambda pair: pair[1])]
    return _bisect(spans)


def _bisect(spans: list[tuple[int, bytes]]) -> bytes:
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    below, above = _bisect(spans[:middle]), _bisect(spans[middle:])
    size = len(below) // INSTRUCTION
    if size <= LONGEST_JUMP:
        return step(JUMP_AT_LEAST, spans[middle][0], size, 0) + below + above
    return step(JUMP_AT_LEAST, spans[middle][0], 0, 1) + step(JUMP, size) + below + above


ALLOWED = step(RETURN, ALLOW)
