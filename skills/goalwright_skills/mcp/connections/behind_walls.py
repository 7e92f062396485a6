"""MCP servers whose entry says `"confined": true`: started behind the walls of tools, for as long as they run."""

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
    """What to start, and with which environment; the caller closes the open files of the launch, and watches it."""

    launch: Launch
    env: Mapping[str, str]


@contextmanager
def confined(launch: ServerLaunch, env: Mapping[str, str], confinement: Confinement) -> Iterator[Started]:
    """What starts a server that sees the workspace without secrets, read-only, and can write to a scratch folder."""
    if confinement.refusal:
        what = f"the MCP server {launch.name!r} is not started: {confinement.refusal}"
        raise McpFault(what, hint='or remove "confined" from its entry')
    program = _program(launch, env)
    folder = Path(tempfile.mkdtemp(prefix="goalwright-mcp-")).resolve()
    try:
        shown = hidden_paths.unlinked(launch.folder, hidden_paths.shown_anyway(launch.folder))
        limits = ResourceLimits(cpu=_CPU_SECONDS)
        box = Box(launch.cwd, (launch.folder,), (folder,), launch.network, limits, shown)
        own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(folder))
        command = Command((program, *launch.args), _installed(program, launch.folder), env={**own, **launch.env})
        started = confinement.launch(command, box)
        try:
            yield Started(started, {name: value for name, value in env.items() if name not in launch.env})
        finally:
            started.done()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(launch: ServerLaunch, env: Mapping[str, str]) -> str:
    """The path of the program: inside, nothing is looked for."""
    if os.sep in launch.command:
        return str(launch.cwd / Path(launch.command).expanduser())
    found = shutil.which(launch.command, path=env.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(2, "No such file or directory", launch.command)
    return found


def _installed(program: str, workspace: Path) -> tuple[Path, ...]:
    """What a program is installed with, as its path is written and where links lead; the workspace is shown anyway."""
    root = Path(os.path.realpath(workspace))
    found: list[Path] = []
    for place in {Path(os.path.normpath(program)), Path(os.path.realpath(program))}:
        if any(place.is_relative_to(shown) for shown in (*PROGRAMS, root, workspace)):
            continue
        if place.parent.name in ("bin", "Scripts"):
            found += installation(place.parent.parent)
        else:
            found.append(place if _holds_more(place.parent, root) else place.parent)
    return tuple(found)


def _holds_more(folder: Path, workspace: Path) -> bool:
    """Whether a folder is no program's own: the home folder or the workspace lies in it."""
    return any(Path(os.path.realpath(inner)).is_relative_to(folder) for inner in (Path.home(), workspace))
