"""The numbers in the seccomp filter are the kernel's: by a table of our own, and by its headers if installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skills.confinement import landlock, launcher
from skills.confinement.seccomp import ARM64, NEW_NAMESPACES, X86_64, Machine

# A second table, by number as the kernel lists them, so that a slip in one of the two shows.
SHARED = """
425 io_uring_setup  426 io_uring_enter  427 io_uring_register  428 open_tree  429 move_mount  430 fsopen
431 fsconfig  432 fsmount  433 fspick  435 clone3  438 pidfd_getfd  442 mount_setattr
444 landlock_create_ruleset  445 landlock_add_rule  446 landlock_restrict_self  452 fchmodat2
"""
TABLES = {
    "arm64": f"""
5 setxattr  6 lsetxattr  7 fsetxattr  14 removexattr  15 lremovexattr  16 fremovexattr
39 umount2  40 mount  41 pivot_root  51 chroot  52 fchmod  53 fchmodat  54 fchownat  55 fchown
88 utimensat  89 acct  97 unshare  104 kexec_load  105 init_module  106 delete_module  117 ptrace
142 reboot  154 setpgid  157 setsid  198 socket  217 add_key  218 request_key  219 keyctl  220 clone  224 swapon
241 perf_event_open  265 open_by_handle_at  268 setns  270 process_vm_readv  271 process_vm_writev
273 finit_module  277 seccomp  280 bpf  282 userfaultfd  294 kexec_file_load
{SHARED}""",
    "x86-64": f"""
41 socket  56 clone  57 fork  58 vfork
90 chmod  91 fchmod  92 chown  93 fchown  94 lchown  101 ptrace  109 setpgid  112 setsid  132 utime
155 pivot_root  161 chroot  163 acct  165 mount  166 umount2  167 swapon  169 reboot  175 init_module
176 delete_module  188 setxattr  189 lsetxattr  190 fsetxattr  197 removexattr  198 lremovexattr
199 fremovexattr  235 utimes  246 kexec_load  248 add_key  249 request_key  250 keyctl  260 fchownat
261 futimesat  268 fchmodat  272 unshare  280 utimensat  298 perf_event_open  304 open_by_handle_at
308 setns  310 process_vm_readv  311 process_vm_writev  313 finit_module  317 seccomp
320 kexec_file_load  321 bpf  323 userfaultfd
{SHARED}""",
}
MACHINES = {"arm64": ARM64, "x86-64": X86_64}
INCLUDE = Path("/usr/include")
HEADERS = {
    "arm64": ("aarch64-linux-gnu/asm/unistd_64.h", "asm-generic/unistd.h"),
    "x86-64": ("x86_64-linux-gnu/asm/unistd_64.h", "asm/unistd_64.h"),
}
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)


def used(machine: Machine) -> dict[str, int]:
    """Every system call that weft names, with the number that it uses."""
    return {
        **machine.denied,
        **machine.leaving,
        **machine.metadata,
        "socket": machine.socket,
        "seccomp": machine.seccomp,
        "clone": machine.clone,
        "clone3": machine.clone3,
        **dict(zip(("fork", "vfork"), machine.forks, strict=False)),
        **dict(zip(("io_uring_setup", "io_uring_enter", "io_uring_register"), machine.io_uring, strict=True)),
        "landlock_create_ruleset": launcher.CREATE_RULESET,
        "landlock_add_rule": launcher.ADD_RULE,
        "landlock_restrict_self": launcher.RESTRICT_SELF,
    }


def header(name: str) -> dict[str, int]:
    """The numbers in a machine's installed header; empty if there is none, or only that of another machine."""
    for path in HEADERS[name]:
        try:
            text = (INCLUDE / path).read_text(encoding="utf-8")
        except OSError:
            continue
        return {match[1]: int(match[2]) for match in re.finditer(r"^#define __NR_(\w+)[ \t]+(\d+)\b", text, re.M)}
    return {}


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_the_numbers_are_those_of_the_second_table(name: str) -> None:
    words = TABLES[name].split()
    table = {call: int(number) for number, call in zip(words[::2], words[1::2], strict=True)}
    assert used(MACHINES[name]) == table


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_the_numbers_are_those_of_the_installed_headers(name: str) -> None:
    kernel = header(name)  # an old header lacks new calls
    ours = used(MACHINES[name])
    assert {call: kernel[call] for call in ours if call in kernel} == {
        call: number for call, number in ours.items() if call in kernel
    }
    assert not kernel or len(ours.keys() & kernel.keys()) >= len(ours) - 10


def test_the_two_machines_refuse_the_same_calls() -> None:
    assert ARM64.denied.keys() == X86_64.denied.keys()
    assert ARM64.leaving.keys() == X86_64.leaving.keys()
    # arm64 has no calls without a folder's descriptor, such as chmod, and no fork.
    assert ARM64.metadata.keys() < X86_64.metadata.keys()
    assert (len(ARM64.forks), len(X86_64.forks)) == (0, 2)


@pytest.mark.parametrize(("name", "processor"), [("arm64", 183), ("x86-64", 62)])
def test_the_audit_constant_is_the_processor_with_64_bits_and_little_endian(name: str, processor: int) -> None:
    assert MACHINES[name].audit == processor | 0x80000000 | 0x40000000


def test_every_flag_for_a_new_namespace_is_refused() -> None:
    assert sum(NAMESPACES) == NEW_NAMESPACES


def test_the_launcher_and_landlock_use_the_same_call() -> None:
    assert landlock.CREATE_RULESET == launcher.CREATE_RULESET
