"""The command that starts a tool's program: with Python, Node or Go, or directly."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import hidden_paths
from goalwright_skills.confinement.box import Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.hidden_paths import is_hidden_name
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.build_cache import BuildCache, BuildError, ToolchainError, cache_key
from goalwright_skills.programs.builds import go_build, npm_build, python_build
from goalwright_skills.programs.builds.verify import verify
from goalwright_skills.programs.fingerprint import fingerprint

if TYPE_CHECKING:
    from goalwright_skills.programs.manifest import Manifest


READS_FOLDER = ("node", "go")  # their builds read the whole folder
PYTHON_OPTIONS = ("-X", "utf8", "-B")


async def prepare(manifest: Manifest, build_cache: BuildCache, workspace: Path) -> Command:
    """Build a tool's dependencies and return the command that starts it; raises ToolchainError or BuildError."""
    if manifest.runtime in READS_FOLDER and hidden_paths.is_foreign(manifest.folder, workspace):
        problem = f"{manifest.folder} links to a project elsewhere, and a build would expose all of it to the tool"
        raise BuildError(problem, hint="copy the tool's folder into the workspace")
    match manifest.runtime:
        case "python":
            return await _python(manifest, build_cache)
        case "node":
            return await _prepare_node(manifest, build_cache)
        case "go":
            program = await go_build.program(manifest, build_cache)
            return Command((str(program),), (program.parent,))
        case "binary":
            return _binary(manifest)


async def _python(manifest: Manifest, build_cache: BuildCache) -> Command:
    entry = str(manifest.entry_path.resolve())
    env = await python_build.environment(manifest, build_cache)
    if env is None:
        return Command((sys.executable, *PYTHON_OPTIONS, entry), interpreter(), python=True)
    # Not `python=True`: the launcher outside the sandbox must not run in an interpreter with foreign packages.
    return Command((str(env / "bin" / "python"), *PYTHON_OPTIONS, entry), (env, *interpreter()))


def _binary(manifest: Manifest) -> Command:
    path = manifest.entry_path.resolve()
    if not os.access(path, os.X_OK):
        raise BuildError(f"{path} is not executable", hint=f"run `chmod +x {path}`")
    return Command((str(path),))


TYPESCRIPT = {".ts", ".mts", ".cts"}
STRIPS_TYPES = (22, 18)
STRIPS_TYPES_WITH_FLAG = (22, 6)
HAS_IMPORT_OPTION = (20, 6)
TSX = "^4"
INSTALL = "install Node.js 22.18 or newer, or tsx (npm install -g tsx, or as a dependency in package.json)"
FEW_RETRIES = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")  # fail early when offline


async def _prepare_node(manifest: Manifest, build_cache: BuildCache) -> Command:
    """Install a tool's packages and return the command that starts it."""
    node = toolchain.find("node", "install Node.js 20.6 or newer")
    folder, readable = await _packages(manifest, build_cache)
    entry = folder.resolve() / manifest.entry
    options: tuple[str, ...] = ()
    if entry.suffix in TYPESCRIPT:
        options, extra = await _typescript(node, folder, build_cache)
        readable = (*readable, *extra)
    return Command((node, *options, str(entry)), (*toolchain.installed(node), *readable))


async def _packages(manifest: Manifest, build_cache: BuildCache) -> tuple[Path, tuple[Path, ...]]:
    """Return the folder to run from (the tool's own, or a copy beside its packages), and its readable paths."""
    folder = manifest.folder
    requested = npm_build.requested(folder)
    if requested is None or (folder / "node_modules").is_dir():
        return folder, ()
    packages = await npm_build.install(requested, build_cache, f"{manifest.name}: installing its Node packages")
    key = cache_key("app", fingerprint(folder), str(packages))
    async with build_cache.folder("app", key, f"{manifest.name}: preparing") as build:
        app = build.path / "app"
        if not build.ready:
            _copy(folder, app)
            (app / "node_modules").symlink_to(packages / "node_modules")
    return app, (build.path, packages)


def _copy(folder: Path, app: Path) -> None:
    """Copy a tool's folder without hidden files; links are copied as links and must stay inside."""
    shutil.copytree(folder, app, symlinks=True, ignore=lambda _, names: {*filter(is_hidden_name, names)})
    try:
        verify(app)
    except BuildError as error:
        raise BuildError(error.message, hint=f"replace the links in {folder} by copies of their targets") from error


async def _typescript(node: str, folder: Path, build_cache: BuildCache) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the options with which this Node runs TypeScript, and the folders that they need."""
    version = tuple(int(part) for part in re.findall(r"\d+", toolchain.version(node, "--version"))[:2])
    local = folder / "node_modules" / "tsx"
    if not local.is_dir() and version >= STRIPS_TYPES:
        return (), ()
    if not local.is_dir() and version >= STRIPS_TYPES_WITH_FLAG:
        return ("--experimental-strip-types", "--disable-warning=ExperimentalWarning"), ()
    if version < HAS_IMPORT_OPTION:
        raise ToolchainError(f"Node.js {_dotted(version)} cannot run TypeScript", hint=INSTALL)
    tsx = local.resolve() if local.is_dir() else _tsx() or await _fetch_tsx(_dotted(version), build_cache)
    # The command `tsx` opens a socket, which the sandbox forbids; its loader needs none.
    return ("--import", (tsx / "dist" / "loader.mjs").as_uri()), (tsx.parent,)


def _tsx() -> Path | None:
    program = toolchain.which("tsx")
    if program is None:
        return None
    for parent in Path(program).resolve().parents:
        if (parent / "dist" / "loader.mjs").is_file():
            return parent
    return None


async def _fetch_tsx(version: str, build_cache: BuildCache) -> Path:
    """Install tsx once, like a tool's own packages, if nothing on this machine runs TypeScript."""
    title = f"Node.js {version} needs tsx to run TypeScript: installing it"
    manifest = {"name": "tool", "version": "0.0.0", "private": True, "dependencies": {"tsx": TSX}}
    try:
        requested = npm_build.NpmPackages(manifest, {}, Path("package-lock.json"))
        folder = await npm_build.install(requested, build_cache, title, FEW_RETRIES)
    except (ToolchainError, BuildError) as error:
        problem = f"Node.js {version} cannot run TypeScript, and tsx could not be installed ({error.message})"
        raise ToolchainError(problem, hint=INSTALL) from error
    return folder / "node_modules" / "tsx"


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
