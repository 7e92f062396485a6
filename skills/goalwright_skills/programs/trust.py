"""The tools and workspaces that the user trusts, by content hash: a changed program must be trusted again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import untrusted_files
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.format.documents import TOML_LIMIT, parse_toml
from goalwright_skills.programs.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_skills.skill import Source

SETTINGS = "goalwright.toml"
SEED = ".agents/seed"
OWN: tuple[Source, ...] = ("bundled", "global")  # shipped with goalwright, or installed by the user


class TrustRefused(InputError):
    """The content to trust is not the content that the user reviewed."""

    code = "CHANGED"


@dataclass(frozen=True, slots=True)
class SentTrust:
    """The trust that a bundle's sender grants to folders (hashes) and templates; it applies only if `allowed`."""

    fingerprints: frozenset[str] = frozenset()
    templates: bool = False
    allowed: bool = False


@dataclass(frozen=True, slots=True)
class Trust:
    """The user's trust file; an unreadable file trusts nothing.

    With `sent`, the skills come from a bundle, so none of them was installed by the user of this machine.
    """

    path: Path
    sent: SentTrust | None = None

    def is_trusted(self, folder: Path, source: Source, skip: Callable[[Path], bool] | None = None) -> bool:
        """Return whether the tools in this folder may run as they are now; unreadable folders may not."""
        if source == "bundled" or (self.sent is None and source in OWN):
            return True
        try:
            key = fingerprint(folder, skip)
        except (OSError, GoalwrightError):
            return False
        return self._is_sent(key) if self.sent is not None else self.has("tools", key)

    def _is_sent(self, key: str) -> bool:
        own = self.sent is not None and self.sent.allowed and key in self.sent.fingerprints
        return own or self.has("tools", key)

    def trust(self, folder: Path, shown: str | None = None, skip: Callable[[Path], bool] | None = None) -> str:
        """Trust a folder's tools as they are now and return their hash, which must equal `shown` if it is given."""
        key = fingerprint(folder, skip)
        if shown is not None and shown != key:
            raise TrustRefused(f"{folder} has changed since its files were shown", hint="review them again")
        return self.add("tools", key, folder)

    def trusts_workspace(self, workspace: Path) -> bool:
        """Return whether the workspace's settings and templates, as they are now, may loosen the user's protection."""
        if self.sent is not None:
            return False
        try:
            return self.has("workspaces", _settings(workspace))
        except (OSError, GoalwrightError):  # too many files, or an unreadable one
            return False

    def trusts_templates(self, workspace: Path) -> bool:
        """Return whether the workspace's own templates may be used."""
        if self.sent is not None:
            return self.sent.templates and self.sent.allowed
        return self.path.is_file() and self.trusts_workspace(workspace)

    def trust_workspace(self, workspace: Path) -> str:
        """Trust a workspace's settings and templates as they are now."""
        return self.add("workspaces", _settings(workspace), workspace)

    def has(self, kind: str, key: str) -> bool:
        """Return whether the user trusts this hash of this kind."""
        return key in self._read().get(kind, {})

    def keys(self, kind: str) -> list[str]:
        """Return all trusted hashes of this kind."""
        return list(self._read().get(kind, {}))

    def add(self, kind: str, key: str, where: Path) -> str:
        """Trust a hash; `where` is for people who read the file."""
        kinds = self._read()
        entry = {"path": str(where.resolve()), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        kinds[kind] = {**kinds.get(kind, {}), key: entry}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False, encoding="utf-8") as file:
            json.dump(kinds, file, indent=1)
        Path(file.name).replace(self.path)
        return key

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            kinds = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(kinds, dict):
            return {}
        return {kind: keys for kind, keys in kinds.items() if isinstance(keys, dict)}


def _settings(workspace: Path) -> str:
    """Return a hash of a workspace's path, settings and templates; another path is another workspace."""
    path = workspace.resolve() / SETTINGS
    content = untrusted_files.read(path, TOML_LIMIT) if os.path.lexists(path) else b""
    digest = hashlib.sha256(str(path).encode() + b"\0" + content)
    for folder in _templates(path.parent, content):
        digest.update(b"\0" + fingerprint(folder).encode())
    return digest.hexdigest()


def _templates(workspace: Path, settings: bytes) -> list[Path]:
    """Return the folders with a workspace's own templates: `.agents/seed`, and the folder in its settings."""
    try:
        seed = parse_toml(settings.decode()).get("seed")
    except ValueError:
        seed = None
    configured = [workspace / seed] if isinstance(seed, str) and seed and not seed.startswith("~") else []
    inside = [folder for folder in configured if folder.resolve().is_relative_to(workspace)]
    return [folder for folder in (workspace / SEED, *inside) if folder.is_dir()]
