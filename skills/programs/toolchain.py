"""The programs that runtimes need: which are there, and what to do where one is not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass

from skills.programs.build_cache import ToolchainError


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A program that a runtime needs: where it is and its version, or what to do."""

    runtime: str
    path: str
    version: str
    hint: str = ""


def available() -> list[Toolchain]:
    """What this machine has for each runtime."""
    own = ".".join(map(str, sys.version_info[:3]))
    there = [Toolchain("python", sys.executable, own)]
    for runtime, program, flag, hint in (
        ("node", "node", "--version", "install Node.js 20.6 or newer; 22.18 or newer runs .ts by itself"),
        ("go", "go", "version", "install Go from your system's packages"),
    ):
        path = shutil.which(program)
        if path is None:
            there.append(Toolchain(runtime, "", "", hint))
        else:
            there.append(Toolchain(runtime, path, version(path, flag)))
    return there


def found(program: str, hint: str) -> str:
    """The program's path; raises ToolchainError where it is not installed."""
    path = shutil.which(program)
    if path is None:
        raise ToolchainError(f"{program} is not installed", hint=hint)
    return path


def version(path: str, flag: str) -> str:
    """What a program says of its version."""
    try:
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip()
