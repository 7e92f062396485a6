"""How a tool's program is started: with Python, Node or Go, or directly."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from skills.confinement.box import Command
from skills.confinement.system_paths import interpreter
from skills.programs import node, toolchain
from skills.programs.build_cache import BuildCache, BuildError, cache_key
from skills.programs.trust import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from skills.programs.manifest import Manifest

ELSEWHERE = re.compile(r"^\s*(-e|--editable|[./~]|[a-z+]+://)|\s@\s|^\s*git\+")


async def prepare(manifest: Manifest, build_cache: BuildCache) -> Command:
    """Build what a tool needs, and return the command that starts it; raises ToolchainError or BuildError."""
    match manifest.runtime:
        case "python":
            return await _python(manifest, build_cache)
        case "node":
            return await node.prepare(manifest, build_cache)
        case "go":
            return await _go(manifest, build_cache)
        case "binary":
            return _binary(manifest)


async def _python(manifest: Manifest, build_cache: BuildCache) -> Command:
    requirements = manifest.folder / "requirements.txt"
    options = ("-X", "utf8", "-B")
    entry = str(manifest.entry_path.resolve())
    text = _requirements(requirements)
    if not text:
        return Command((sys.executable, *options, entry), interpreter(), python=True)
    key = cache_key(text, sys.version, sys.base_prefix)
    async with build_cache.folder("python", key, f"{manifest.name}: installing its Python packages") as (
        env,
        ready,
    ):
        python = env / "bin" / "python"
        if not ready:
            await build_cache.run_step((sys.executable, "-m", "venv", str(env)), manifest.folder)
            install = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:", "-r", str(requirements))
            await build_cache.run_step((str(python), *install), manifest.folder)
    return Command((str(python), *options, entry), (env, *interpreter()), python=True)


def _requirements(path: Path) -> str:
    """The packages in a requirements.txt, one per line; only wheels, since installing them runs no code."""
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in lines:
        if ELSEWHERE.search(line):
            hint = "name packages that have a wheel on the index, such as openpyxl>=3.1"
            raise BuildError(f"{path}: {line} is not a package on the index", hint=hint)
    return "\n".join(lines)


async def _go(manifest: Manifest, build_cache: BuildCache) -> Command:
    go = toolchain.find("go", "install Go, or ship the built program with `runtime: binary`")
    package = manifest.entry_path.resolve().parent
    if not (manifest.folder / "go.mod").is_file():
        raise BuildError(f"{manifest.folder} has no go.mod", hint="run `go mod init` there")
    key = cache_key(fingerprint(manifest.folder), toolchain.version(go, "version"), manifest.entry)
    async with build_cache.folder("go", key, f"{manifest.name}: building its Go program") as (folder, ready):
        program = folder / "tool"
        if not ready:
            settings = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false -trimpath"}
            if "HOME" not in build_cache.environ:
                settings["GOCACHE"] = str(build_cache.cache / "go-cache")
            await build_cache.run_step((go, "build", "-o", str(program), "."), package, settings)
    return Command((str(program),), (folder,))


def _binary(manifest: Manifest) -> Command:
    path = manifest.entry_path.resolve()
    if not os.access(path, os.X_OK):
        raise BuildError(f"{path} is not executable", hint=f"run `chmod +x {path}`")
    return Command((str(path),))
