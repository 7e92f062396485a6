"""Which MCP servers the user trusts: an entry by its content and the files it names, then its list of tools."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.errors import GoalwrightError
from goalwright_skills.mcp.coverage import coverage
from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.programs.fingerprint import FILES_LIMIT, ContentHashes, all_files, fingerprint
from goalwright_skills.programs.git_files import UnknownIndex, tracked_files
from goalwright_skills.untrusted_files import is_regular

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from goalwright_skills.mcp.entry import ServerEntry, ServerLaunch
    from goalwright_skills.programs.trust import Trust

_ENTRIES = "mcp"
_LISTS = "mcp_tools"
# goalwright's own records change with every run, and nothing of them is run.
_OWN_RECORDS = ("journal", "runs")


def entry_key(entry: ServerEntry, workspace: Path, environ: Mapping[str, str]) -> str:
    """The hash of an entry before variables are filled in, and of all in the workspace that its server can load."""
    content = {key: value for key, value in entry.raw.items() if key != "disabled"}
    digest = hashlib.sha256(json.dumps([entry.name, entry.source, content], sort_keys=True).encode())
    if entry.source == "workspace":
        digest.update(str(workspace).encode())
    try:
        launch = entry.launch(workspace, environ)
    except McpFault:  # it does not start before that is fixed
        return digest.hexdigest()
    for name, content_hash in _loaded(launch, workspace, everything=entry.source == "workspace"):
        digest.update(f"\0{name}\0{content_hash}".encode())
    return digest.hexdigest()


def _loaded(launch: ServerLaunch, workspace: Path, *, everything: bool) -> Iterator[tuple[str, str]]:
    """What a server can load of a workspace, each with its hash; of a user's own server, only what it names."""
    root = Path(os.path.realpath(workspace))
    found = coverage(launch, root)
    yield from ((text, "") for text in sorted(found.texts))
    for path in sorted(found.paths):
        if path != root:
            yield str(path.relative_to(root)), _content(path, root)
    if everything and (found.whole or found.parts):
        hashes = ContentHashes(root)
        for path, is_folder in _tracked(root, None if found.whole else found.parts):
            yield str(path.relative_to(root)), _content(path, root) if is_folder else _file(path, hashes)


def _tracked(root: Path, parts: Collection[str] | None) -> list[tuple[Path, bool]]:
    """The tracked files of a workspace, or all without git; of these only the `parts`, if given."""
    try:
        files = [(path, folder) for path, folder in tracked_files(root) if path != root / ".mcp.json"]
        if parts is not None:
            files = [(path, folder) for path, folder in files if _is_part(path.relative_to(root), parts)]
    except UnknownIndex:
        files = [(path, False) for path in _every(root, parts)]
    if len(files) > FILES_LIMIT:
        raise GoalwrightError(
            f"{root} has more than {FILES_LIMIT:,} files", hint="name a script in a folder of its own"
        )
    return sorted(files)


def _is_part(path: Path, parts: Collection[str]) -> bool:
    return any(place.as_posix() in parts for place in (path, *path.parents))


def _every(root: Path, parts: Collection[str] | None) -> list[Path]:
    if parts is None:
        return all_files(root, lambda path: path.parent == root and path.name in _OURS)
    places = [root / part for part in parts]
    inside = {path for place in places if place.is_dir() for path in all_files(place)}
    return [*inside, *(place for place in places if place.is_file() and place not in inside)]


def _file(path: Path, hashes: ContentHashes) -> str:
    try:
        link = str(path.readlink()) if path.is_symlink() else ""
        content = hashes.digest(path).hex() if is_regular(path) else "none"
    except FileNotFoundError:
        return "none"
    return f"{link}\0{content}\0{os.access(path, os.X_OK)}"


def _content(path: Path, root: Path) -> str:
    if path.is_file():
        return _file(path, ContentHashes(path))
    own = root / ".agents"
    return fingerprint(path, lambda file: file.parent == own and file.name.startswith(_OWN_RECORDS))


# The entry in it is hashed as it stands, whether switched off or not.
_OURS = (".git", ".agents", ".mcp.json")


@dataclass(frozen=True, slots=True)
class McpTrust:
    """What the user trusts of MCP servers; their own entries need no trust, and of those the first list counts."""

    answers: Trust

    def trusts_entry(self, entry: ServerEntry, key: str) -> bool:
        """Whether the server of this entry may be started."""
        return entry.source == "user" or self.answers.has(_ENTRIES, key)

    def trust_entry(self, entry: ServerEntry, key: str) -> None:
        """Trust an entry and the files that it names, as they are now."""
        self.answers.add(_ENTRIES, key, entry.file)

    def trusts_list(self, entry: ServerEntry, key: str, digest: str) -> bool:
        """Whether these tools may be offered: trusted, or the first that a server of the user's own has."""
        return self.answers.has(_LISTS, f"{key}:{digest}") or (entry.source == "user" and not self.has_list(key))

    def has_list(self, key: str) -> bool:
        """Whether the user trusts any list of this entry."""
        return any(answered.startswith(f"{key}:") for answered in self.answers.keys(_LISTS))

    def trust_list(self, entry: ServerEntry, key: str, digest: str) -> None:
        """Trust a list of tools."""
        self.answers.add(_LISTS, f"{key}:{digest}", entry.file)


def safe_key(entry: ServerEntry, workspace: Path, environ: Mapping[str, str]) -> str | None:
    """The key of an entry; None if its files cannot be read, so that nobody can trust them."""
    try:
        return entry_key(entry, workspace, environ)
    except (OSError, GoalwrightError):
        return None
