"""The URL of a workspace's journal, and its runs for reading; has few imports, for commands that only read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import normalized, url_of
from goalwright_skills import safe_files

if TYPE_CHECKING:
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_executor.stores.store import Store


def url(paths: Paths, settings: Settings) -> str:
    """The journal's URL: the configured one, else in the workspace."""
    if settings.journal:
        return normalized(settings.journal, Path.cwd())
    return url_of(paths.agents / "journal.sqlite")


def recorded_runs(paths: Paths, settings: Settings) -> Store:
    """Open the store of recorded runs for reading; raises if there is none."""
    refuse_links(paths, settings)
    return open_store(url(paths, settings), create=False)


def refuse_links(paths: Paths, settings: Settings) -> None:
    """Raise if the workspace's journal is a symbolic link to another file, which even reading would change."""
    if not settings.journal:
        for name in ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite-journal"):
            safe_files.refuse_links(paths.agents / name, below=paths.workspace)
