"""The decisions of the seccomp filter on both architectures, computed by a small BPF interpreter."""

from __future__ import annotations

import errno
import struct

import pytest

from goalwright_skills.confinement import launcher, syscalls
from goalwright_skills.confinement.seccomp import ALLOW, ARM64, ERRNO, KILL, OWN_PID, X86_64, Machine, gate, program

UNIX, INTERNET = 1, 2
OTHER = 4711
REFUSED, MISSING = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS


def decide(code: bytes, number: int, audit: int, first: int = 0, second: int = 0) -> int:
    """Run a filter as the kernel does and return its answer."""
    data = {0: number, 4: audit, 16: first, 24: second}
    steps = list(struct.iter_unpack("=HBBI", code))
    position, value = 0, 0
    while True:
        kind, yes, no, operand = steps[position]
        position += 1
        if kind == 0x20:
            value = data[operand]
        elif kind == 0x06:
            return int(operand)
        elif kind == 0x05:
            position += operand
        else:
            holds = {0x15: value == operand, 0x25: value > operand, 0x35: value >= operand, 0x45: bool(value & operand)}
            position += yes if holds[kind] else no


class Filter:
    """The filter of an architecture, queried by the names of system calls."""

    def __init__(self, machine: Machine, *, network: bool = False, strict: bool = True, abi: int = 6) -> None:
        self.machine = machine
        self.code = program(machine, network=network, strict=strict, abi=abi)
        self.calls = machine.calls(*syscalls.ALL)

    def answer(self, name: str, first: int = 0, second: int = 0) -> int:
        return decide(self.code, self.calls[name], self.machine.audit, first, second)

    def answers(self, table: str, first: int = 0, second: int = 0) -> set[int]:
        return {self.answer(name, first, second) for name in self.machine.calls(table)}


@pytest.fixture(params=[ARM64, X86_64], ids=["arm64", "x86-64"])
def machine(request: pytest.FixtureRequest) -> Machine:
    architecture: Machine = request.param
    return architecture


def test_sockets_are_refused_without_the_network(machine: Machine) -> None:
    for family in (UNIX, INTERNET):
        assert Filter(machine).answer("socket", family) == ERRNO | errno.EACCES


def test_only_internet_sockets_are_allowed_with_the_network(machine: Machine) -> None:
    filtered = Filter(machine, network=True)
    assert filtered.answer("socket", INTERNET) == ALLOW
    assert filtered.answer("socket", UNIX) == ERRNO | errno.EACCES


def test_datagram_socket_pairs_are_refused(machine: Machine) -> None:
    filtered = Filter(machine)
    stream, datagram, closed_on_exec = 1, 2, 0x80000
    assert filtered.answer("socketpair", UNIX, stream) == filtered.answer("socketpair", UNIX, 0x80801) == ALLOW
    refused = [(UNIX, datagram), (UNIX, datagram | closed_on_exec), (30, stream), (UNIX, 3)]
    assert {filtered.answer("socketpair", *one) for one in refused} == {ERRNO | errno.EACCES}


def test_new_namespaces_are_refused_and_threads_allowed(machine: Machine) -> None:
    filtered = Filter(machine, strict=False)
    assert filtered.answer("clone", 0x10000000) == REFUSED
    assert filtered.answer("clone", 0x3D0F00) == ALLOW
    assert filtered.answer("clone3") == MISSING


def test_only_a_strict_filter_keeps_a_process_in_its_group(machine: Machine) -> None:
    strict, loose = Filter(machine), Filter(machine, strict=False)
    assert strict.answers(syscalls.LEAVING) == {REFUSED}
    assert loose.answers(syscalls.LEAVING) == {ALLOW}
    assert strict.answers(syscalls.METADATA) == {ERRNO}
    assert loose.answers(syscalls.METADATA) == {ALLOW}


@pytest.mark.parametrize("strict", [False, True])
def test_every_system_call_gets_the_answer_of_its_table(machine: Machine, strict: bool) -> None:
    filtered = Filter(machine, strict=strict)
    for table in syscalls.ALLOWED:
        assert filtered.answers(table) == {ALLOW}
    assert filtered.answers(syscalls.DENIED) == {REFUSED}
    assert filtered.answers(syscalls.ABSENT) == {MISSING}
    known = set(filtered.calls.values())
    unknown = [number for number in range(600) if number not in known]
    assert {decide(filtered.code, number, machine.audit) for number in [*unknown, 100_000]} == {MISSING}


def test_unknown_system_calls_are_refused(machine: Machine) -> None:
    filtered = Filter(machine)
    for number in range(468, 600):  # file_getattr, file_setattr, listns, and later calls
        assert decide(filtered.code, number, machine.audit) == MISSING


@pytest.mark.parametrize(
    "call", ["prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"]
)
def test_limits_and_scheduling_apply_only_to_oneself(machine: Machine, call: str) -> None:
    for strict in (False, True):
        filtered = Filter(machine, strict=strict)
        assert filtered.answer(call, 0) == ALLOW
        assert {filtered.answer(call, pid) for pid in (1, OTHER, 0xFFFFFFFF)} == {REFUSED}


def test_priorities_apply_only_to_oneself(machine: Machine) -> None:
    filtered = Filter(machine)
    assert filtered.answer("setpriority", 0, 0) == filtered.answer("ioprio_set", 1, 0) == ALLOW
    refused = [("setpriority", 0, OTHER), ("setpriority", 1, 0), ("setpriority", 2, 0), ("setpriority", 1, OTHER),
               ("ioprio_set", 1, OTHER), ("ioprio_set", 2, 0), ("ioprio_set", 3, 0)]  # fmt: skip
    assert {filtered.answer(*one) for one in refused} == {REFUSED}


@pytest.mark.parametrize("request_number", [0x40086602, 0x40046602, 0x401C5820, 0x5412, 0x541C, 0x8901, 0x8902])
def test_flags_of_files_and_owners_of_sockets_cannot_be_set(machine: Machine, request_number: int) -> None:
    assert Filter(machine).answer("ioctl", 3, request_number) == ERRNO | errno.ENOTTY


@pytest.mark.parametrize("request_number", [0x5401, 0x5413, 0x541B, 0x5421, 0x5451, 0x8912])
def test_terminal_and_socket_queries_are_allowed(machine: Machine, request_number: int) -> None:
    assert Filter(machine).answer("ioctl", 3, request_number) == ALLOW


def test_file_cannot_redirect_signals_or_hold_a_lease(machine: Machine) -> None:
    filtered = Filter(machine)
    assert {filtered.answer("fcntl", 3, command) for command in (8, 10, 15, 1024, 1026)} == {ERRNO | errno.EINVAL}
    assert {filtered.answer("fcntl", 3, command) for command in (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1031, 1033)} == {ALLOW}


def test_process_cannot_hide_from_its_watcher(machine: Machine) -> None:
    assert Filter(machine).answer("prctl", 4) == ERRNO | errno.EINVAL
    assert Filter(machine).answer("prctl", 0x59616D61) == ERRNO | errno.EINVAL
    assert Filter(machine).answer("prctl", 15) == ALLOW


def test_signals_go_only_to_oneself_if_landlock_does_not_confine_them(machine: Machine) -> None:
    assert Filter(machine).answers(syscalls.SIGNALS, OTHER) == {ALLOW}
    old = Filter(machine, abi=5)
    assert old.answers(syscalls.SIGNALS, OTHER) == {REFUSED}
    assert old.answer("kill", 0xFFFFFFFF) == REFUSED
    assert old.answer("kill", 0) == old.answer("kill", OWN_PID) == old.answer("tgkill", OWN_PID) == ALLOW
    assert struct.pack("=I", OWN_PID) == launcher.OWN_PID


def test_truncation_is_refused_if_landlock_does_not_check_it(machine: Machine) -> None:
    assert Filter(machine, abi=3).answer("truncate") == ALLOW
    assert Filter(machine, abi=2).answer("truncate") == MISSING


def test_system_call_of_another_architecture_kills_the_process(machine: Machine) -> None:
    assert decide(program(machine, network=True, strict=True), 1, 0x40000003) == KILL


def test_x32_calling_convention_is_refused() -> None:
    code = program(X86_64, network=True, strict=True)
    assert decide(code, 0x40000000 + 41, X86_64.audit, INTERNET) == MISSING


def test_gate_asks_about_new_processes(machine: Machine) -> None:
    code, calls = gate(machine), machine.calls(*syscalls.ALL)
    asked = {name for name, number in calls.items() if decide(code, number, machine.audit) != ALLOW}
    assert asked == {"clone", "fork", "vfork"} & calls.keys()


def test_filter_is_short_enough_for_the_kernel(machine: Machine) -> None:
    assert len(program(machine, network=True, strict=True)) // 8 < 4096
