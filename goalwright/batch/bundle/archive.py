"""The canonical archive of a bundle, and its manifest: no times or owners, so that equal files have equal hashes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright.version import __version__
from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.manage.archive import ArchiveLimits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.discovery.registry import Registry


class BundleRefused(SetupError):
    """The bundle was not packed or not used; no part of it is left behind."""

    code = "BUNDLE_REFUSED"


LIMITS = ArchiveLimits(entries=20_000, size=200 * 1024 * 1024)
# The only folder of an unpacked bundle that runs write to.
RUNS = PurePosixPath("workspace/.agents/runs")


@dataclass(frozen=True, slots=True)
class BundleFile:
    """The content of a file, and whether it is executable."""

    data: bytes
    executable: bool = False


def archive(files: Mapping[PurePosixPath, BundleFile]) -> bytes:
    """Return the canonical archive of these files."""
    if len(files) > LIMITS.entries:
        raise _too_large(f"has {len(files):,} files, more than {LIMITS.entries:,}")
    if (size := sum(len(file.data) for file in files.values())) > LIMITS.size:
        raise _too_large(f"has {size:,} bytes, more than {LIMITS.size:,}")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files, key=lambda path: path.parts):
            entry = tarfile.TarInfo(str(path))
            entry.size, entry.mode = len(files[path].data), 0o555 if files[path].executable else 0o444
            tar.addfile(entry, io.BytesIO(files[path].data))
    return buffer.getvalue()


def sha256(data: bytes) -> str:
    """Return the hash that identifies a bundle."""
    return hashlib.sha256(data).hexdigest()


def read_folder(folder: Path) -> dict[PurePosixPath, BundleFile]:
    """Return the files of an unpacked bundle, except those of runs; raises if there is a link or a device."""
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


def _too_large(reason: str) -> BundleRefused:
    return BundleRefused(
        f"the bundle for the workers {reason}", hint="move data out of the skills, or mount it on every machine"
    )


NAME = PurePosixPath("bundle.json")
_LISTED_SKILLS = 5


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """The manifest of a bundle: the hash of each active skill (`catalogue`), and of each `trusted` folder."""

    goalwright: str = __version__
    catalogue: Mapping[str, str] = field(default_factory=dict)
    trusted: Sequence[str] = ()
    templates: bool = False

    def to_bytes(self) -> bytes:
        """Return the manifest as it is stored in the bundle."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=True, indent=1).encode()

    @classmethod
    def read(cls, data: bytes) -> BundleManifest:
        """Parse a manifest; raises BundleRefused if it is invalid."""
        try:
            document = json.loads(data)
            catalogue = {str(name): str(key) for name, key in document["catalogue"].items()}
            trusted = tuple(str(key) for key in document["trusted"])
            return cls(str(document["goalwright"]), catalogue, trusted, document["templates"] is True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BundleRefused("the bundle has no valid bundle.json", hint="send it again") from error

    def check(self, registry: Registry) -> None:
        """Raise unless this machine has the same version and finds the same skills as the sender."""
        if self.goalwright != __version__:
            raise BundleRefused(
                f"the bundle was made by goalwright {self.goalwright}, but this is {__version__}",
                hint="install the same version on all machines",
            )
        found = catalogue_of(registry)
        names = sorted(name for name in {*found, *self.catalogue} if found.get(name) != self.catalogue.get(name))
        if names:
            more = f" and {len(names) - _LISTED_SKILLS} more" if len(names) > _LISTED_SKILLS else ""
            raise BundleRefused(
                f"skills differ from those of the sender: {', '.join(names[:_LISTED_SKILLS])}{more}",
                hint="install the same goalwright on all machines, and set the same GOALWRIGHT_* variables",
            )


def catalogue_of(registry: Registry) -> dict[str, str]:
    """Return each active skill and tool with the hash of its file and source."""
    registry.refresh()
    return {f"{row.kind} {row.name}": _hash(row.file, row.source) for row in registry.list_skills()}


def _hash(path: str, source: str) -> str:
    try:
        return hashlib.sha256(source.encode() + b"\0" + read_all(path)).hexdigest()[:32]
    except (OSError, InputError):
        return ""
