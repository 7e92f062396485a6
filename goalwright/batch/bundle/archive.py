"""The canonical archive of a bundle: sorted, without times and owners, so that equal contents have equal hashes."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright.batch.bundle.refusal import BundleRefused
from goalwright_skills.manage.archive import ArchiveLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMITS = ArchiveLimits(entries=20_000, size=200 * 1024 * 1024)
# The one folder of an unpacked bundle that runs write to.
RUNS = PurePosixPath("workspace/.agents/runs")


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file of a bundle: what is in it, and whether it can be executed."""

    data: bytes
    executable: bool = False


def archive(files: Mapping[PurePosixPath, BundleFile]) -> bytes:
    """The canonical archive of these files."""
    if len(files) > LIMITS.entries:
        raise _too_large(f"has {len(files):,} files, more than {LIMITS.entries:,}")
    if (size := sum(len(file.data) for file in files.values())) > LIMITS.size:
        raise _too_large(f"has {size:,} bytes, more than {LIMITS.size:,}")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files, key=lambda path: path.parts):
            entry = tarfile.TarInfo(str(path))
            entry.size, entry.mode = len(files[path].data), 0o555 if files[path].executable else 0o444
            tar.addfile(entry, io.BytesIO(files[path].data))
    return made.getvalue()


def sha256(data: bytes) -> str:
    """The hash by which a bundle is known."""
    return hashlib.sha256(data).hexdigest()


def read_folder(folder: Path) -> dict[PurePosixPath, BundleFile]:
    """The files of an unpacked bundle, apart from what runs have written; raises if there is more than files."""
    files: dict[PurePosixPath, BundleFile] = {}
    for here, folders, names in os.walk(folder):
        folders.sort()
        relative = PurePosixPath(*Path(here).relative_to(folder).parts)
        if relative == RUNS.parent and RUNS.name in folders:
            folders.remove(RUNS.name)
        for name in (*names, *folders):
            path = Path(here, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise BundleRefused(
                    f"{path} is a link or a device", hint="delete the folder; it will be unpacked again"
                )
        for name in names:
            path = Path(here, name)
            files[relative / name] = BundleFile(path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return files


def _too_large(what: str) -> BundleRefused:
    return BundleRefused(
        f"the bundle for the workers {what}", hint="move data out of the skills, or mount it on every machine"
    )
