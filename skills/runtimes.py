"""How a tool's program is started: in Python, Node, Go, or as it is."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skills.confinement.box import Command
from skills.confinement.system import interpreter
from skills.trust import fingerprint
from skills.workshop import BuildError, ToolchainError, Workshop

if TYPE_CHECKING:
    from skills.manifest import Manifest

TYPESCRIPT = {".ts", ".mts", ".cts"}
STRIPS_TYPES = (22, 18)
STRIPS_TYPES_IF_ASKED = (22, 6)
TAKES_IMPORT = (20, 6)
ELSEWHERE = re.compile(r"^\s*(-e|--editable|[./~]|[a-z+]+://)|\s@\s|^\s*git\+")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A program that a runtime needs: where it is and its version, or what to do."""

    runtime: str
    path: str
    version: str
    hint: str = ""


def available() -> list[Toolchain]:
    """What this machine has for each runtime."""
    version = ".".join(map(str, sys.version_info[:3]))
    found = [Toolchain("python", sys.executable, version)]
    for runtime, program, flag, hint in (
        ("node", "node", "--version", "install Node.js 20.6 or newer; 22.18 or newer runs .ts by itself"),
        ("go", "go", "version", "install Go from your system's packages"),
    ):
        path = shutil.which(program)
        if path is None:
            found.append(Toolchain(runtime, "", "", hint))
        else:
            found.append(Toolchain(runtime, path, _version(path, flag)))
    return found


async def prepare(manifest: Manifest, workshop: Workshop) -> Command:
    """The command that starts a tool, after building what it needs; raises ToolchainError or BuildError."""
    match manifest.runtime:
        case "python":
            return await _python(manifest, workshop)
        case "node":
            return await _node(manifest, workshop)
        case "go":
            return await _go(manifest, workshop)
        case "binary":
            return _binary(manifest)


async def _python(manifest: Manifest, workshop: Workshop) -> Command:
    requirements = manifest.folder / "requirements.txt"
    options = ("-X", "utf8", "-B")
    entry = str(manifest.entry_path.resolve())
    text = _requirements(requirements)
    if not text:
        return Command((sys.executable, *options, entry), interpreter(), python=True)
    key = _key(text, sys.version, sys.base_prefix)
    async with workshop.bench("python", key, f"{manifest.name}: installing its Python packages") as (
        env,
        ready,
    ):
        python = env / "bin" / "python"
        if not ready:
            await workshop.make((sys.executable, "-m", "venv", str(env)), manifest.folder)
            install = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:", "-r", str(requirements))
            await workshop.make((str(python), *install), manifest.folder)
    return Command((str(python), *options, entry), (env, *interpreter()), python=True)


def _requirements(path: Path) -> str:
    """The packages that a requirements.txt asks for, one to a line; wheels only, which install unrun."""
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in lines:
        if ELSEWHERE.search(line):
            hint = "name packages that have a wheel on the index, such as openpyxl>=3.1"
            raise BuildError(f"{path}: {line} is no package of the index", hint=hint)
    return "\n".join(lines)


async def _node(manifest: Manifest, workshop: Workshop) -> Command:
    node = _found("node", "install Node.js 20.6 or newer")
    folder, reads = await _packages(manifest, workshop)
    entry = folder.resolve() / manifest.entry
    options: tuple[str, ...] = ()
    if entry.suffix in TYPESCRIPT:
        options, extra = _typescript(node, folder)
        reads = (*reads, *extra)
    return Command((node, *options, str(entry)), (_prefix(node), *reads))


async def _packages(manifest: Manifest, workshop: Workshop) -> tuple[Path, tuple[Path, ...]]:
    """The folder to run from: the tool's own, or a copy beside its installed packages."""
    folder = manifest.folder
    wanted = _dependencies(folder / "package.json")
    if not wanted or (folder / "node_modules").is_dir():
        return folder, ()
    lock = folder / "package-lock.json"
    key = _key(wanted, lock.read_text(encoding="utf-8") if lock.is_file() else "")
    async with workshop.bench("node", key, f"{manifest.name}: installing its Node packages") as (
        packages,
        ready,
    ):
        if not ready:
            npm = _found("npm", "install npm, which comes with Node.js")
            for path in (folder / "package.json", lock):
                if path.is_file():
                    shutil.copy(path, packages)
            quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            await workshop.make((npm, "ci" if lock.is_file() else "install", *quiet), packages)
    async with workshop.bench("app", fingerprint(folder), f"{manifest.name}: preparing") as (app, ready):
        if not ready:
            shutil.copytree(folder, app, dirs_exist_ok=True)
            (app / "node_modules").symlink_to(packages / "node_modules")
    return app, (app, packages)


def _dependencies(path: Path) -> str:
    """What a package.json asks for, as one text; empty where it asks for nothing."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise BuildError(f"{path} is not JSON ({error})", hint="mend it") from error
    kinds = ("dependencies", "devDependencies", "optionalDependencies")
    wanted = {kind: document[kind] for kind in kinds if isinstance(document, dict) and document.get(kind)}
    return json.dumps(wanted, sort_keys=True) if wanted else ""


def _typescript(node: str, folder: Path) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """The options by which this Node runs TypeScript, and the folders that they need."""
    version = tuple(int(part) for part in re.findall(r"\d+", _version(node, "--version"))[:2])
    local = folder / "node_modules" / "tsx"
    if not local.is_dir() and version >= STRIPS_TYPES:
        return (), ()
    if not local.is_dir() and version >= STRIPS_TYPES_IF_ASKED:
        return ("--experimental-strip-types", "--disable-warning=ExperimentalWarning"), ()
    tsx = local.resolve() if local.is_dir() else _tsx()
    if tsx is None or version < TAKES_IMPORT:
        numbers = ".".join(map(str, version))
        hint = "install Node.js 22.18 or newer, or tsx (npm install -g tsx, or as a dependency in package.json)"
        raise ToolchainError(f"Node.js {numbers} cannot run TypeScript by itself", hint=hint)
    # The command line of tsx opens a socket, which the walls forbid; its loader needs none.
    return ("--import", (tsx / "dist" / "loader.mjs").as_uri()), (tsx.parent,)


def _tsx() -> Path | None:
    program = shutil.which("tsx")
    if program is None:
        return None
    for parent in Path(program).resolve().parents:
        if (parent / "dist" / "loader.mjs").is_file():
            return parent
    return None


async def _go(manifest: Manifest, workshop: Workshop) -> Command:
    go = _found("go", "install Go, or ship the built program with `runtime: binary`")
    package = manifest.entry_path.resolve().parent
    if not (manifest.folder / "go.mod").is_file():
        raise BuildError(f"{manifest.folder} has no go.mod", hint="run `go mod init` there")
    key = _key(fingerprint(manifest.folder), _version(go, "version"), manifest.entry)
    async with workshop.bench("go", key, f"{manifest.name}: building its Go program") as (folder, ready):
        program = folder / "tool"
        if not ready:
            settings = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false -trimpath"}
            if "HOME" not in workshop.environ:
                settings["GOCACHE"] = str(workshop.cache / "go-cache")
            await workshop.make((go, "build", "-o", str(program), "."), package, settings)
    return Command((str(program),), (folder,))


def _binary(manifest: Manifest) -> Command:
    path = manifest.entry_path.resolve()
    if not os.access(path, os.X_OK):
        raise BuildError(f"{path} may not be executed", hint=f"run `chmod +x {path}`")
    return Command((str(path),))


def _found(program: str, hint: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise ToolchainError(f"{program} is not installed", hint=hint)
    return path


def _prefix(program: str) -> Path:
    return Path(program).resolve().parent.parent


def _version(path: str, flag: str) -> str:
    try:
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip()


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
