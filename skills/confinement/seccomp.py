"""A seccomp filter as bytes: it refuses the system calls that no tool needs, on x86-64 and arm64.

Landlock does not cover most kinds of sockets, a file's mode, owner and times, or leaving a process group; a strict
filter does. Changes of mode, owner and times then succeed without effect, since programs that copy files make them
all the time and would otherwise fail for no good reason.
"""

from __future__ import annotations

import errno
import functools
import platform
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ASK, ERRNO, KILL = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
INTERNET_FAMILIES = (2, 10, 16)  # IPv4, IPv6, and netlink, with which libraries list interfaces
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture: its audit constant, and the numbers of the system calls that the filter handles."""

    audit: int
    denied: Mapping[str, int]
    leaving: Mapping[str, int]
    metadata: Mapping[str, int]
    socket: int
    seccomp: int
    clone: int
    forks: tuple[int, ...] = ()
    clone3: int = 435
    io_uring: tuple[int, ...] = (425, 426, 427)
    second_abi: int = 0  # numbers from here on belong to another calling convention (x32)


ARM64 = Machine(
    audit=0xC00000B7,
    denied={
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268,
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438, "bpf": 280,
        "perf_event_open": 241, "add_key": 217, "request_key": 218,
        "keyctl": 219, "userfaultfd": 282, "init_module": 105,
        "finit_module": 273, "delete_module": 106, "kexec_load": 104, "kexec_file_load": 294,
        "open_by_handle_at": 265, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
        "fsmount": 432, "fspick": 433, "mount_setattr": 442, "swapon": 224, "reboot": 142, "acct": 89,
    },
    leaving={"setsid": 157, "setpgid": 154},
    metadata={
        "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchownat": 54, "fchown": 55, "utimensat": 88,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15,
        "fremovexattr": 16,
    },
    socket=198,
    seccomp=277,
    clone=220,
)  # fmt: skip
X86_64 = Machine(
    audit=0xC000003E,
    denied={
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "bpf": 321,
        "perf_event_open": 298, "add_key": 248, "request_key": 249,
        "keyctl": 250, "userfaultfd": 323, "init_module": 175,
        "finit_module": 313, "delete_module": 176, "kexec_load": 246, "kexec_file_load": 320,
        "open_by_handle_at": 304, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
        "fsmount": 432, "fspick": 433, "mount_setattr": 442, "swapon": 167, "reboot": 169, "acct": 163,
    },
    leaving={"setsid": 112, "setpgid": 109},
    metadata={
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
        "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
        "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    },
    socket=41,
    seccomp=317,
    clone=56,
    forks=(57, 58),
    second_abi=0x40000000,
)  # fmt: skip
MACHINES = {"aarch64": ARM64, "arm64": ARM64, "x86_64": X86_64, "amd64": X86_64}


def machine() -> Machine | None:
    """The numbers of this machine, or None if they are not known."""
    return MACHINES.get(platform.machine().lower())


@functools.cache
def current(*, network: bool, strict: bool) -> bytes:
    """The filter for this machine; empty if its numbers are not known."""
    known = machine()
    return program(known, network=network, strict=strict) if known is not None else b""


def program(machine: Machine, *, network: bool, strict: bool) -> bytes:
    """The filter as the kernel takes it; `strict` adds what Landlock does not cover."""
    code = [_step(LOAD, ARCHITECTURE), _step(JUMP_EQUAL, machine.audit, 1, 0), _step(RETURN, KILL)]
    code.append(_step(LOAD, NUMBER))
    if machine.second_abi:
        code += [_step(JUMP_AT_LEAST, machine.second_abi, 0, 1), _step(RETURN, ERRNO | errno.ENOSYS)]
    refused = dict.fromkeys(machine.denied.values(), errno.EPERM)
    # io_uring opens sockets unseen by seccomp; clone3 hides its flags in memory. Libraries fall back to other calls.
    refused |= dict.fromkeys((*machine.io_uring, machine.clone3), errno.ENOSYS)
    if strict:
        refused |= dict.fromkeys(machine.leaving.values(), errno.EPERM)
        refused |= dict.fromkeys(machine.metadata.values(), 0)
    for number, answer in refused.items():
        code += [_step(JUMP_EQUAL, number, 0, 1), _step(RETURN, ERRNO | answer)]
    code += _sockets(machine.socket, network=network)
    code += [_step(JUMP_EQUAL, machine.clone, 0, 3), _step(LOAD, FIRST_ARGUMENT)]
    code += [_step(JUMP_ANY, NEW_NAMESPACES, 0, 1), _step(RETURN, ERRNO | errno.EPERM)]
    code.append(_step(RETURN, ALLOW))
    return b"".join(code)


def gate(machine: Machine) -> bytes:
    """A filter that asks a listener about each new process or thread."""
    code = [_step(LOAD, ARCHITECTURE), _step(JUMP_EQUAL, machine.audit, 1, 0), _step(RETURN, KILL)]
    code.append(_step(LOAD, NUMBER))
    for number in (machine.clone, *machine.forks):
        code += [_step(JUMP_EQUAL, number, 0, 1), _step(RETURN, ASK)]
    return b"".join([*code, _step(RETURN, ALLOW)])


def _sockets(number: int, *, network: bool) -> list[bytes]:
    """No socket without the network; with it only those of the internet, never one to a local service."""
    refuse = _step(RETURN, ERRNO | errno.EACCES)
    if not network:
        return [_step(JUMP_EQUAL, number, 0, 1), refuse]
    families = [
        step for family in INTERNET_FAMILIES for step in (_step(JUMP_EQUAL, family, 0, 1), _step(RETURN, ALLOW))
    ]
    body = [_step(LOAD, FIRST_ARGUMENT), *families, refuse]
    return [_step(JUMP_EQUAL, number, 0, len(body)), *body]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
