"""Which tools the user trusts, kept by content: a changed program must be trusted again."""

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
OWN: tuple[Source, ...] = ("bundled", "global")  # shipped with goalwright, or installed by the user for every workspace


class TrustRefused(InputError):
    """What would be trusted is not what the user looked at."""

    code = "CHANGED"


@dataclass(frozen=True, slots=True)
class SentTrust:
    """What the sender of a bundle trusts: hashes of folders, and whether its templates; it counts where `allowed`."""

    fingerprints: frozenset[str] = frozenset()
    templates: bool = False
    allowed: bool = False


@dataclass(frozen=True, slots=True)
class Trust:
    """What the user trusts, kept in a file; a file that cannot be read trusts nothing.

    With `sent`, the skills are those of a bundle: none of them was installed by the user of this machine.
    """

    path: Path
    sent: SentTrust | None = None

    def is_trusted(self, folder: Path, source: Source, skip: Callable[[Path], bool] | None = None) -> bool:
        """Whether the tools in this folder, as they are now, may run; those that cannot be read may not."""
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
        """Trust a folder's tools as they are now; returns their hash, which must be the one `shown`, if given."""
        key = fingerprint(folder, skip)
        if shown is not None and shown != key:
            raise TrustRefused(f"{folder} has changed since its files were shown", hint="look at them again")
        return self.add("tools", key, folder)

    def trusts_workspace(self, workspace: Path) -> bool:
        """Whether the workspace's settings and templates, as they are now, may loosen what protects the user."""
        if self.sent is not None:
            return False
        try:
            return self.has("workspaces", _settings(workspace))
        except (OSError, GoalwrightError):  # too many files to tell, or one that cannot be read
            return False

    def trusts_templates(self, workspace: Path) -> bool:
        """Whether the workspace's own templates may be used."""
        if self.sent is not None:
            return self.sent.templates and self.sent.allowed
        return self.path.is_file() and self.trusts_workspace(workspace)

    def trust_workspace(self, workspace: Path) -> str:
        """Trust a workspace's settings and templates as they are now."""
        return self.add("workspaces", _settings(workspace), workspace)

    def has(self, kind: str, key: str) -> bool:
        """Whether the user trusts what has this hash, of this kind."""
        return key in self._read().get(kind, {})

    def keys(self, kind: str) -> list[str]:
        """The hashes of all that the user trusts, of this kind."""
        return list(self._read().get(kind, {}))

    def add(self, kind: str, key: str, where: Path) -> str:
        """Trust what has this hash; `where` is for a person who reads the file."""
        answers = self._read()
        given = {"path": str(where.resolve()), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        answers[kind] = {**answers.get(kind, {}), key: given}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False, encoding="utf-8") as file:
            json.dump(answers, file, indent=1)
        Path(file.name).replace(self.path)
        return key

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            answers = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(answers, dict):
            return {}
        return {kind: keys for kind, keys in answers.items() if isinstance(keys, dict)}


def _settings(workspace: Path) -> str:
    """A hash of a workspace's path, settings and templates: the same files elsewhere belong to another workspace."""
    path = workspace.resolve() / SETTINGS
    content = untrusted_files.read(path, TOML_LIMIT) if os.path.lexists(path) else b""
    digest = hashlib.sha256(str(path).encode() + b"\0" + content)
    for folder in _templates(path.parent, content):
        digest.update(b"\0" + fingerprint(folder).encode())
    return digest.hexdigest()


def _templates(workspace: Path, settings: bytes) -> list[Path]:
    """The folders with a workspace's own templates: `.agents/seed`, and the one that its settings name."""
    try:
        seed = parse_toml(settings.decode()).get("seed")
    except ValueError:
        seed = None
    named = [workspace / seed] if isinstance(seed, str) and seed and not seed.startswith("~") else []
    inside = [folder for folder in named if folder.resolve().is_relative_to(workspace)]
    return [folder for folder in (workspace / SEED, *inside) if folder.is_dir()]
