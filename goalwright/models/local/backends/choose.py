"""Choose the backend for this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.models.local.backends import catalogue
from goalwright.models.local.backends.backend import LIBRARY, Backend, library
from goalwright.models.local.backends.machine import this_machine
from goalwright.models.local.downloads.progress import megabytes
from goalwright.models.local.store import models_dir
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.models.local.backends.catalogue import ProgramEntry
    from goalwright.models.local.backends.machine import Platform

VARIABLE = "GOALWRIGHT_LOCAL_BACKEND"
MISSING = "the embedded model needs the package xllamacpp, which is not installed"
REMEDY = (
    "Run `pip install 'goalwright[local]'` (in a checkout: `pip install -e '.[local]'`), "
    "or choose another model, such as with GOALWRIGHT_MODEL."
)

_SLOW = "the local model runs with {}, several times slower than it could on this processor"


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """The chosen backend and the reason; `faster` says what a faster one needs, `entry` is set if it can be fetched."""

    backend: Backend
    why: str
    faster: str = ""
    entry: ProgramEntry | None = None

    @property
    def slow(self) -> str:
        """A warning if a faster backend is available; empty if this is the fastest one here."""
        if not self.faster:
            return ""
        remedy = f"for a faster one: {self.faster}" if self.entry else "`goalwright doctor` shows the backends"
        return f"{_SLOW.format(self.backend)}: {self.why}; {remedy}"


def gave_way(program: Backend, own: Backend, fault: str) -> str:
    """The warning that the program did not start and the library runs instead."""
    assert program.program is not None  # noqa: S101 - only programs fall back
    reason = fault.splitlines()[-1][-200:] if fault else "no reason was given"
    remedy = f"delete {program.program.parent}, then `goalwright models pull` fetches it again"
    return f"{_SLOW.format(own)}: {program} did not start ({reason}); {remedy}"


def choose(root: Path | None = None) -> BackendChoice:
    """The backend for this machine; raises SetupError if none is installed."""
    wanted = os.environ.get(VARIABLE, "").strip()
    return decide(wanted, catalogue.read(), this_machine(), models_dir(root), library())


def fetchable() -> ProgramEntry | None:
    """The faster program that is not installed yet, unless the user chose another backend."""
    wanted = os.environ.get(VARIABLE, "").strip()
    nothing = Backend(LIBRARY, "")  # whether the library is installed makes no difference
    try:
        return decide(wanted, catalogue.read(), this_machine(), models_dir(), nothing).entry
    except SetupError:
        return None


def decide(
    wanted: str, entries: Sequence[ProgramEntry], machine: Platform, root: Path, own: Backend | None
) -> BackendChoice:
    """Choose between the installed library and the programs of the catalogue."""
    names = [LIBRARY, *(entry.name for entry in entries)]
    if wanted and wanted not in names:
        raise SetupError(f"{VARIABLE} is {wanted!r}; backends are: {', '.join(names)}", hint=f"Unset {VARIABLE}.")
    built = [entry for entry in entries if entry.needs.is_for(machine) and wanted in ("", entry.name)]
    if wanted == LIBRARY or not built:
        why = f"{VARIABLE} says so" if wanted else "its wheel for this platform uses the processor"
        return BackendChoice(_required(own), why)
    entry = built[0]
    if lacking := entry.needs.lacking(machine):
        return BackendChoice(_required(own), f"{entry.name} cannot run here: {lacking}", lacking)
    if (program := entry.installed(root)) is not None:
        return BackendChoice(program, entry.why)
    faster = f"{entry.name} ({megabytes(entry.bytes)}), which `goalwright models pull` fetches"
    return BackendChoice(_required(own), f"{entry.name} is not fetched yet", faster, entry)


def _required(own: Backend | None) -> Backend:
    if own is None:
        raise SetupError(MISSING, hint=REMEDY)
    return own
