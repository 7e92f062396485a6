"""A cache of what tools need, built once: environments, packages and programs, keyed by the hash of their source.

A build fetches and compiles but runs nothing that it fetched: only wheels for Python, no install scripts for Node,
no cgo for Go. So it needs no walls, and the user's own settings for mirrors and proxies apply.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills import file_lock
from skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

READY = ".ready"
BUILD_TIMEOUT = 600.0
SHOWN = 600


class ToolchainError(WeftError):
    """A program that a runtime needs is missing or too old."""

    code = "TOOLCHAIN"


class BuildError(WeftError):
    """A tool's environment or program could not be built."""

    code = "BUILD_FAILED"


def _silent(_message: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class BuildCache:
    """A cache folder, the environment of builds, and where to report their progress."""

    cache: Path
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    progress: Callable[[str], None] = _silent

    @contextlib.asynccontextmanager
    async def folder(self, kind: str, key: str, what: str) -> AsyncIterator[tuple[Path, bool]]:
        """The folder for a key, and whether it is ready; if not, the body builds in it while other callers wait.

        It is built in place and marked when done, since a virtual environment cannot be moved.
        """
        folder = self.cache / kind / key
        if (folder / READY).exists():
            yield folder, True
            return
        async with file_lock.hold_async(folder.with_suffix(".lock")):
            if (folder / READY).exists():
                yield folder, True
                return
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            start = time.monotonic()
            self.progress(f"{what} …")
            yield folder, False
            (folder / READY).touch()
            self.progress(f"{what}: done in {time.monotonic() - start:.1f} s")

    async def run_step(self, argv: Sequence[str], cwd: Path, extra: Mapping[str, str] | None = None) -> None:
        """Run one step of a build; its output is shown only if it fails."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env={**self.environ, **(extra or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(BUILD_TIMEOUT):
                output = (await process.communicate())[0].decode(errors="replace")
        except TimeoutError as error:
            raise BuildError(f"{argv[0]} took longer than {BUILD_TIMEOUT:g} s", hint="run it by hand") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                await process.wait()
        if process.returncode != 0:
            tail = output.strip()[-SHOWN:]
            raise BuildError(f"{' '.join(argv[:3])} failed: {tail}", hint=f"run it by hand in {cwd}")


def cache_key(*parts: str) -> str:
    """The key of a build: a hash of everything it is made from."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
