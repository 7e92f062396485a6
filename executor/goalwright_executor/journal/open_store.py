"""Opens the store of a URL; the only module that knows the kinds of stores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_executor.stores.errors import BadStore
from goalwright_executor.stores.urls import path_of
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright_executor.stores.store import Store

# The URL schemes of stores.
KINDS = ("sqlite", "postgresql", "postgres")


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store at a URL; without `create` it must exist."""
    if _kind(url) == "sqlite":
        from goalwright_executor.stores.sqlite.store import SqliteStore

        return SqliteStore(path_of(url, Path.cwd()), create=create)
    _need_psycopg()
    from goalwright_executor.stores.postgres.store import PostgresStore

    return PostgresStore(url, create=create)


def migrate_store(url: str) -> tuple[int, int]:
    """Migrate the tables of the store at a URL to this version; returns the versions before and after."""
    if _kind(url) == "sqlite":
        from goalwright_executor.stores.sqlite.database import version_of
        from goalwright_executor.stores.sqlite.store import SqliteStore

        path = path_of(url, Path.cwd())
        before, store = version_of(path), SqliteStore(path)
        try:
            return before, store.status().schema
        finally:
            store.close()
    _need_psycopg()
    from goalwright_executor.stores.postgres.store import migrate

    return migrate(url)


def _kind(url: str) -> str:
    kind = url.partition(":")[0]
    if kind not in KINDS:
        raise InputError(
            f"the journal's URL has an unknown kind {kind!r}",
            hint="use sqlite:///path/to/journal.sqlite or postgresql://user@host/database",
        )
    return kind


def _need_psycopg() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise BadStore(
            f"a journal in PostgreSQL needs psycopg, which cannot be loaded here: {error}",
            hint="install it with: pip install 'goalwright[postgres]'",
        ) from error
