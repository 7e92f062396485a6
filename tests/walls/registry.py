"""The attacks on the sandbox: each is a function that returns the leak, or an empty string."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.skills.workbench import Workbench
from tests.walls import probes

Attack = Callable[[Workbench], Awaitable[str]]


class Skipped(Exception):
    """The attack cannot be made on this machine; the message gives the reason."""


@dataclass(frozen=True)
class Probe:
    """An attack, its theme (its module), and whether it takes more than a second."""

    theme: str
    name: str
    attack: Attack
    slow: bool = False


_PROBES: list[Probe] = []


def probe(name: str, *, slow: bool = False) -> Callable[[Attack], Attack]:
    """Register an attack under a name that states the protection."""

    def register(attack: Attack) -> Attack:
        _PROBES.append(Probe(attack.__module__.rpartition(".")[2], name, attack, slow))
        return attack

    return register


def all_probes() -> list[Probe]:
    """Return all attacks, sorted by theme."""
    for module in pkgutil.iter_modules(probes.__path__):
        importlib.import_module(f"{probes.__name__}.{module.name}")
    return sorted(_PROBES, key=lambda probe: probe.theme)
