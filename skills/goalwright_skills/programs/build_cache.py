"""A cache of the environments, packages and programs that tools need, built once in the sandbox.

The key of a build is a hash of all its inputs. Its steps can write only to the build's own folder; the marker of a
finished build is beside that folder, where neither a step nor a tool can write. A folder without a marker, or owned by
another user, is built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import file_lock
from goalwright_skills.confinement import Box, Command, ResourceLimits, choose
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs import process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from goalwright_skills.confinement import Confinement

FORMAT = "2"  # part of every key; increased when the layout of builds changes
BUILD_TIMEOUT = 600.0
LIMITS = ResourceLimits(memory=4 * 1024**3, file_size=8 * 1024**3, processes=512, open_files=4096)
PATH = "/usr/local/bin:/usr/bin:/bin"
# pip reports its system to indexes, and fails if these files exist but are not readable.
FACTS = ("os-release", "debian_version", "lsb-release", "redhat-release", "alpine-release", "SuSE-release")
PASSED = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
SHOWN = 600


class ToolchainError(GoalwrightError):
    """A program that a runtime needs is missing or too old."""

    code = "TOOLCHAIN"


class BuildError(GoalwrightError):
    """A tool's environment or program could not be built."""

    code = "BUILD_FAILED"


def _silent(_message: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class BuildStep:
    """One command of a build, with its title for errors, its variables and its network access."""

    title: str
    command: Command
    env: Mapping[str, str] = field(default_factory=dict)
    network: bool = False
    cwd: Path | None = None  # by default the build's work folder
    readable: tuple[Path, ...] = ()  # folders of the workspace; hidden files stay hidden


@dataclass(frozen=True, slots=True)
class BuildFolder:
    """The folder of one build; `work` is removed when the build is done."""

    path: Path
    ready: bool

    @property
    def work(self) -> Path:
        """The folder for temporary files of the build."""
        return self.path / "work"


@dataclass(frozen=True, slots=True)
class BuildCache:
    """A cache folder with the user's environment, a callback for progress, and the sandbox of builds."""

    cache: Path
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    progress: Callable[[str], object] = _silent
    confinement: Confinement = field(default_factory=choose)

    @contextlib.asynccontextmanager
    async def folder(self, kind: str, key: str, title: str) -> AsyncIterator[BuildFolder]:
        """Yield the folder for a key; if it is not ready, the body builds and verifies it while other callers wait.

        It is built in place and marked when done, because a virtual environment cannot be moved.
        """
        folder = self.cache / kind / key
        marker = folder.with_suffix(".ready")
        if _is_ready(folder, marker):
            yield BuildFolder(folder, ready=True)
            return
        async with file_lock.hold_async(folder.with_suffix(".lock")):
            if _is_ready(folder, marker):
                yield BuildFolder(folder, ready=True)
                return
            marker.unlink(missing_ok=True)
            remove(folder)
            build = BuildFolder(folder, ready=False)
            folder.mkdir(mode=0o700)
            build.work.mkdir()
            start = time.monotonic()
            self.progress(f"{title} …")
            yield build
            remove(build.work)
            marker.touch(mode=0o600)
            self.progress(f"{title}: done in {time.monotonic() - start:.1f} s")

    async def run_step(self, build: BuildFolder, step: BuildStep) -> None:
        """Run one step of a build in the sandbox; its output is shown only if it fails."""
        refusal = self.confinement.refusal
        if refusal:
            raise BuildError(f"{step.title} was not run: {refusal}")
        home = build.work / "home"
        home.mkdir(exist_ok=True)
        own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), str(home))
        passed = {name: self.environ[name] for name in PASSED if name in self.environ}
        env = {"PATH": PATH, "LANG": "C.UTF-8", **passed, **step.env, **own}
        cwd = step.cwd or build.work
        box = Box(
            cwd,
            (*(Path("/etc") / name for name in FACTS), *step.readable),
            (build.path,),
            step.network,
            LIMITS.for_timeout(BUILD_TIMEOUT),
        )
        launch = self.confinement.launch(step.command, box)
        ended = await process.run(process.ProcessSpec(launch, env, cwd, BUILD_TIMEOUT))
        if ended.how == "timeout":
            hint = "ask for fewer or smaller packages, or try again with a faster connection"
            raise BuildError(f"{step.title} took longer than {BUILD_TIMEOUT:g} s", hint=hint)
        if ended.status != 0:
            tail = (ended.stdout + ended.stderr).strip()[-SHOWN:]
            raise BuildError(f"{step.title} failed: {tail}", hint="fix the cause, then call the tool again")


def _is_ready(folder: Path, marker: Path) -> bool:
    """Return whether a build is finished and owned by this user; neither it nor its marker may be a link."""
    return _is_own(marker, stat.S_ISREG) and _is_own(folder, stat.S_ISDIR)


def _is_own(path: Path, is_kind: Callable[[int], bool]) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def remove(path: Path) -> None:
    """Remove a folder, file or link, without following links."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path, onerror=_unlock)


def _unlock(function: Callable[[str], None], name: str, _error: object) -> None:
    """Retry after making the parent folder writable: Go's module cache is read-only."""
    os.chmod(os.path.dirname(name), stat.S_IRWXU)  # noqa: PTH101, PTH120 - a string from rmtree
    function(name)


def cache_key(*parts: str) -> str:
    """Return the key of a build: a hash of all its inputs."""
    return hashlib.sha256("\0".join((FORMAT, *parts)).encode()).hexdigest()[:32]
