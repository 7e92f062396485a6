"""A seccomp filter as bytes: an allow-list of system calls, on x86-64 and arm64.

Landlock does not cover most kinds of sockets, a file's mode, owner, times and attributes, watching a folder, the limits
and priorities of other processes, or leaving a process group; a strict filter does. Calls that may aim at another
process may aim at oneself.
"""

from __future__ import annotations

import errno
import functools
import platform
from dataclasses import dataclass

from goalwright_skills.confinement import bpf, syscalls
from goalwright_skills.confinement.bpf import ALLOW, ASK, KILL, allow_values, refuse

INTERNET_FAMILIES = (2, 10, 16)  # IPv4, IPv6, and netlink, with which libraries list interfaces
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag
OWN_PID = 0x5EEDF00D  # stands for the tool's process, until the launcher knows its number
SIGNALS_STAY_INSIDE, TRUNCATE_IS_CHECKED = 6, 3  # since these versions of Landlock
# Terminals, sockets, reflinks, reading flags; neither setting flags (FS_IOC_SETFLAGS) nor who gets a socket's signals.
IOCTLS = ((0x5401, 0x5411), (0x5413, 0x541B), (0x541D, 0x54FF), (0x8903, 0x89FF), 0x802C542A, 0x402C542B,
          0x40049409, 0x4020940D, 0x80086601)  # fmt: skip
# Not F_SETOWN, F_SETSIG and F_SETOWN_EX, which aim signals, and no leases or directory notifications.
FCNTLS = ((0, 7), 9, 11, 16, (36, 38), (1027, 1040))
# Not PR_SET_DUMPABLE, which hides a process from the memory watcher, and nothing that names another process.
PRCTLS = ((1, 3), (5, 16), (21, 26), (29, 32), (36, 42), 47, (50, 58), (60, 61), (63, 68), 0x53564D41)
PERSONALITIES = (0, 0xFFFFFFFF)
ONESELF, PROCESS, PROCESS_IO, UNIX = (0,), 0, 1, 1
# Streams and packets, with the flags for new files: a pair of datagram sockets could write to any local service.
PAIRS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture: its audit constant, and its column in the tables of system calls."""

    audit: int
    column: int
    second_abi: int = 0  # numbers from here on belong to another calling convention (x32)

    def calls(self, *tables: str) -> dict[str, int]:
        """The calls of some tables, with their numbers here."""
        return {name: number for table in tables for name, number in syscalls.numbers(table, self.column).items()}

    @property
    def seccomp(self) -> int:
        """The number of the call that installs a filter."""
        return self.calls(syscalls.PROCESSES)["seccomp"]


ARM64 = Machine(audit=0xC00000B7, column=1)
X86_64 = Machine(audit=0xC000003E, column=0, second_abi=0x40000000)
MACHINES = {"aarch64": ARM64, "arm64": ARM64, "x86_64": X86_64, "amd64": X86_64}


def machine() -> Machine | None:
    """The numbers of this machine, or None if they are not known."""
    return MACHINES.get(platform.machine().lower())


@functools.cache
def current(*, network: bool, strict: bool, abi: int = SIGNALS_STAY_INSIDE) -> bytes:
    """The filter for this machine; empty if its numbers are not known."""
    known = machine()
    return program(known, network=network, strict=strict, abi=abi) if known is not None else b""


def program(machine: Machine, *, network: bool, strict: bool, abi: int = SIGNALS_STAY_INSIDE) -> bytes:
    """The filter as the kernel takes it; `strict` adds what Landlock, in this version, does not cover."""
    bodies = dict.fromkeys(machine.calls(*syscalls.ALLOWED).values(), bpf.step(bpf.RETURN, ALLOW))
    bodies |= dict.fromkeys(machine.calls(syscalls.DENIED).values(), refuse(errno.EPERM))
    leaving = refuse(errno.EPERM) if strict else bpf.step(bpf.RETURN, ALLOW)
    bodies |= dict.fromkeys(machine.calls(syscalls.LEAVING).values(), leaving)
    for table, answer in ((syscalls.WATCHING, errno.ENOSYS), (syscalls.ATTRIBUTES, errno.EOPNOTSUPP)):
        bodies |= dict.fromkeys(
            machine.calls(table).values(), refuse(answer) if strict else bpf.step(bpf.RETURN, ALLOW)
        )
    metadata = refuse(0) if strict else bpf.step(bpf.RETURN, ALLOW)
    bodies |= dict.fromkeys(machine.calls(syscalls.METADATA).values(), metadata)
    for name, body in (_checks(network=network) | _signals(inside=not strict or abi >= SIGNALS_STAY_INSIDE)).items():
        bodies[machine.calls(syscalls.CHECKED, syscalls.SIGNALS)[name]] = body
    if not strict or abi >= TRUNCATE_IS_CHECKED:
        bodies[machine.calls(syscalls.CHECKED)["truncate"]] = bpf.step(bpf.RETURN, ALLOW)
    code = [_prologue(machine)]
    if machine.second_abi:
        code += [bpf.step(bpf.JUMP_AT_LEAST, machine.second_abi, 0, 1), refuse(errno.ENOSYS)]
    return b"".join([*code, bpf.search(bodies, refuse(errno.ENOSYS))])


def gate(machine: Machine) -> bytes:
    """A filter that asks a listener about each new process or thread."""
    calls = machine.calls(syscalls.CHECKED, syscalls.PROCESSES)
    code = [_prologue(machine)]
    for name in ("clone", "fork", "vfork"):
        if name in calls:
            code += [bpf.step(bpf.JUMP_EQUAL, calls[name], 0, 1), bpf.step(bpf.RETURN, ASK)]
    return b"".join([*code, bpf.step(bpf.RETURN, ALLOW)])


def _prologue(machine: Machine) -> bytes:
    right = bpf.step(bpf.JUMP_EQUAL, machine.audit, 1, 0)
    return bpf.load(bpf.ARCHITECTURE) + right + bpf.step(bpf.RETURN, KILL) + bpf.load(bpf.NUMBER)


def _checks(*, network: bool) -> dict[str, bytes]:
    """The calls of which only some arguments are allowed."""
    namespaces = bpf.step(bpf.JUMP_ANY, NEW_NAMESPACES, 0, 1) + refuse(errno.EPERM)
    # No socket without the network; with it only those of the internet, never one to a local service.
    sockets = allow_values(0, INTERNET_FAMILIES, errno.EACCES) if network else refuse(errno.EACCES)
    own = dict.fromkeys(
        ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"),
        allow_values(0, ONESELF, errno.EPERM),
    )
    return own | {
        "socket": sockets,
        "socketpair": _both(UNIX, PAIRS, errno.EACCES),
        "clone": bpf.load(bpf.argument(0)) + namespaces + bpf.step(bpf.RETURN, ALLOW),
        "ioctl": allow_values(1, IOCTLS, errno.ENOTTY),
        "fcntl": allow_values(1, FCNTLS, errno.EINVAL),
        "prctl": allow_values(0, PRCTLS, errno.EINVAL),
        "personality": allow_values(0, PERSONALITIES, errno.EPERM),
        "setpriority": _both(PROCESS, ONESELF, errno.EPERM),
        "ioprio_set": _both(PROCESS_IO, ONESELF, errno.EPERM),
    }


def _both(kind: int, values: tuple[int, ...], answer: int) -> bytes:
    """Allow a call whose first argument is of a kind and whose second is one of some values."""
    first = bpf.load(bpf.argument(0)) + bpf.step(bpf.JUMP_EQUAL, kind, 1, 0) + refuse(answer)
    return first + allow_values(1, values, answer)


def _signals(*, inside: bool) -> dict[str, bytes]:
    """Signals: all of them if Landlock or a namespace keeps them inside, else only those to oneself."""
    names = syscalls.numbers(syscalls.SIGNALS, 0)
    if inside:
        return dict.fromkeys(names, bpf.step(bpf.RETURN, ALLOW))
    own = dict.fromkeys(("tgkill", "rt_tgsigqueueinfo", "rt_sigqueueinfo"), allow_values(0, (OWN_PID,), errno.EPERM))
    refused = dict.fromkeys(names, refuse(errno.EPERM))
    return refused | own | {"kill": allow_values(0, (0, OWN_PID), errno.EPERM)}
