"""Which MCP servers the user trusts: an entry by its content and the files it names, then its list of tools."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft_skills.errors import WeftError
from weft_skills.mcp.entry import McpFault
from weft_skills.programs.trust import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weft_skills.mcp.entry import ServerEntry, ServerLaunch
    from weft_skills.programs.trust import Trust

_ENTRIES = "mcp"
_LISTS = "mcp_tools"
# weft's own records change with every run, and nothing of them is run.
_OWN_RECORDS = ("journal", "runs")
_MODULE = re.compile(r"[A-Za-z_][\w.]*")


def entry_key(entry: ServerEntry, workspace: Path, environ: Mapping[str, str]) -> str:
    """The hash of an entry before variables are filled in, and of every file of the workspace that it names."""
    content = {key: value for key, value in entry.raw.items() if key != "disabled"}
    digest = hashlib.sha256(json.dumps([entry.name, entry.source, content], sort_keys=True).encode())
    if entry.source == "workspace":
        digest.update(str(workspace).encode())
    try:
        launch = entry.launch(workspace, environ)
    except McpFault:  # it does not start before that is fixed
        return digest.hexdigest()
    for path in named_files(launch, workspace):
        digest.update(f"\0{path.relative_to(workspace)}\0{_content(path, workspace)}".encode())
    return digest.hexdigest()


def named_files(launch: ServerLaunch, workspace: Path) -> list[Path]:
    """The files and folders of the workspace that a command or its arguments name."""
    root = Path(os.path.realpath(workspace))
    found = []
    for text in _path_texts(launch):
        path = Path(os.path.realpath(root / Path(text).expanduser()))
        if path.is_relative_to(root) and path.exists():
            found.append(workspace / path.relative_to(root))
    return sorted(set(found))


def _path_texts(launch: ServerLaunch) -> Iterator[str]:
    if os.sep in launch.command:
        yield launch.command
    for text in launch.args:
        if "\0" in text or len(text) > 4_096:
            continue
        for path in (text, text.partition("=")[2], text.removeprefix("file://")):
            if path:
                yield path
        if _MODULE.fullmatch(text):  # `python -m server` finds it in the current folder
            yield text.replace(".", "/")
            yield text.replace(".", "/") + ".py"


def _content(path: Path, workspace: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    own = workspace / ".agents"
    return fingerprint(path, lambda file: file.parent == own and file.name.startswith(_OWN_RECORDS))


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
    except (OSError, WeftError):
        return None
