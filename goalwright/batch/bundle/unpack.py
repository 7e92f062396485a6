"""Unpacks a bundle once per machine: validated before any of it is used, read-only afterwards.

The archive must have the announced hash and pass the checks of any untrusted archive. It is unpacked into a temporary
folder, packed again, which must give the same hash, and moved into place in one step.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright.batch.bundle import archive
from goalwright.batch.bundle.archive import LIMITS, NAME, RUNS, BundleManifest, BundleRefused
from goalwright.batch.bundle.pack import HOME, WORKSPACE
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright_skills import user_folders
from goalwright_skills.manage.archive import ArchiveRefused, members
from goalwright_skills.manage.archive import unpack as unpack_members
from goalwright_skills.programs.trust import SentTrust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.settings.resolve import Resolved
    from goalwright_skills.discovery.registry import Registry

_SEND_AGAIN = "send it again"


@dataclass(frozen=True, slots=True)
class UnpackedBundle:
    """A bundle on this machine; its workspace is read-only, except for the folder of runs."""

    folder: Path
    manifest: BundleManifest

    @property
    def workspace(self) -> Path:
        """The workspace that its goals run in."""
        return self.folder / WORKSPACE

    def resolved(self, env: Mapping[str, str] = os.environ) -> Resolved:
        """Return the settings of its goals: this machine's own, and the bundle's as an untrusted workspace."""
        paths = Paths.of(self.workspace, env)
        return resolve({}, env, paths.workspace, paths.user_config, trusted=False)

    def paths(self, env: Mapping[str, str] = os.environ) -> Paths:
        """Return the folders that its goals use; raises if they need templates that this machine does not allow."""
        allowed = self.resolved(env).settings.allow_programs
        if self.manifest.templates and not allowed:
            raise BundleRefused(
                "the batch has prompt templates of its own, which are code, and this machine does not allow them",
                hint="set `allow_programs = true` in this machine's config.toml, or send the batch without them",
            )
        trust = SentTrust(frozenset(self.manifest.trusted), self.manifest.templates, allowed)
        return replace(Paths.of(self.workspace, env), skills_home=self.folder / HOME, sent_trust=trust)

    def check(self, registry: Registry) -> None:
        """Raise unless a registry of this workspace has the same skills as the sender's."""
        self.manifest.check(registry)


def unpack(data: bytes, sha256: str, root: Path | None = None) -> UnpackedBundle:
    """Unpack the bundle of this hash below `root`; one unpacked by another process is validated and used."""
    if archive.sha256(data) != sha256:
        raise BundleRefused("the hash of the bundle is not the announced one", hint=_SEND_AGAIN)
    root = user_folders.cache() / "bundles" if root is None else root
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_private(root)
    folder = root / sha256
    if not os.path.lexists(folder):
        _unpack(data, sha256, folder)
    _check_private(folder)
    if archive.sha256(archive.archive(archive.read_folder(folder))) != sha256:
        raise BundleRefused(
            f"{folder} has changed since it was unpacked", hint="delete it, so that it is unpacked again"
        )
    return UnpackedBundle(folder, BundleManifest.read((folder / NAME).read_bytes()))


def remove(folder: Path) -> None:
    """Delete an unpacked bundle, which is read-only."""
    for here, folders, _ in os.walk(folder):
        for name in folders:
            if not (path := Path(here, name)).is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _unpack(data: bytes, sha256: str, folder: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))  # accessible only to this user
    try:
        packed = scratch / "bundle.tar"
        packed.write_bytes(data)
        inside = scratch / "files"
        inside.mkdir(mode=0o700)
        try:
            with members(packed, LIMITS) as files:
                unpack_members(files, inside, len(data), LIMITS)
        except (ArchiveRefused, OSError) as error:
            raise BundleRefused(f"the bundle was refused: {error}", hint=_SEND_AGAIN) from error
        if archive.sha256(archive.archive(archive.read_folder(inside))) != sha256:
            raise BundleRefused("the bundle was refused: it was not packed by goalwright", hint=_SEND_AGAIN)
        (inside / RUNS).mkdir(mode=0o700, parents=True)
        _make_read_only(inside)
        with suppress(OSError):  # another process was faster: its folder is validated all the same
            inside.rename(folder)
        if not folder.is_dir():
            raise BundleRefused(f"{folder} cannot be written", hint="make its folder writable, or free some space")
    finally:
        remove(scratch)


def _make_read_only(folder: Path) -> None:
    for here, folders, names in os.walk(folder):
        relative = PurePosixPath(*Path(here).relative_to(folder).parts)
        if relative == RUNS:
            continue
        for name in names:
            path = Path(here, name)
            path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)
        for name in folders:
            if relative / name != RUNS:
                Path(here, name).chmod(0o555)


def _check_private(folder: Path) -> None:
    """Raise unless only this user can write to a folder."""
    status = folder.lstat()
    own = status.st_uid == os.getuid() if hasattr(os, "getuid") else True
    if not stat.S_ISDIR(status.st_mode) or not own or status.st_mode & 0o022:
        raise BundleRefused(
            f"{folder} is not a folder that only you can write to",
            hint="delete it, or set XDG_CACHE_HOME to another folder",
        )
