"""Opens the store that a URL names; the one place that knows which kinds of store there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from executor.stores.urls import path_of
from skills.errors import InputError

if TYPE_CHECKING:
    from executor.stores.store import Store


def open_store(url: str, *, create: bool = True) -> Store:
    """The store at a URL; without `create` it must exist."""
    kind = url.partition(":")[0]
    if kind != "sqlite":
        raise InputError(f"the journal is of an unknown kind {kind!r}", hint="use sqlite:///path/to/journal.sqlite")
    from executor.stores.sqlite.store import SqliteStore

    return SqliteStore(path_of(url, Path.cwd()), create=create)
