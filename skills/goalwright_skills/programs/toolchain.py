"""The programs that runtimes need: their paths and versions, or how to install them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from goalwright_skills.confinement.system_paths import installation, interpreter
from goalwright_skills.programs.build_cache import ToolchainError


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A program that a runtime needs: its path and version, or a hint on how to install it."""

    runtime: str
    path: str
    version: str
    hint: str = ""


def available() -> list[Toolchain]:
    """Return the toolchain of each runtime on this machine."""
    own = ".".join(map(str, sys.version_info[:3]))
    toolchains = [Toolchain("python", sys.executable, own)]
    for runtime, program, flag, hint in (
        ("node", "node", "--version", "install Node.js 20.6 or newer; 22.18 or newer runs .ts by itself"),
        ("go", "go", "version", "install Go from your system's packages"),
    ):
        path = which(program)
        if path is None:
            toolchains.append(Toolchain(runtime, "", "", hint))
        else:
            toolchains.append(Toolchain(runtime, path, version(path, flag)))
    return toolchains


def which(program: str) -> str | None:
    """Return the path of a program; relative folders in PATH are ignored."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(folder).is_absolute()]
    return shutil.which(program, path=os.pathsep.join(folders)) if folders else None


def find(program: str, hint: str) -> str:
    """Return the path of a program; raises ToolchainError if it is not installed."""
    path = which(program)
    if path is None:
        raise ToolchainError(f"{program} is not installed", hint=hint)
    return path


@dataclass(frozen=True, slots=True)
class Pip:
    """The folder and version of an installed pip."""

    folder: Path
    version: tuple[int, ...]


def own_pip() -> Pip | None:
    """Return this Python's own pip, as an isolated interpreter finds it."""
    spec = importlib.util.find_spec("pip")
    if spec is None or not spec.origin or not any(Path(spec.origin).is_relative_to(folder) for folder in interpreter()):
        return None
    try:
        version = tuple(map(int, re.findall(r"\d+", importlib.metadata.version("pip"))[:2]))
    except importlib.metadata.PackageNotFoundError:
        version = (0,)
    return Pip(Path(spec.origin).parent, version)


def prefix(path: str) -> Path:
    """Return the installation prefix of a program."""
    return Path(path).resolve().parent.parent


def installed(path: str) -> tuple[Path, ...]:
    """Return the paths of a program's installation."""
    return installation(prefix(path))


def version(path: str, flag: str) -> str:
    """Return the version that a program reports."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | {"GOTOOLCHAIN": "local"}
    try:
        # The folder and the variables must not change the reported version.
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=20, check=False, cwd="/", env=env)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip()
