"""The tools of a workspace: programs with a skill.yaml and functions of installed packages, ready to be called."""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from skills import confinement, inprocess, manifest
from skills.executable import ExecutableTool, Surroundings
from skills.trust import Trust
from skills.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.confinement import Confinement
    from skills.executable import CallLog
    from skills.manifest import Manifest
    from skills.registry import Registry
    from skills.skill import Skill, Source
    from skills.tool import Tool
    from weft.places import Places

Log = Callable[["CallLog"], None]


class Toolshed:
    """Which tools there are, which of them the user trusts, and how they are confined."""

    def __init__(self, places: Places, registry: Registry, *, unsafe: bool = False) -> None:
        self._places = places
        self._registry = registry
        self._unsafe = unsafe
        self.trust = Trust(places.trust)

    @cached_property
    def confinement(self) -> Confinement:
        """What holds tools on this machine; one for the process, for it keeps what it sets up."""
        return confinement.choose(unsafe=self._unsafe)

    def programs(self) -> list[tuple[Skill, Manifest]]:
        """The programs that count, each with its manifest as it is now."""
        rows = [skill for skill in self._registry.list_skills() if skill.kind == "executable"]
        manifests = {folder: manifest.read(folder)[0] for folder in {row.base_dir for row in rows}}
        return [(row, one) for row in rows for one in manifests[row.base_dir] if one.name == row.name]

    def untrusted(self) -> list[Skill]:
        """The programs of the workspace that the user has not said may run."""
        return [row for row, _ in self.programs() if not self.trust.is_trusted(row.base_dir, row.source)]

    def trust_all(self) -> None:
        """Trust the workspace's tools and its settings as they are now."""
        for folder in {row.base_dir for row in self.untrusted()}:
            self.trust.trust(folder)
        self.trust.trust_workspace(self._places.workspace)

    def functions(self) -> tuple[list[Tool], list[str]]:
        """The tools of installed packages, and what is to be said of them."""
        found, notes = inprocess.discover(self._places.workspace, os.environ)
        return list(found), list(notes)

    def tools(
        self, artifacts: Path | None = None, *, log: Log | None = None, progress: Callable[[str], None] | None = None
    ) -> dict[str, Tool]:
        """Every tool by name, bound to this workspace and to a run's artifacts; a program wins over a function."""
        programs = self.programs()
        by_name: dict[str, Tool] = {tool.name: tool for tool in self.functions()[0]}
        if not programs:
            return by_name
        sources: Mapping[Path, Skill] = {row.base_dir: row for row, _ in programs}
        place = self._place(lambda folder: self.trust.is_trusted(folder, sources[folder].source), log, progress)
        place = replace(place, artifacts=artifacts)
        by_name.update({one.name: ExecutableTool(one, place) for _, one in programs})
        return by_name

    def bench(self, folder: Path) -> Surroundings | None:
        """Where an author's tool is tried; None for one that the user has not said may run."""
        own = self._places.workspace in folder.resolve().parents
        source: Source = "project" if own else "global"
        return self._place(lambda _: True) if self.trust.is_trusted(folder, source) else None

    def _place(
        self, trusted: Callable[[Path], bool], log: Log | None = None, progress: Callable[[str], None] | None = None
    ) -> Surroundings:
        place = Surroundings(
            workspace=self._places.workspace,
            scratch=Path(tempfile.gettempdir()) / f"weft-{getpass.getuser()}",
            confinement=self.confinement,
            workshop=Workshop(self._places.cache / "tools", dict(os.environ), progress or _silent),
            trusted=trusted,
        )
        return replace(place, log=log) if log else place


def _silent(_: str) -> None:
    """Say nothing of builds."""
