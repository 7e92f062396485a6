"""The programs that runtimes need: which are installed, and what to do about those that are not."""

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
    """The toolchain of each runtime on this machine."""
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
    """The path of a program; folders of PATH that depend on the current folder do not count."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(folder).is_absolute()]
    return shutil.which(program, path=os.pathsep.join(folders)) if folders else None


def find(program: str, hint: str) -> str:
    """The path of a program; raises ToolchainError if it is not installed."""
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
    """This Python's own pip, as an isolated interpreter finds it."""
    spec = importlib.util.find_spec("pip")
    if spec is None or not spec.origin or not any(Path(spec.origin).is_relative_to(folder) for folder in interpreter()):
        return None
    try:
        version = tuple(map(int, re.findall(r"\d+", importlib.metadata.version("pip"))[:2]))
    except importlib.metadata.PackageNotFoundError:
        version = (0,)
    return Pip(Path(spec.origin).parent, version)


def prefix(path: str) -> Path:
    """The folder that a program is installed below."""
    return Path(path).resolve().parent.parent


def installed(path: str) -> tuple[Path, ...]:
    """What a program is installed with."""
    return installation(prefix(path))


def version(path: str, flag: str) -> str:
    """The version that a program reports."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | {"GOTOOLCHAIN": "local"}
    try:
        # In a folder and with variables that do not change what it reports.
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=20, check=False, cwd="/", env=env)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip()
