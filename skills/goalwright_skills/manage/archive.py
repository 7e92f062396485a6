"""Lists the files of a skill to import, from a folder or an archive, and checks all before any is written.

An absolute or `..` path, a link to the outside, a device, a duplicate name or an exceeded limit fails the whole import.
Links inside are written as copies of their targets, so that no link ever reaches the disk.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import sys
import tarfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SUFFIXES = (".zip", ".skill", ".tar.gz", ".tgz", ".tar")
REPACK = "pack the folder again"
COPY = "replace it with a copy"
_SKIPPED = frozenset({".git", "__pycache__", ".DS_Store", "__MACOSX"})
_DRIVE = re.compile(r"[A-Za-z]:")
_CHUNK = 64 * 1024
_HEADERS = 32 * 1024 * 1024
_PACKED: Mapping[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """The limits of an import; the ratio of unpacked to packed bytes applies above one megabyte."""

    entries: int = 5_000
    size: int = 100 * 1024 * 1024
    ratio: int = 100
    depth: int = 24


@dataclass(frozen=True, slots=True)
class Member:
    """A file to import: its path, how to open it, and whether it is executable."""

    path: PurePosixPath
    open: Callable[[], IO[bytes]]
    executable: bool = False


class ArchiveRefused(InputError):
    """The source was not imported, and none of its files were left behind."""


@contextmanager
def members(source: Path, limits: ArchiveLimits | None = None, name: str = "") -> Iterator[list[Member]]:
    """List the files of a folder, an archive or a single SKILL.md, readable while the context is open.

    Errors name the source by `name`, or else by its path.
    """
    with ExitStack() as stack:
        with _explained(name or source):
            files = _list(source, limits or ArchiveLimits(), stack, name or str(source))
        yield files


def _list(source: Path, limits: ArchiveLimits, stack: ExitStack, name: str) -> list[Member]:
    if source.is_dir():
        return _folder(source, limits)
    if source.name == "SKILL.md":
        return [Member(PurePosixPath("SKILL.md"), lambda: _opened(source))]
    if zipfile.is_zipfile(source):
        return _zip(stack.enter_context(zipfile.ZipFile(source)), limits)
    if source.is_file() and (opened := _opened_tar(source, stack)) is not None:
        tar, headers = opened
        files = _tar(tar, limits)
        headers.left = None
        return files
    suffixes = ", ".join(SUFFIXES)
    raise ArchiveRefused(
        f"{name} is not a folder, an archive or a SKILL.md", hint=f"give a folder or a file of type {suffixes}"
    )


@contextmanager
def _explained(source: Path | str) -> Iterator[None]:
    """Map the errors of a damaged or hostile archive to ArchiveRefused."""
    try:
        yield
    except _DAMAGE as error:
        raise ArchiveRefused(
            f"{source} cannot be unpacked: {error}", hint="check that it is complete and not encrypted"
        ) from error


def unpack(files: list[Member], target: Path, packed: int, limits: ArchiveLimits | None = None) -> None:
    """Write the files into a new folder, counting the bytes that are actually unpacked."""
    limits = limits or ArchiveLimits()
    total = 0
    for member in files:
        with _explained(str(member.path)):
            total = _write(member, target, total, (packed, limits))


def _write(member: Member, target: Path, total: int, bounds: tuple[int, ArchiveLimits]) -> int:
    """Write one file; returns the total of bytes written so far."""
    packed, limits = bounds
    path = target.joinpath(*member.path.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with member.open() as reading, path.open("xb") as writing:
        while chunk := reading.read(_CHUNK):
            total += len(chunk)
            if total > limits.size:
                raise _too_large(limits)
            if packed and total > 1024 * 1024 and total > packed * limits.ratio:
                raise ArchiveRefused(
                    f"it unpacks to more than {limits.ratio} times its size",
                    hint="import a folder instead",
                )
            writing.write(chunk)
    path.chmod(0o755 if member.executable else 0o644)
    return total


def safe_path(name: str) -> PurePosixPath:
    """Return an entry's path; raises ArchiveRefused if it leads outside."""
    path = PurePosixPath(name.replace("\\", "/"))
    bad = path.is_absolute() or ".." in path.parts or "\0" in name or _DRIVE.match(name)
    if bad or not path.parts:
        raise ArchiveRefused(f"entry {name!r} leads outside the archive: nothing was imported", hint=REPACK)
    return path


def _folder(source: Path, limits: ArchiveLimits) -> list[Member]:
    root = Path(os.path.realpath(source))
    members: list[Member] = []
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        linked = [name for name in folders if (Path(parent) / name).is_symlink()]
        if linked:
            link = Path(parent) / linked[0]
            if Path(os.path.realpath(link)).is_relative_to(root):
                raise ArchiveRefused(f"{link} is a link to a folder", hint=COPY)
            raise ArchiveRefused(f"{link} is a link that leads outside", hint=COPY)
        for name in sorted(set(files) - _SKIPPED):
            members.append(_file(Path(parent) / name, root))
            _check_count(len(members), limits)
    return [_check_depth(member, limits) for member in members]


def _file(path: Path, root: Path) -> Member:
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise ArchiveRefused(f"{path} is a link that leads outside", hint=COPY)
    mode = real.stat().st_mode
    if not stat.S_ISREG(mode):
        raise ArchiveRefused(f"{path} is not a regular file", hint="remove it")
    relative = PurePosixPath(*path.relative_to(root).parts)
    return Member(relative, lambda: _opened(real), bool(mode & 0o100))


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(untrusted_files.open_regular(path, sys.maxsize), "rb")


def _zip(opened: zipfile.ZipFile, limits: ArchiveLimits) -> list[Member]:
    infos = opened.infolist()
    _check_count(len(infos), limits)
    _check_size(sum(info.file_size for info in infos), limits)
    files: dict[PurePosixPath, Member] = {}
    links: dict[PurePosixPath, str] = {}
    for info in infos:
        path = safe_path(info.filename)
        mode = info.external_attr >> 16
        if info.is_dir() or _SKIPPED & set(path.parts):
            continue
        _check_new(path, files, links)
        if stat.S_ISLNK(mode):
            links[path] = opened.read(info).decode("utf-8", "replace") if info.file_size < 4_096 else "/"
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ArchiveRefused(f"entry {info.filename!r} is not a regular file", hint=REPACK)
        else:
            files[path] = Member(path, _opener(opened.open, info), bool(mode & 0o100))
    return [_check_depth(member, limits) for member in _with_links(files, links)]


class _Headers:
    """Bounds the headers of a tar archive, which `tarfile` reads into memory at any length.

    `left` is the number of bytes that may still be read; it is None once all headers have been listed.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.left: int | None = _HEADERS
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int) -> bytes:
        if self.left is not None:
            self.left -= size
            if self.left < 0:
                raise ArchiveRefused(f"it has more than {_HEADERS} bytes of headers", hint=REPACK)
        return self._file.read(size)


def _opened_tar(source: Path, stack: ExitStack) -> tuple[tarfile.TarFile, _Headers] | None:
    """Open a tar archive, compressed or not; None if the file is not one."""
    with source.open("rb") as file:
        magic = file.read(6)
    opener = next((opener for prefix, opener in _PACKED.items() if magic.startswith(prefix)), open)
    headers = _Headers(stack.enter_context(opener(source, "rb")))
    try:
        return stack.enter_context(tarfile.open(fileobj=headers, mode="r:")), headers  # type: ignore[call-overload]
    except (tarfile.ReadError, EOFError, OSError, zlib.error, lzma.LZMAError):
        return None


def _tar(tar: tarfile.TarFile, limits: ArchiveLimits) -> list[Member]:
    files: dict[PurePosixPath, Member] = {}
    links: dict[PurePosixPath, str] = {}
    size = 0
    for count, info in enumerate(tar, 1):
        _check_count(count, limits)
        size += info.size
        _check_size(size, limits)
        if info.isdir() and info.name in (".", "./"):
            continue
        path = safe_path(info.name)
        if info.isdir() or _SKIPPED & set(path.parts):
            continue
        _check_new(path, files, links)
        if info.issym():
            links[path] = info.linkname
        elif info.islnk():
            # A hard link's target is relative to the archive's root, a symbolic link's to its own folder.
            links[path] = "/".join([".."] * (len(path.parts) - 1) + [str(safe_path(info.linkname))])
        elif not info.isreg():
            raise ArchiveRefused(f"entry {info.name!r} is not a regular file", hint=REPACK)
        else:
            files[path] = Member(path, _opener(tar.extractfile, info), bool(info.mode & 0o100))
    return [_check_depth(member, limits) for member in _with_links(files, links)]


def _with_links(files: Mapping[PurePosixPath, Member], links: Mapping[PurePosixPath, str]) -> list[Member]:
    """Return the files, and each link as a copy of its target."""
    members = list(files.values())
    for path, link in links.items():
        target = PurePosixPath(os.path.normpath(path.parent / link.replace("\\", "/")))
        if target.is_absolute() or ".." in target.parts or _DRIVE.match(link):
            raise ArchiveRefused(f"link {str(path)!r} leads outside to {link!r}: nothing was imported", hint=COPY)
        if target not in files:
            raise ArchiveRefused(f"link {str(path)!r} leads to {link!r}, which is not a file in the archive", hint=COPY)
        members.append(Member(path, files[target].open, files[target].executable))
    return members


def _opener(opening: Callable[..., IO[bytes] | None], info: object) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        file = opening(info)
        if file is None:
            raise OSError("an entry has no data")
        return file

    return opened


def _check_new(path: PurePosixPath, *seen: Mapping[PurePosixPath, object]) -> None:
    if any(path in paths for paths in seen):
        raise ArchiveRefused(f"entry {str(path)!r} exists twice", hint=REPACK)


def _check_count(count: int, limits: ArchiveLimits) -> None:
    if count > limits.entries:
        raise ArchiveRefused(f"it has more than {limits.entries} entries", hint="import a smaller one")


def _check_size(size: int, limits: ArchiveLimits) -> None:
    if size > limits.size:
        raise _too_large(limits)


def _too_large(limits: ArchiveLimits) -> ArchiveRefused:
    return ArchiveRefused(f"it unpacks to more than {limits.size} bytes", hint="import a smaller one")


def _check_depth(member: Member, limits: ArchiveLimits) -> Member:
    if len(member.path.parts) > limits.depth:
        raise ArchiveRefused(
            f"{str(member.path)!r} is nested deeper than {limits.depth} folders", hint="import a flatter one"
        )
    return member
