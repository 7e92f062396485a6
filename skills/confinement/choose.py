"""Which confinement this machine has, and what it holds."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skills.confinement import bubblewrap, cgroup, landlock, seccomp
from skills.confinement import landlock_box as landlocked
from skills.confinement.bubblewrap import BubblewrapConfinement
from skills.confinement.landlock_box import LandlockConfinement, NoConfinement

if TYPE_CHECKING:
    from skills.confinement.box import Box, Command, Confinement, Launch

INSTALL = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"


@dataclass(frozen=True, slots=True)
class RefusingConfinement:
    """Runs nothing, since nothing here can hold a tool."""

    refusal: str
    name: str = "refused"

    def launch(self, command: Command, box: Box) -> Launch:
        """Never: callers read `refusal` first."""
        raise OSError(f"{command.argv[0]} is not run in {box.cwd}: {self.refusal}")


@dataclass(frozen=True, slots=True)
class Force:
    """What is in force, what it holds, what it does not, and what to do about that."""

    name: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    hint: str = ""


def choose(*, unsafe: bool = False, home: Path | None = None) -> Confinement:
    """The strongest confinement that works here; where none does, a refusal; none where `unsafe`."""
    home = home or Path.home()
    if unsafe:
        return NoConfinement()
    program = bubblewrap.working()
    if program:
        return BubblewrapConfinement(program, home)
    abi = landlock.version()
    if abi and seccomp.machine() is not None:
        return LandlockConfinement(home, abi)
    return RefusingConfinement(f"nothing here can confine a tool's process — {_advice()}")


def in_force(*, unsafe: bool = False) -> Force:
    """What confines tools on this machine, for a person to read."""
    chosen = choose(unsafe=unsafe)
    limits: tuple[str, ...] = ("CPU time, memory, file size and open files are limited",)
    walls = ("the home, other folders and other processes are hidden", "no network unless a tool declares it")
    lacks: tuple[str, ...] = ()
    if _counts(chosen):
        limits = (*limits, "the number of processes is limited")
    else:
        needs = "control groups that root can make, or another user than root"
        lacks = (f"the number of processes is not limited (needs {needs})",)
    if chosen.refusal:
        return Force(chosen.name, (), ("tools are not run",), _advice())
    match chosen:
        case BubblewrapConfinement():
            ends = ("nothing outlives a call, not even what detached itself",)
            return Force(chosen.name, (*walls, *limits, *ends), lacks)
        case LandlockConfinement(abi=abi):
            ends = ("nothing outlives a call: a process cannot leave its group",)
            if abi < 6:
                lacks = (*lacks, "signals to other processes of the same user (needs Linux 6.12)")
            held = ("files outside cannot be opened or changed", "no network unless a tool declares it")
            reason = "bubblewrap is installed but cannot make its namespaces" if shutil.which("bwrap") else ""
            return Force(chosen.name, (*held, *limits, *ends), lacks, reason or f"for more, {INSTALL}")
    lacks = (*lacks, "files, network and other processes are open to every tool")
    return Force(chosen.name, limits, lacks, "leave out --unsafe-tools")


def _counts(chosen: Confinement) -> bool:
    """Whether a tool's processes are counted: by a control group, by its namespace, or by the launcher."""
    if cgroup.root() is not None:
        return True
    return os.geteuid() != 0 if isinstance(chosen, BubblewrapConfinement) else landlocked.counts()


def _advice() -> str:
    if platform.system() == "Linux":
        return f"{INSTALL}, or allow it with --unsafe-tools"
    return "confinement needs Linux: run weft in a Linux container or machine, or allow it with --unsafe-tools"
