"""Real tools in a temporary folder, for the tests that run them."""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from goalwright_skills.confinement import choose, landlock
from goalwright_skills.confinement.bubblewrap import BubblewrapConfinement, working
from goalwright_skills.confinement.landlock_box import LandlockConfinement
from goalwright_skills.programs import manifest_file as manifests
from goalwright_skills.programs.build_cache import BuildCache
from goalwright_skills.programs.executable import ExecutableTool, ToolHost
from tests.needs import need, needs_bubblewrap, needs_landlock

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.tools.envelope import CallLog

REPLY = """
import json, sys
arguments = json.loads(sys.stdin.readline())["arguments"]
def reply(output="", error=""):
    print(json.dumps({"output": output, "error": error}))
"""


# Each confinement, for the parameters of a fixture; skipped where it does not work on this machine.
WALLS = [pytest.param("bubblewrap", marks=needs_bubblewrap), pytest.param("landlock", marks=needs_landlock)]


def walls(name: str, home: Path) -> Confinement:
    """A confinement that works on this machine."""
    return BubblewrapConfinement(working(), home) if name == "bubblewrap" else landlocked(home)


def any_walls(home: Path) -> Confinement:
    """Those that this machine has, for tests of something else."""
    if bubblewrap := working():
        return BubblewrapConfinement(bubblewrap, home)
    need("landlock")
    return landlocked(home)


def landlocked(home: Path) -> LandlockConfinement:
    """Confinement by Landlock."""
    return LandlockConfinement(home, landlock.version())


@dataclass
class Workbench:
    """A workspace inside a home, a tool in it, and what its calls logged."""

    root: Path
    confinement: Confinement | None = None
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    logs: list[CallLog] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    trusted: bool = True
    user: dict[str, str] = field(default_factory=lambda: dict(os.environ))  # whose settings for packages apply

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspace(self) -> Path:
        path = self.home / "project"
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    @property
    def artifacts(self) -> Path:
        return self.workspace / ".agents" / "runs" / "r1" / "artifacts"

    def folder(self, name: str = "demo") -> Path:
        path = self.workspace / "skills" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def tool(self, program: str, **keys: Any) -> ExecutableTool:
        """A Python tool `demo_run` whose program finds `arguments` and `reply` defined."""
        folder = self.folder()
        (folder / "main.py").write_text(REPLY + textwrap.dedent(program), encoding="utf-8")
        document = {"name": "demo_run", "description": "Run a demo.", "runtime": "python", "entry": "main.py"}
        (folder / "skill.yaml").write_text(yaml.safe_dump(document | keys), encoding="utf-8")
        return self.load(folder)

    def load(self, folder: Path) -> ExecutableTool:
        """The first tool that a folder offers."""
        found, problems = manifests.read(folder)
        assert not problems, [str(problem) for problem in problems]
        return ExecutableTool(found[0], self.host())

    def host(self) -> ToolHost:
        confinement = self.confinement or choose(home=self.home)
        return ToolHost(
            workspace=self.workspace,
            scratch=self.scratch,
            confinement=confinement,
            build_cache=BuildCache(self.root / "cache", self.user, self.progress.append, confinement),
            artifacts=self.artifacts,
            trusted=lambda _folder: self.trusted,
            log=self.logs.append,
            environ=self.environ,
        )
