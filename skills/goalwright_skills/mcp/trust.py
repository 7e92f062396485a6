"""Trust in MCP servers: in an entry by its content and the files that it names, then in its tool list."""

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
# goalwright's own records change with every run and are never executed.
_OWN_RECORDS = ("journal", "runs")
# The entry in .mcp.json is hashed separately.
_EXCLUDED = (".git", ".agents", ".mcp.json")


def entry_key(entry: ServerEntry, workspace: Path, environ: Mapping[str, str]) -> str:
    """Return the hash of an entry before variables are filled in, and of the workspace files that it can load."""
    content = {key: value for key, value in entry.raw.items() if key != "disabled"}
    digest = hashlib.sha256(json.dumps([entry.name, entry.source, content], sort_keys=True).encode())
    if entry.source == "workspace":
        digest.update(str(workspace).encode())
    try:
        launch = entry.launch(workspace, environ)
    except McpFault:  # the server does not start until this is fixed
        return digest.hexdigest()
    for name, content_hash in _loaded(launch, workspace, everything=entry.source == "workspace"):
        digest.update(f"\0{name}\0{content_hash}".encode())
    return digest.hexdigest()


def _loaded(launch: ServerLaunch, workspace: Path, *, everything: bool) -> Iterator[tuple[str, str]]:
    """Yield the workspace files that a server can load with their hashes; for a user's own server only named ones."""
    root = Path(os.path.realpath(workspace))
    covered = coverage(launch, root)
    yield from ((text, "") for text in sorted(covered.texts))
    for path in sorted(covered.paths):
        if path != root:
            yield str(path.relative_to(root)), _content(path, root)
    if everything and (covered.whole or covered.parts):
        hashes = ContentHashes(root)
        for path, is_folder in _tracked(root, None if covered.whole else covered.parts):
            yield str(path.relative_to(root)), _content(path, root) if is_folder else _file(path, hashes)


def _tracked(root: Path, parts: Collection[str] | None) -> list[tuple[Path, bool]]:
    """Return the tracked files of a workspace, or all files without git; only below `parts` unless that is None."""
    try:
        files = [(path, folder) for path, folder in tracked_files(root) if path != root / ".mcp.json"]
        if parts is not None:
            files = [(path, folder) for path, folder in files if _is_part(path.relative_to(root), parts)]
    except UnknownIndex:
        files = [(path, False) for path in _untracked(root, parts)]
    if len(files) > FILES_LIMIT:
        raise GoalwrightError(
            f"{root} has more than {FILES_LIMIT:,} files", hint="name a script in a folder of its own"
        )
    return sorted(files)


def _is_part(path: Path, parts: Collection[str]) -> bool:
    return any(parent.as_posix() in parts for parent in (path, *path.parents))


def _untracked(root: Path, parts: Collection[str] | None) -> list[Path]:
    if parts is None:
        return all_files(root, lambda path: path.parent == root and path.name in _EXCLUDED)
    covered = [root / part for part in parts]
    inside = {path for folder in covered if folder.is_dir() for path in all_files(folder)}
    return [*inside, *(path for path in covered if path.is_file() and path not in inside)]


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
    agents = root / ".agents"
    return fingerprint(path, lambda file: file.parent == agents and file.name.startswith(_OWN_RECORDS))


@dataclass(frozen=True, slots=True)
class McpTrust:
    """The user's trust in MCP servers; entries in the user's own file, and their first tool list, are trusted."""

    store: Trust

    def trusts_entry(self, entry: ServerEntry, key: str) -> bool:
        """Whether the server of this entry may be started."""
        return entry.source == "user" or self.store.has(_ENTRIES, key)

    def trust_entry(self, entry: ServerEntry, key: str) -> None:
        """Trust an entry and the files that it names as they are now."""
        self.store.add(_ENTRIES, key, entry.file)

    def trusts_list(self, entry: ServerEntry, key: str, digest: str) -> bool:
        """Whether these tools may be offered: they are trusted, or the first list of a server in the user's file."""
        return self.store.has(_LISTS, f"{key}:{digest}") or (entry.source == "user" and not self.has_list(key))

    def has_list(self, key: str) -> bool:
        """Whether the user trusts any list of this entry."""
        return any(trusted.startswith(f"{key}:") for trusted in self.store.keys(_LISTS))

    def trust_list(self, entry: ServerEntry, key: str, digest: str) -> None:
        """Trust a list of tools."""
        self.store.add(_LISTS, f"{key}:{digest}", entry.file)


def safe_key(entry: ServerEntry, workspace: Path, environ: Mapping[str, str]) -> str | None:
    """Return the key of an entry; None if its files cannot be read and therefore not trusted."""
    try:
        return entry_key(entry, workspace, environ)
    except (OSError, GoalwrightError):
        return None
