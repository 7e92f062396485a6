"""MCP servers with `"confined": true` in their entry: started in the sandbox of tools."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import hidden_paths
from goalwright_skills.confinement.box import Box, Command, Launch, ResourceLimits
from goalwright_skills.confinement.system_paths import PROGRAMS, installation
from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.mcp.entry import ServerLaunch

_CPU_SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class Started:
    """A command and its environment; the caller closes the launch's files and watches its memory."""

    launch: Launch
    env: Mapping[str, str]


@contextmanager
def confined(launch: ServerLaunch, env: Mapping[str, str], confinement: Confinement) -> Iterator[Started]:
    """Yield the command of a server that reads the workspace without secrets and writes to a scratch folder."""
    if confinement.refusal:
        message = f"the MCP server {launch.name!r} is not started: {confinement.refusal}"
        raise McpFault(message, hint='or remove "confined" from its entry')
    program = _program(launch, env)
    folder = Path(tempfile.mkdtemp(prefix="goalwright-mcp-")).resolve()
    try:
        shown = hidden_paths.unlinked(launch.folder, hidden_paths.shown_anyway(launch.folder))
        limits = ResourceLimits(cpu=_CPU_SECONDS)
        box = Box(launch.cwd, (launch.folder,), (folder,), launch.network, limits, shown)
        scratch = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(folder))
        command = Command((program, *launch.args), _installed(program, launch.folder), env={**scratch, **launch.env})
        started = confinement.launch(command, box)
        try:
            yield Started(started, {name: value for name, value in env.items() if name not in launch.env})
        finally:
            started.done()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(launch: ServerLaunch, env: Mapping[str, str]) -> str:
    """Return the path of the program, because PATH is not searched inside the sandbox."""
    if os.sep in launch.command:
        return str(launch.cwd / Path(launch.command).expanduser())
    program = shutil.which(launch.command, path=env.get("PATH", os.defpath))
    if program is None:
        raise FileNotFoundError(2, "No such file or directory", launch.command)
    return program


def _installed(program: str, workspace: Path) -> tuple[Path, ...]:
    """Return the installation of a program, by its path and by the target of links; empty in the workspace."""
    root = Path(os.path.realpath(workspace))
    paths: list[Path] = []
    for path in {Path(os.path.normpath(program)), Path(os.path.realpath(program))}:
        if any(path.is_relative_to(shown) for shown in (*PROGRAMS, root, workspace)):
            continue
        if path.parent.name in ("bin", "Scripts"):
            paths += installation(path.parent.parent)
        else:
            paths.append(path if _is_shared(path.parent, root) else path.parent)
    return tuple(paths)


def _is_shared(folder: Path, workspace: Path) -> bool:
    """Whether a folder contains the home folder or the workspace, and therefore more than a program."""
    return any(Path(os.path.realpath(inner)).is_relative_to(folder) for inner in (Path.home(), workspace))
