"""The programs that runtimes need: which are installed, and what to do about those that are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass

from skills.programs.build_cache import ToolchainError


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A program that a runtime needs: its path and version, or a hint on how to install it."""

    runtime: str
    path: str
    version: str
    hint: str = ""


def available() -> list[Toolchain]:
    """The toolchain of each runtime on this machine."""
    own = ".".join(map(str, sys.version_info[:3]))
    toolchains = [Toolchain("python", sys.executable, own)]
    for runtime, program, flag, hint in (
        ("node", "node", "--version", "install Node.js 20.6 or newer; 22.18 or newer runs .ts by itself"),
        ("go", "go", "version", "install Go from your system's packages"),
    ):
        path = shutil.which(program)
        if path is None:
            toolchains.append(Toolchain(runtime, "", "", hint))
        else:
            toolchains.append(Toolchain(runtime, path, version(path, flag)))
    return toolchains


def find(program: str, hint: str) -> str:
    """The path of a program; raises ToolchainError if it is not installed."""
    path = shutil.which(program)
    if path is None:
        raise ToolchainError(f"{program} is not installed", hint=hint)
    return path


def version(path: str, flag: str) -> str:
    """The version that a program reports."""
    try:
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip()
