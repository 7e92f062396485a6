"""Everything that can be wrong with a journal file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.errors import BadStore, UnknownRun
from goalwright_executor.stores.sqlite import schema
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_executor.stores.urls import url_of
from tests.executor.stores.runs import filled, line, row

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def test_a_journal_that_a_process_has_open_twice_outlives_the_end_of_another_process(path: Path) -> None:
    """POSIX locks belong to a process: whoever closes the file by other means than SQLite's gives up all of them."""
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


def test_a_file_that_is_not_a_database_is_refused(path: Path) -> None:
    path.write_bytes(b"not a database at all, but long enough to be looked at " * 50)
    with pytest.raises(BadStore, match="cannot be used") as caught:
        SqliteStore(path)
    assert "move the file away" in caught.value.hint
    assert caught.value.exit_status == 4


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


def test_a_journal_is_not_read_without_its_newest_runs(path: Path) -> None:
    store = filled(path, "r")
    copy = path.with_name("copy.sqlite")
    for end in ("", "-wal"):
        copy.with_name(copy.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    copy.with_name(f"{copy.name}-shm").symlink_to("/nowhere/at/all")  # it cannot be created, as in a read-only folder
    with pytest.raises(BadStore, match=r"newest events are in copy\.sqlite-wal"):
        SqliteStore(copy, create=False)
    store.close()


def test_another_programs_database_is_not_changed(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(BadStore, match="not a goalwright journal"):
            SqliteStore(path, create=create)
    assert path.read_bytes() == before


def test_another_programs_database_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(BadStore, match="not a goalwright journal"):
        SqliteStore(path)


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


def test_a_failed_migration_reports_its_cause_even_if_sqlite_has_rolled_back(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    # As a full disk does: it ends the transaction and then fails.
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
    assert "--journal" in caught.value.hint


def test_opening_a_missing_journal_to_read_it_creates_nothing(path: Path) -> None:
    with pytest.raises(UnknownRun, match="there is no journal"):
        open_store(url_of(path), create=False)
    assert not path.exists()


def test_a_store_opened_beside_another_keeps_what_that_one_writes_after_a_reader_of_another_process(path: Path) -> None:
    look = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM runs').fetchone()"
    first = SqliteStore(path)
    first.append([row("r", 1)], {"r": line("r")})
    second = SqliteStore(path)  # as `goalwright serve` has one for its page and one for its runs
    subprocess.run([sys.executable, "-S", "-c", look, str(path)], check=True)
    first.append([row("r", 2)], {"r": line("r")})
    kept = SqliteStore(path)
    assert [one.seq for one in kept.rows("r")] == [1, 2]
    for store in (kept, second, first):
        store.close()
    assert [one.seq for one in SqliteStore(path).rows("r")] == [1, 2]
