"""The canonical archive of a bundle: sorted, without times and owners, so that equal contents have equal hashes."""

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
    """The bundle was not made, or not used: nothing of it is left behind."""

    code = "BUNDLE_REFUSED"


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


NAME = PurePosixPath("bundle.json")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """The manifest of a bundle; `catalogue` has the hash of each active skill, `trusted` those of trusted folders."""

    goalwright: str = __version__
    catalogue: Mapping[str, str] = field(default_factory=dict)
    trusted: Sequence[str] = ()
    templates: bool = False

    def to_bytes(self) -> bytes:
        """The manifest as it is in the bundle."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=True, indent=1).encode()

    @classmethod
    def read(cls, data: bytes) -> BundleManifest:
        """A bundle's manifest; raises if it is not one."""
        try:
            document = json.loads(data)
            catalogue = {str(name): str(key) for name, key in document["catalogue"].items()}
            trusted = tuple(str(key) for key in document["trusted"])
            return cls(str(document["goalwright"]), catalogue, trusted, document["templates"] is True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BundleRefused("the bundle has no valid bundle.json", hint="send it again from goalwright") from error

    def check(self, registry: Registry) -> None:
        """Raise unless a machine finds the same skills in the bundle as its sender did."""
        if self.goalwright != __version__:
            raise BundleRefused(
                f"the bundle was made by goalwright {self.goalwright}, and this is {__version__}",
                hint="install the same version on all machines",
            )
        here = catalogue_of(registry)
        names = sorted(name for name in {*here, *self.catalogue} if here.get(name) != self.catalogue.get(name))
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            raise BundleRefused(
                f"skills differ from those of the sender: {', '.join(names[:_SHOWN])}{more}",
                hint="install the same goalwright on all machines, and set the same GOALWRIGHT_* variables",
            )


def catalogue_of(registry: Registry) -> dict[str, str]:
    """Each active skill and tool with the hash of its file and where it comes from."""
    registry.refresh()
    return {f"{row.kind} {row.name}": _hash(row.file, row.source) for row in registry.list_skills()}


def _hash(path: str, source: str) -> str:
    try:
        return hashlib.sha256(source.encode() + b"\0" + read_all(path)).hexdigest()[:32]
    except (OSError, InputError):
        return ""
