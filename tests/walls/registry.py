"""The attacks that are known: each a function that returns what leaked, or an empty text if the wall held."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.skills.workbench import Workbench
from tests.walls import probes

Attack = Callable[[Workbench], Awaitable[str]]


class Skipped(Exception):
    """An attack that this machine cannot make; the message says why."""


@dataclass(frozen=True)
class Probe:
    """An attack, its theme (the module it is in), and whether it takes more than a second."""

    theme: str
    name: str
    attack: Attack
    slow: bool = False


_KNOWN: list[Probe] = []


def probe(name: str, *, slow: bool = False) -> Callable[[Attack], Attack]:
    """Register an attack under a name that says what must not happen."""

    def register(attack: Attack) -> Attack:
        _KNOWN.append(Probe(attack.__module__.rpartition(".")[2], name, attack, slow))
        return attack

    return register


def known() -> list[Probe]:
    """All attacks, by theme."""
    for module in pkgutil.iter_modules(probes.__path__):
        importlib.import_module(f"{probes.__name__}.{module.name}")
    return sorted(_KNOWN, key=lambda one: one.theme)
