"""The choice of the strongest confinement on this machine, and its description for people."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.confinement import bubblewrap, cgroup, landlock, landlock_box, seccomp
from goalwright_skills.confinement.bubblewrap import BubblewrapConfinement
from goalwright_skills.confinement.landlock_box import LandlockConfinement, NoConfinement

if TYPE_CHECKING:
    from goalwright_skills.confinement.box import Box, Command, Confinement, Launch

INSTALL = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"


@dataclass(frozen=True, slots=True)
class RefusingConfinement:
    """Refuses to run commands, because nothing on this machine can confine a tool."""

    refusal: str
    name: str = "refused"
    bridges: bool = False

    def launch(self, command: Command, box: Box) -> Launch:
        """Raise OSError; callers check `refusal` first."""
        raise OSError(f"{command.argv[0]} is not run in {box.cwd}: {self.refusal}")


@dataclass(frozen=True, slots=True)
class Description:
    """The confinement in force: what it enforces (`holds`), what it does not (`lacks`), and a hint."""

    name: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Abilities:
    """A machine's means of confinement: bubblewrap's path, Landlock's version, and a supported architecture."""

    bubblewrap: str
    landlock: int
    is_supported: bool

    @classmethod
    def detect(cls) -> Abilities:
        """Return the means of this machine."""
        return cls(bubblewrap.working(), landlock.version(), seccomp.machine() is not None)


def choose(*, unsafe: bool = False, home: Path | None = None, machine: Abilities | None = None) -> Confinement:
    """Return the strongest confinement that works here; otherwise a refusal, or no confinement if `unsafe`."""
    home = home or Path.home()
    machine = machine or Abilities.detect()
    if machine.bubblewrap:
        return BubblewrapConfinement(machine.bubblewrap, home)
    if machine.landlock and machine.is_supported:
        return LandlockConfinement(home, machine.landlock)
    if unsafe:
        return NoConfinement()
    return RefusingConfinement(f"nothing on this machine can confine a tool's process — {_advice()}")


def describe(*, unsafe: bool = False, machine: Abilities | None = None) -> Description:
    """Describe the confinement of tools on this machine."""
    confinement = choose(unsafe=unsafe, machine=machine)
    limits: tuple[str, ...] = ("CPU time, memory (shared memory too), file size and open files are limited",)
    secrets = ".env, keys, .git and goalwright's own files are hidden"
    walls = (
        "the home folder, other folders and other processes are hidden",
        secrets,
        "no network unless a tool declares it",
    )
    lacks: tuple[str, ...] = ()
    if _limits_processes(confinement):
        limits = (*limits, "the number of processes is limited")
    else:
        needs = "control groups that root can create, or a user other than root"
        lacks = (f"the number of processes is not limited (needs {needs})",)
    if confinement.refusal:
        return Description(confinement.name, (), ("tools are not run",), _advice())
    match confinement:
        case BubblewrapConfinement():
            ends = ("nothing outlives a call, not even detached processes",)
            return Description(confinement.name, (*walls, *limits, *ends), lacks)
        case LandlockConfinement(abi=abi):
            ends = ("nothing outlives a call: a process cannot leave its group",)
            if abi < seccomp.SIGNALS_STAY_INSIDE:
                lacks = (*lacks, "a tool cannot end processes that it started (needs Linux 6.12)")
            walls = ("files outside cannot be opened or changed", secrets, "no network unless a tool declares it")
            lacks = (
                *lacks,
                "the names in hidden folders such as .git can be listed, though nothing there can be opened",
            )
            reason = "bubblewrap is installed but cannot create its namespaces" if shutil.which("bwrap") else ""
            return Description(
                confinement.name, (*walls, *limits, *ends), lacks, reason or f"for stronger confinement, {INSTALL}"
            )
    lacks = (*lacks, "files, network and other processes are open to every tool")
    return Description(confinement.name, limits, lacks, _remedy())


def _limits_processes(confinement: Confinement) -> bool:
    """Whether a control group, the namespace or the launcher limits a tool's processes."""
    if cgroup.root() is not None:
        return True
    return os.geteuid() != 0 if isinstance(confinement, BubblewrapConfinement) else landlock_box.can_count()


def _remedy() -> str:
    return INSTALL if platform.system() == "Linux" else "run goalwright in a Linux container or machine"


def _advice() -> str:
    needs = "" if platform.system() == "Linux" else "confinement needs Linux: "
    return f"{needs}{_remedy()}, or set `unsafe_tools` to run them unconfined"
