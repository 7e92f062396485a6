"""How a tool's program is started: with Python, Node or Go, or directly."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from goalwright_skills import hidden_paths
from goalwright_skills.confinement.box import Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.programs import node
from goalwright_skills.programs.build_cache import BuildCache, BuildError
from goalwright_skills.programs.builds import go_build, python_build

if TYPE_CHECKING:
    from pathlib import Path

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
            return await node.prepare(manifest, build_cache)
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
