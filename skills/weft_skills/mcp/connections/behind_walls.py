"""MCP servers whose entry says `"confined": true`: started behind the walls of tools, for as long as they run."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft_skills import hidden_paths
from weft_skills.confinement.box import Box, Command, ResourceLimits
from weft_skills.confinement.system_paths import PROGRAMS
from weft_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weft_skills.confinement import Confinement
    from weft_skills.mcp.entry import ServerLaunch

_CPU_SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class Started:
    """What to start, with which environment and open files, which the caller closes."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    fds: tuple[int, ...] = ()


@contextmanager
def confined(launch: ServerLaunch, env: Mapping[str, str], confinement: Confinement) -> Iterator[Started]:
    """What starts a server that sees the workspace without secrets, read-only, and can write to a scratch folder."""
    if confinement.refusal:
        what = f"the MCP server {launch.name!r} is not started: {confinement.refusal}"
        raise McpFault(what, hint='or remove "confined" from its entry')
    program = _program(launch, env)
    folder = Path(tempfile.mkdtemp(prefix="weft-mcp-")).resolve()
    try:
        shown = hidden_paths.unlinked(launch.folder, hidden_paths.shown_anyway(launch.folder))
        limits = ResourceLimits(cpu=_CPU_SECONDS)
        box = Box(launch.cwd, (launch.folder,), (folder,), launch.network, limits, shown)
        reads = _prefixes(program)
        started = confinement.launch(Command((program, *launch.args), reads), box)
        own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(folder))
        try:
            yield Started(started.argv, {**env, **own, **launch.env}, started.fds)
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


def _prefixes(program: str) -> tuple[Path, ...]:
    """The folders that a program is installed below, as its path is written and where links lead."""
    places = {Path(program).absolute(), Path(os.path.realpath(program))}
    found = []
    for place in places:
        if any(place.is_relative_to(system) for system in PROGRAMS):
            continue
        above = place.parent.parent if place.parent.name in ("bin", "Scripts") else place.parent
        found.append(place.parent if above in (Path.home(), Path("/")) else above)
    return tuple(found)
