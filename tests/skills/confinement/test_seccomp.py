"""The filter decides as it should on both machines, judged by a small interpreter of its code."""

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
    """What the kernel would answer."""
    data = {0: number, 4: audit, 16: first, 24: second}
    steps = list(struct.iter_unpack("=HBBI", code))
    at, value = 0, 0
    while True:
        kind, yes, no, operand = steps[at]
        at += 1
        if kind == 0x20:
            value = data[operand]
        elif kind == 0x06:
            return int(operand)
        elif kind == 0x05:
            at += operand
        else:
            hit = {0x15: value == operand, 0x25: value > operand, 0x35: value >= operand, 0x45: bool(value & operand)}
            at += yes if hit[kind] else no


class Filter:
    """A machine's filter, asked by the names of calls."""

    def __init__(self, machine: Machine, *, network: bool = False, strict: bool = True, abi: int = 6) -> None:
        self.machine = machine
        self.code = program(machine, network=network, strict=strict, abi=abi)
        self.calls = machine.calls(*syscalls.EVERY)

    def answer(self, name: str, first: int = 0, second: int = 0) -> int:
        return decide(self.code, self.calls[name], self.machine.audit, first, second)

    def answers(self, table: str, first: int = 0, second: int = 0) -> set[int]:
        return {self.answer(name, first, second) for name in self.machine.calls(table)}


@pytest.fixture(params=[ARM64, X86_64], ids=["arm64", "x86-64"])
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


def test_without_the_network_no_socket_is_made(machine: Machine) -> None:
    for family in (UNIX, INTERNET):
        assert Filter(machine).answer("socket", family) == ERRNO | errno.EACCES


def test_with_it_only_those_of_the_internet(machine: Machine) -> None:
    filtered = Filter(machine, network=True)
    assert filtered.answer("socket", INTERNET) == ALLOW
    assert filtered.answer("socket", UNIX) == ERRNO | errno.EACCES


def test_pairs_of_sockets_cannot_reach_a_local_service(machine: Machine) -> None:
    filtered = Filter(machine)
    stream, datagram, closed_on_exec = 1, 2, 0x80000
    assert filtered.answer("socketpair", UNIX, stream) == filtered.answer("socketpair", UNIX, 0x80801) == ALLOW
    refused = [(UNIX, datagram), (UNIX, datagram | closed_on_exec), (30, stream), (UNIX, 3)]
    assert {filtered.answer("socketpair", *one) for one in refused} == {ERRNO | errno.EACCES}


def test_new_namespaces_are_refused_and_new_threads_are_not(machine: Machine) -> None:
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
def test_every_call_of_every_number_gets_its_tables_answer(machine: Machine, strict: bool) -> None:
    filtered = Filter(machine, strict=strict)
    for table in syscalls.ALLOWED:
        assert filtered.answers(table) == {ALLOW}
    assert filtered.answers(syscalls.DENIED) == {REFUSED}
    assert filtered.answers(syscalls.ABSENT) == {MISSING}
    known = set(filtered.calls.values())
    unknown = [number for number in range(600) if number not in known]
    assert {decide(filtered.code, number, machine.audit) for number in [*unknown, 100_000]} == {MISSING}


def test_calls_of_kernels_to_come_are_refused(machine: Machine) -> None:
    filtered = Filter(machine)
    for number in range(468, 600):  # file_getattr, file_setattr, listns, and what comes after them
        assert decide(filtered.code, number, machine.audit) == MISSING


@pytest.mark.parametrize(
    "call", ["prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"]
)
def test_limits_and_scheduling_are_ones_own_only(machine: Machine, call: str) -> None:
    for strict in (False, True):
        filtered = Filter(machine, strict=strict)
        assert filtered.answer(call, 0) == ALLOW
        assert {filtered.answer(call, pid) for pid in (1, OTHER, 0xFFFFFFFF)} == {REFUSED}


def test_priorities_are_ones_own_only(machine: Machine) -> None:
    filtered = Filter(machine)
    assert filtered.answer("setpriority", 0, 0) == filtered.answer("ioprio_set", 1, 0) == ALLOW
    refused = [("setpriority", 0, OTHER), ("setpriority", 1, 0), ("setpriority", 2, 0), ("setpriority", 1, OTHER),
               ("ioprio_set", 1, OTHER), ("ioprio_set", 2, 0), ("ioprio_set", 3, 0)]  # fmt: skip
    assert {filtered.answer(*one) for one in refused} == {REFUSED}


@pytest.mark.parametrize("request_number", [0x40086602, 0x40046602, 0x401C5820, 0x5412, 0x541C, 0x8901, 0x8902])
def test_flags_of_files_and_owners_of_sockets_cannot_be_set(machine: Machine, request_number: int) -> None:
    assert Filter(machine).answer("ioctl", 3, request_number) == ERRNO | errno.ENOTTY


@pytest.mark.parametrize("request_number", [0x5401, 0x5413, 0x541B, 0x5421, 0x5451, 0x8912])
def test_programs_may_ask_about_terminals_and_sockets(machine: Machine, request_number: int) -> None:
    assert Filter(machine).answer("ioctl", 3, request_number) == ALLOW


def test_a_file_cannot_aim_signals_or_hold_a_lease(machine: Machine) -> None:
    filtered = Filter(machine)
    assert {filtered.answer("fcntl", 3, command) for command in (8, 10, 15, 1024, 1026)} == {ERRNO | errno.EINVAL}
    assert {filtered.answer("fcntl", 3, command) for command in (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1031, 1033)} == {ALLOW}


def test_a_process_cannot_hide_from_its_watcher(machine: Machine) -> None:
    assert Filter(machine).answer("prctl", 4) == ERRNO | errno.EINVAL
    assert Filter(machine).answer("prctl", 0x59616D61) == ERRNO | errno.EINVAL
    assert Filter(machine).answer("prctl", 15) == ALLOW


def test_where_landlock_lets_signals_out_they_go_to_oneself_only(machine: Machine) -> None:
    assert Filter(machine).answers(syscalls.SIGNALS, OTHER) == {ALLOW}
    old = Filter(machine, abi=5)
    assert old.answers(syscalls.SIGNALS, OTHER) == {REFUSED}
    assert old.answer("kill", 0xFFFFFFFF) == REFUSED
    assert old.answer("kill", 0) == old.answer("kill", OWN_PID) == old.answer("tgkill", OWN_PID) == ALLOW
    assert struct.pack("=I", OWN_PID) == launcher.OWN_PID


def test_where_landlock_does_not_check_truncation_it_is_refused(machine: Machine) -> None:
    assert Filter(machine, abi=3).answer("truncate") == ALLOW
    assert Filter(machine, abi=2).answer("truncate") == MISSING


def test_another_machines_calls_kill(machine: Machine) -> None:
    assert decide(program(machine, network=True, strict=True), 1, 0x40000003) == KILL


def test_the_second_calling_convention_of_x86_is_refused() -> None:
    code = program(X86_64, network=True, strict=True)
    assert decide(code, 0x40000000 + 41, X86_64.audit, INTERNET) == MISSING


def test_the_gate_asks_about_new_processes(machine: Machine) -> None:
    code, calls = gate(machine), machine.calls(*syscalls.EVERY)
    asked = {name for name, number in calls.items() if decide(code, number, machine.audit) != ALLOW}
    assert asked == {"clone", "fork", "vfork"} & calls.keys()


def test_the_filter_is_short_enough_for_the_kernel(machine: Machine) -> None:
    assert len(program(machine, network=True, strict=True)) // 8 < 4096
