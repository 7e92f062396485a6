"""The filter decides as it should on both machines, judged by a small interpreter of its code."""

from __future__ import annotations

import errno
import struct

import pytest

from skills.confinement.seccomp import ALLOW, ARM64, ERRNO, KILL, X86_64, Machine, program

UNIX, INTERNET = 1, 2


def decide(code: bytes, number: int, audit: int, first: int = 0) -> int:
    """What the kernel would answer."""
    data = {0: number, 4: audit, 16: first}
    steps = list(struct.iter_unpack("=HBBI", code))
    at, value = 0, 0
    while True:
        kind, yes, no, operand = steps[at]
        at += 1
        if kind == 0x20:
            value = data[operand]
        elif kind == 0x06:
            return int(operand)
        else:
            hit = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[kind]
            at += yes if hit else no


@pytest.fixture(params=[ARM64, X86_64], ids=["arm64", "x86-64"])
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


def test_without_the_network_no_socket_is_made(machine: Machine) -> None:
    code = program(machine, network=False, strict=True)
    for family in (UNIX, INTERNET):
        assert decide(code, machine.socket, machine.audit, family) == ERRNO | errno.EACCES


def test_with_it_only_those_of_the_internet(machine: Machine) -> None:
    code = program(machine, network=True, strict=True)
    assert decide(code, machine.socket, machine.audit, INTERNET) == ALLOW
    assert decide(code, machine.socket, machine.audit, UNIX) == ERRNO | errno.EACCES


def test_new_namespaces_are_refused_and_new_threads_are_not(machine: Machine) -> None:
    code = program(machine, network=False, strict=False)
    assert decide(code, machine.clone, machine.audit, 0x10000000) == ERRNO | errno.EPERM
    assert decide(code, machine.clone, machine.audit, 0x3D0F00) == ALLOW
    assert decide(code, machine.clone3, machine.audit) == ERRNO | errno.ENOSYS


def test_only_a_strict_filter_keeps_a_process_in_its_group(machine: Machine) -> None:
    strict = program(machine, network=False, strict=True)
    loose = program(machine, network=False, strict=False)
    for number in machine.leaving.values():
        assert decide(strict, number, machine.audit) == ERRNO | errno.EPERM
        assert decide(loose, number, machine.audit) == ALLOW
    for number in machine.metadata.values():
        assert decide(strict, number, machine.audit) == ERRNO


def test_everything_denied_is_refused_and_the_rest_allowed(machine: Machine) -> None:
    code = program(machine, network=False, strict=True)
    for number in machine.denied.values():
        assert decide(code, number, machine.audit) == ERRNO | errno.EPERM
    assert decide(code, 63, machine.audit) == ALLOW


def test_another_machines_calls_kill(machine: Machine) -> None:
    assert decide(program(machine, network=True, strict=True), 1, 0x40000003) == KILL


def test_the_second_calling_convention_of_x86_is_refused() -> None:
    code = program(X86_64, network=True, strict=True)
    assert decide(code, 0x40000000 + 41, X86_64.audit, INTERNET) == ERRNO | errno.ENOSYS
