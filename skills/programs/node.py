"""How a JavaScript or TypeScript tool is started: with which Node, packages and options."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skills.confinement.box import Command
from skills.programs import toolchain
from skills.programs.build_cache import BuildCache, BuildError, ToolchainError, cache_key
from skills.programs.trust import fingerprint

if TYPE_CHECKING:
    from skills.programs.manifest import Manifest

TYPESCRIPT = {".ts", ".mts", ".cts"}
STRIPS_TYPES = (22, 18)
STRIPS_TYPES_IF_ASKED = (22, 6)
TAKES_IMPORT = (20, 6)
TSX = "tsx@^4"
INSTALL = "install Node.js 22.18 or newer, or tsx (npm install -g tsx, or as a dependency in package.json)"
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


async def prepare(manifest: Manifest, build_cache: BuildCache) -> Command:
    """Install a tool's packages, and return the command that starts it."""
    node = toolchain.find("node", "install Node.js 20.6 or newer")
    folder, reads = await _packages(manifest, build_cache)
    entry = folder.resolve() / manifest.entry
    options: tuple[str, ...] = ()
    if entry.suffix in TYPESCRIPT:
        options, extra = await _typescript(node, folder, build_cache)
        reads = (*reads, *extra)
    return Command((node, *options, str(entry)), (_prefix(node), *reads))


async def _packages(manifest: Manifest, build_cache: BuildCache) -> tuple[Path, tuple[Path, ...]]:
    """The folder to run from (the tool's own, or a copy next to its installed packages), and what it reads."""
    folder = manifest.folder
    wanted = _dependencies(folder / "package.json")
    if not wanted or (folder / "node_modules").is_dir():
        return folder, ()
    lock = folder / "package-lock.json"
    key = cache_key(wanted, lock.read_text(encoding="utf-8") if lock.is_file() else "")
    async with build_cache.folder("node", key, f"{manifest.name}: installing its Node packages") as (
        packages,
        ready,
    ):
        if not ready:
            npm = toolchain.find("npm", "install npm, which comes with Node.js")
            for path in (folder / "package.json", lock):
                if path.is_file():
                    shutil.copy(path, packages)
            await build_cache.run_step((npm, "ci" if lock.is_file() else "install", *QUIET), packages)
    async with build_cache.folder("app", fingerprint(folder), f"{manifest.name}: preparing") as (app, ready):
        if not ready:
            shutil.copytree(folder, app, dirs_exist_ok=True)
            (app / "node_modules").symlink_to(packages / "node_modules")
    return app, (app, packages)


def _dependencies(path: Path) -> str:
    """The dependencies in a package.json as one text; empty if there are none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise BuildError(f"{path} is not valid JSON ({error})", hint="fix the file") from error
    kinds = ("dependencies", "devDependencies", "optionalDependencies")
    wanted = {kind: document[kind] for kind in kinds if isinstance(document, dict) and document.get(kind)}
    return json.dumps(wanted, sort_keys=True) if wanted else ""


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
    program = shutil.which("tsx")
    if program is None:
        return None
    for parent in Path(program).resolve().parents:
        if (parent / "dist" / "loader.mjs").is_file():
            return parent
    return None


async def _fetch_tsx(version: str, build_cache: BuildCache) -> Path:
    """Fetch tsx once, as a tool's own packages are fetched, if nothing on this machine runs TypeScript."""
    try:
        npm = toolchain.find("npm", INSTALL)
        what = f"Node.js {version} needs tsx to run TypeScript: installing it"
        async with build_cache.folder("node", cache_key(TSX), what) as (folder, ready):
            if not ready:
                hasty = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")  # offline, the error should come soon
                await build_cache.run_step((npm, "install", "--prefix", str(folder), *QUIET, *hasty, TSX), folder)
    except (ToolchainError, BuildError) as error:
        what = f"Node.js {version} cannot run TypeScript by itself, and tsx could not be installed ({error.message})"
        raise ToolchainError(what, hint=INSTALL) from error
    return folder / "node_modules" / "tsx"


def _prefix(program: str) -> Path:
    return Path(program).resolve().parent.parent


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
