"""Damaged, foreign, newer and concurrently opened journal files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.errors import BadStore, NoJournal, NotAJournal
from goalwright_executor.stores.sqlite import schema
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_executor.stores.urls import url_of
from tests.executor.stores.runs import filled, line, row

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def test_a_journal_opened_twice_keeps_its_locks(path: Path) -> None:
    """A process loses all its POSIX locks on a file when it closes any descriptor of it, other than through SQLite."""
    store = filled(path, "first")
    SqliteStore(path, create=False).close()
    ended = "import sqlite3, sys; one = sqlite3.connect(sys.argv[1]); one.execute('PRAGMA user_version'); one.close()"
    subprocess.run([sys.executable, "-c", ended, str(path)], check=True)
    assert path.with_name("journal.sqlite-wal").exists()
    store.append([row("later", 1)], {"later": line("later")})
    other = SqliteStore(path, create=False)
    assert {run.run_id for run in other.summaries(9)} == {"first", "later"}
    other.close()
    store.close()


def test_a_file_that_is_not_a_database_is_refused_and_left_unchanged(path: Path) -> None:
    content = b"not a database at all, but long enough for a header " * 50
    path.write_bytes(content)
    with pytest.raises(NotAJournal, match="cannot be used") as caught:
        SqliteStore(path)
    assert "move the file away" in caught.value.hint
    assert (caught.value.exit_status, caught.value.journal) == (2, str(path))
    assert path.read_bytes() == content


def test_a_damaged_file_is_refused(path: Path) -> None:
    store = SqliteStore(path)
    for number in range(50):
        store.append([row("r", number, message="y" * 300)], {"r": line("r")})
    store.close()
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = b"\x55" * (len(data) - 8192)
    path.write_bytes(bytes(data))
    with pytest.raises(BadStore, match="cannot be used"):
        SqliteStore(path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET body = '{'",
        "UPDATE events SET body = CAST(x'ff' AS TEXT)",
        "UPDATE runs SET goal = CAST(x'ff' AS TEXT)",
        "UPDATE texts SET text = CAST(x'ff' AS TEXT)",
    ],
)
def test_an_unreadable_text_is_reported_as_damage(path: Path, damage: str) -> None:
    filled(path, "r").close()
    connection = sqlite3.connect(path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(BadStore, match="it is damaged") as caught:
        [list(SqliteStore(path).summaries()), list(SqliteStore(path).rows("r"))]
    assert "move the file away" in caught.value.hint


def test_a_read_only_journal_with_an_unread_log_is_refused(path: Path) -> None:
    store = filled(path, "r")
    copy = path.with_name("copy.sqlite")
    for end in ("", "-wal"):
        copy.with_name(copy.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    copy.with_name(f"{copy.name}-shm").symlink_to("/nowhere/at/all")  # it cannot be created, as in a read-only folder
    with pytest.raises(BadStore, match=r"newest events are in copy\.sqlite-wal"):
        SqliteStore(copy, create=False)
    store.close()


def test_another_programs_database_is_refused_and_left_unchanged(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(NotAJournal, match="not a goalwright journal"):
            SqliteStore(path, create=create)
    assert path.read_bytes() == before


def test_a_newer_version_is_refused(path: Path) -> None:
    SqliteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    with pytest.raises(BadStore, match="written by a newer goalwright"):
        SqliteStore(path)


def test_a_file_of_an_older_version_is_migrated(path: Path) -> None:
    store = SqliteStore(path)
    store.append([row("old", 1)], {"old": line("old")})
    store.close()
    connection = sqlite3.connect(path, isolation_level=None)
    schema.migrate(connection, str(path), (*schema.STEPS, "ALTER TABLE runs ADD COLUMN later TEXT"))
    assert connection.execute("SELECT run_id, later FROM runs").fetchall() == [("old", None)]
    assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION + 1,)
    connection.close()


def test_a_failed_migration_reports_its_cause_after_a_rollback(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    # A full disk likewise ends the transaction and then fails.
    with pytest.raises(sqlite3.OperationalError, match="no such column: room"):
        schema.migrate(connection, str(path), ("ROLLBACK; SELECT room",))
    connection.close()


def test_a_missing_folder_is_created(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "new" / "deep" / "j.sqlite").close()
    assert (tmp_path / "new" / "deep" / "j.sqlite").is_file()


def test_a_folder_that_cannot_be_created_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadStore, match="cannot be used") as caught:
        SqliteStore(tmp_path / "file" / "j.sqlite")
    assert caught.value.journal


def test_opening_a_missing_journal_to_read_it_creates_nothing(path: Path) -> None:
    with pytest.raises(NoJournal, match="there is no journal"):
        open_store(url_of(path), create=False)
    assert not path.exists()


def test_a_second_store_and_a_foreign_reader_lose_no_events(path: Path) -> None:
    read = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM runs').fetchone()"
    first = SqliteStore(path)
    first.append([row("r", 1)], {"r": line("r")})
    second = SqliteStore(path)  # like `goalwright serve`, with one for the page and one for its runs
    subprocess.run([sys.executable, "-S", "-c", read, str(path)], check=True)
    first.append([row("r", 2)], {"r": line("r")})
    third = SqliteStore(path)
    assert [row.seq for row in third.rows("r")] == [1, 2]
    for store in (third, second, first):
        store.close()
    assert [row.seq for row in SqliteStore(path).rows("r")] == [1, 2]
