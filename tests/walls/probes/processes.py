"""Attacks on other processes, including goalwright: their limits, priorities, memory and signals."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.walls.registry import probe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.skills.workbench import Workbench

PIDS = [{"name": "pids", "type": "array", "required": True}]
AIM = """
import ctypes, os, resource, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
def call(x86, arm64, *arguments):
    words = (arm64 if arm else x86, *arguments)
    return libc.syscall(*[ctypes.c_long(word) if isinstance(word, int) else word for word in words])
def attempt(act, *args):
    try:
        act(*args)
    except (OSError, ValueError, AttributeError):
        pass
pids = arguments["pids"]
"""
ACTS = {
    "limits": "attempt(resource.prlimit, pid, resource.RLIMIT_CPU, (1, 1)); attempt(resource.prlimit, pid, "
    "resource.RLIMIT_NOFILE, (3, 3)); call(302, 261, pid, 0, struct.pack('=QQ', 1, 1), None)",
    "priority": "attempt(os.setpriority, os.PRIO_PROCESS, pid, 19); attempt(os.setpriority, os.PRIO_PGRP, pid, 19); "
    "attempt(os.setpriority, os.PRIO_USER, os.getuid(), 19); attempt(os.setpriority, os.PRIO_USER, 0, 19)",
    "processors": "attempt(os.sched_setaffinity, pid, {0}); call(203, 122, pid, 8, struct.pack('=Q', 1))",
    "scheduler": "attempt(os.sched_setscheduler, pid, os.SCHED_BATCH, os.sched_param(0)); "
    "attempt(os.sched_setscheduler, pid, os.SCHED_IDLE, os.sched_param(0)); "
    "call(314, 274, pid, struct.pack('=IIQiIQQQ', 48, 3, 0, 0, 0, 0, 0, 0), 0); "
    "call(142, 118, pid, struct.pack('=i', 0))",
    "disk priority": "call(251, 30, 1, pid, 3 << 13); call(251, 30, 2, pid, 3 << 13); "
    "call(251, 30, 3, os.getuid(), 3 << 13)",
}
SIGNALS = """
for pid in pids:
    attempt(os.kill, pid, signal.SIGTERM)
    attempt(os.killpg, pid, signal.SIGTERM)
    call(234, 131, pid, pid, 15)
    call(200, 130, pid, 15)
    info = struct.pack("=iiiiii", 15, 0, -1, 0, os.getpid(), os.getuid()) + bytes(104)
    call(129, 138, pid, 15, info)
    call(297, 240, pid, pid, 15, info)
    try:
        handle = os.pidfd_open(pid)
        signal.pidfd_send_signal(handle, signal.SIGTERM)
    except OSError:
        pass
    call(16, 29, 0, 0x8901, struct.pack("=i", pid))
reply("tried")
"""
SPY = """
found = []
for pid in pids:
    for name in ("environ", "maps", "mem", "cmdline", "fd/0", "cwd/x", "root/etc/shadow", "stack"):
        try:
            found.append(open(f"/proc/{pid}/{name}", "rb").read(64).decode(errors="replace"))
        except OSError:
            pass
    if call(101, 117, 16, pid, 0, 0) == 0 or call(101, 117, 0x4206, pid, 0, 0) == 0:
        found.append("traced")
    target = ctypes.create_string_buffer(64)
    vector = struct.pack("=QQ", ctypes.addressof(target), 64)
    if call(310, 270, pid, vector, 1, struct.pack("=QQ", arguments["address"], 64), 1, 0) > 0:
        found.append("memory read")
    for number in (438, 440, 448):
        try:
            if call(number, number, os.pidfd_open(pid), 0, 0, 0, 0, 0) >= 0:
                found.append(f"call {number}")
        except OSError:
            pass
reply(" ".join(filter(None, found)))
"""


@contextlib.asynccontextmanager
async def victim() -> AsyncIterator[int]:
    """Start a process of the same user in its own group."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import time; time.sleep(60)", env={"MARK": "sk-victim"}, start_new_session=True
    )
    try:
        yield process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def state(pid: int) -> dict[str, object]:
    """Return the properties of a process that others might change."""
    machine = os.uname().machine
    number = ctypes.CDLL(None).syscall(31 if machine == "aarch64" else 252, 1, pid)
    return {
        "limits": [resource.prlimit(pid, kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE)],
        "priority": os.getpriority(os.PRIO_PROCESS, pid),
        "processors": os.sched_getaffinity(pid),
        "scheduler": os.sched_getscheduler(pid),
        "disk priority": number,
    }


def _state_letter(pid: int) -> str:
    """Return the state letter of a process: Z if it has ended, T if it is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


async def _attack(bench: Workbench, attribute: str) -> str:
    async with victim() as pid:
        targets = {pid: state(pid), os.getpid(): state(os.getpid())}
        body = "".join(f"\nfor pid in pids:\n    {line}" for line in ACTS[attribute].split("; "))
        tool = bench.tool(AIM + body + "\nreply('tried')", parameters=PIDS)
        envelope = await tool.call({"pids": list(targets)})
        if envelope.text != "tried":
            return f"the attack did not run: {envelope.text}"
        return ", ".join(
            f"{key} of {'goalwright' if target == os.getpid() else 'another process'}"
            for target, before in targets.items()
            for key, value in state(target).items()
            if value != before[key]
        )


def _register(attribute: str) -> None:
    @probe(f"{attribute} of other processes cannot be changed")
    async def attack(bench: Workbench) -> str:
        return await _attack(bench, attribute)


for _attribute in ACTS:
    _register(_attribute)


@probe("other processes receive no signal")
async def signals(bench: Workbench) -> str:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        async with victim() as pid:
            envelope = await bench.tool(AIM + SIGNALS, parameters=PIDS).call({"pids": [pid, os.getpid()]})
            if envelope.text != "tried":
                return f"the attack did not run: {envelope.text}"
            await asyncio.sleep(0.05)
            try:
                os.kill(pid, 0)
                has_ended = _state_letter(pid) in "ZXT"
            except ProcessLookupError:
                has_ended = True
    finally:
        signal.signal(signal.SIGTERM, before)
    return " ".join(
        filter(
            None, ["another process was ended" if has_ended else "", "goalwright received a signal" if received else ""]
        )
    )


@probe("other processes cannot be read or traced")
async def spying(bench: Workbench) -> str:
    secret = ctypes.create_string_buffer(b"sk-goalwright")
    parameters = [*PIDS, {"name": "address", "type": "integer", "required": True}]
    async with victim() as pid:
        tool = bench.tool(AIM + SPY, parameters=parameters)
        envelope = await tool.call({"pids": [pid, os.getpid()], "address": ctypes.addressof(secret)})
        return envelope.text if envelope.status == "success" else f"the attack did not run: {envelope.text}"
