"""open_store and what belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from executor.stores.urls import _path
from skills.errors import InputError

if TYPE_CHECKING:
    from executor.stores.store import Store


def open_store(url: str, *, create: bool = True) -> Store:
    """The store that a URL names; without `create` it must be there already."""
    kind = url.partition(":")[0]
    if kind != "sqlite":
        raise InputError(f"the journal is of an unknown kind {kind!r}", hint="use sqlite:///path/to/journal.sqlite")
    from executor.stores.sqlite.store import SqliteStore

    return SqliteStore(_path(url, Path.cwd()), create=create)
