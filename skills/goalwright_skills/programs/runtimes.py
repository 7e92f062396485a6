"""How a tool's program is started: with Python, Node or Go, or directly."""

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


COPIED = ("node", "go")  # a build reads their whole folder
PYTHON_OPTIONS = ("-X", "utf8", "-B")


async def prepare(manifest: Manifest, build_cache: BuildCache, workspace: Path) -> Command:
    """Build what a tool needs, and return the command that starts it; raises ToolchainError or BuildError."""
    if manifest.runtime in COPIED and hidden_paths.is_foreign(manifest.folder, workspace):
        what = f"{manifest.folder} leads to a project elsewhere, and building would show all of that to the tool"
        raise BuildError(what, hint="copy the tool's folder into the workspace")
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
    # Not `python`: a launcher outside the walls must not be started by an interpreter that foreign packages furnish.
    return Command((str(env / "bin" / "python"), *PYTHON_OPTIONS, entry), (env, *interpreter()))


def _binary(manifest: Manifest) -> Command:
    path = manifest.entry_path.resolve()
    if not os.access(path, os.X_OK):
        raise BuildError(f"{path} is not executable", hint=f"run `chmod +x {path}`")
    return Command((str(path),))


TYPESCRIPT = {".ts", ".mts", ".cts"}
STRIPS_TYPES = (22, 18)
STRIPS_TYPES_IF_ASKED = (22, 6)
TAKES_IMPORT = (20, 6)
TSX = "^4"
INSTALL = "install Node.js 22.18 or newer, or tsx (npm install -g tsx, or as a dependency in package.json)"
HASTY = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")  # offline, the error should come soon


async def _prepare_node(manifest: Manifest, build_cache: BuildCache) -> Command:
    """Install a tool's packages, and return the command that starts it."""
    node = toolchain.find("node", "install Node.js 20.6 or newer")
    folder, reads = await _packages(manifest, build_cache)
    entry = folder.resolve() / manifest.entry
    options: tuple[str, ...] = ()
    if entry.suffix in TYPESCRIPT:
        options, extra = await _typescript(node, folder, build_cache)
        reads = (*reads, *extra)
    return Command((node, *options, str(entry)), (*toolchain.installed(node), *reads))


async def _packages(manifest: Manifest, build_cache: BuildCache) -> tuple[Path, tuple[Path, ...]]:
    """The folder to run from (the tool's own, or a copy next to its installed packages), and what it reads."""
    folder = manifest.folder
    wanted = npm_build.wanted(folder)
    if wanted is None or (folder / "node_modules").is_dir():
        return folder, ()
    packages = await npm_build.install(wanted, build_cache, f"{manifest.name}: installing its Node packages")
    key = cache_key("app", fingerprint(folder), str(packages))
    async with build_cache.folder("app", key, f"{manifest.name}: preparing") as build:
        app = build.path / "app"
        if not build.ready:
            _copy(folder, app)
            (app / "node_modules").symlink_to(packages / "node_modules")
    return app, (build.path, packages)


def _copy(folder: Path, app: Path) -> None:
    """Copy what a tool sees of its folder; links are copied as links, and none may lead out of it."""
    shutil.copytree(folder, app, symlinks=True, ignore=lambda _, names: {*filter(is_hidden_name, names)})
    try:
        verify(app)
    except BuildError as error:
        raise BuildError(error.message, hint=f"copy what {folder} links to into it") from error


async def _typescript(node: str, folder: Path, build_cache: BuildCache) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """The options with which this Node runs TypeScript, and the folders they need."""
    version = tuple(int(part) for part in re.findall(r"\d+", toolchain.version(node, "--version"))[:2])
    local = folder / "node_modules" / "tsx"
    if not local.is_dir() and version >= STRIPS_TYPES:
        return (), ()
    if not local.is_dir() and version >= STRIPS_TYPES_IF_ASKED:
        return ("--experimental-strip-types", "--disable-warning=ExperimentalWarning"), ()
    if version < TAKES_IMPORT:
        raise ToolchainError(f"Node.js {_dotted(version)} cannot run TypeScript", hint=INSTALL)
    tsx = local.resolve() if local.is_dir() else _tsx() or await _fetch_tsx(_dotted(version), build_cache)
    # The command line of tsx opens a socket, which confinement forbids; its loader needs none.
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
    """Fetch tsx once, as a tool's own packages are fetched, if nothing on this machine runs TypeScript."""
    what = f"Node.js {version} needs tsx to run TypeScript: installing it"
    manifest = {"name": "tool", "version": "0.0.0", "private": True, "dependencies": {"tsx": TSX}}
    try:
        wanted = npm_build.NpmPackages(manifest, {}, Path("package-lock.json"))
        folder = await npm_build.install(wanted, build_cache, what, HASTY)
    except (ToolchainError, BuildError) as error:
        what = f"Node.js {version} cannot run TypeScript by itself, and tsx could not be installed ({error.message})"
        raise ToolchainError(what, hint=INSTALL) from error
    return folder / "node_modules" / "tsx"


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
