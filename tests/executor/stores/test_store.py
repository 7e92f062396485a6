"""The SQLite store: rows, runs, leases, and everything that can be wrong with a file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from executor.journal.open_store import open_store
from executor.stores.errors import BadStore, RunHeld, StoreFailed, UnknownRun
from executor.stores.lease import EXPIRY, Handover, is_gone, myself
from executor.stores.row import Row, RunSummary
from executor.stores.sqlite import schema
from executor.stores.sqlite.store import SqliteStore
from executor.stores.urls import normal, url_of
from skills.errors import InputError

if TYPE_CHECKING:
    from types import FrameType


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def line(run_id: str, status: str = "done") -> RunSummary:
    return RunSummary(run_id, f"goal of {run_id}", status, "2026-01-01T00:00:00.000000Z", 1.0, 2, 0.5)


def row(run_id: str, seq: int, kind: str = "warned", **body: object) -> Row:
    return Row(run_id, seq, "2026-01-01T00:00:00.000000Z", kind, dict(body))


def filled(path: Path, *run_ids: str) -> SqliteStore:
    store = SqliteStore(path)
    for run_id in run_ids:
        store.append(
            [row(run_id, 1, message="x" * 1000), row(run_id, 2, "task_started", task="a")], {run_id: line(run_id)}
        )
    return store


def test_rows_come_back_in_order_whole_and_by_type_and_task(path: Path) -> None:
    store = filled(path, "r1")
    assert [one.body for one in store.rows("r1")] == [{"message": "x" * 1000}, {"task": "a"}]
    assert [one.seq for one in store.rows("r1", types=("task_started",))] == [2]
    assert [one.seq for one in store.rows("r1", task="a")] == [2]
    assert list(store.rows("r2")) == []


def test_runs_are_listed_newest_first_and_found_by_the_beginning_of_their_id(path: Path) -> None:
    store = filled(path, "20260101-a", "20260102-b")
    assert [run.run_id for run in store.summaries()] == ["20260102-b", "20260101-a"]
    assert store.find("20260101").run_id == "20260101-a"
    assert store.find("last").run_id == "20260102-b"
    with pytest.raises(UnknownRun, match="20260102-b, 20260101-a"):
        store.find("2026")
    with pytest.raises(UnknownRun, match="no run 'x%'"):
        store.find("x%")


def test_no_name_is_no_run(path: Path) -> None:
    store = open_store(url_of(path))
    with pytest.raises(UnknownRun, match="no run was named"):
        store.find("")
    store.close()


def test_a_whole_id_is_found_however_many_begin_with_it(path: Path) -> None:
    store = filled(path, "r1", *(f"r1{number}" for number in range(9)))
    assert store.find("r1").run_id == "r1"


def test_all_or_nothing_is_kept(path: Path) -> None:
    store = filled(path, "r1")
    with pytest.raises(StoreFailed, match="cannot be written"):
        store.append([row("r1", 3, message="new"), row("r1", 2, message="taken already")], {"r1": line("r1")})
    assert [one.seq for one in store.rows("r1")] == [1, 2]


def test_a_forgotten_run_takes_only_its_own_texts_along(path: Path) -> None:
    store = filled(path, "r1", "r2")
    store.append([row("r1", 3, message="only here " * 100)], {"r1": line("r1")})
    store.delete(["r1"])
    assert [run.run_id for run in store.summaries()] == ["r2"]
    assert next(store.rows("r2")).body == {"message": "x" * 1000}
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    connection.close()


def test_every_commit_is_on_disk_before_it_is_acknowledged(path: Path) -> None:
    store = SqliteStore(path)
    assert store._database._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._database._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_several_writers_at_once_lose_nothing(path: Path) -> None:
    def write(number: int) -> None:
        store = SqliteStore(path)
        for seq in range(20):
            store.append([row(f"r{number}", seq)], {f"r{number}": line(f"r{number}")})
        store.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(1 for number in range(4) for _ in SqliteStore(path).rows(f"r{number}")) == 80


def test_lone_surrogates_do_no_harm(path: Path) -> None:
    store = SqliteStore(path)
    store.append([row("r", 1, message="a\ud800b"), row("r", 2, message="\ud800" * 900)], {"r": line("r")})
    assert len(list(store.rows("r"))) == 2


def test_a_rollback_in_another_thread_does_not_break_a_waiting_append(path: Path) -> None:
    store = filled(path, "r1", "r2")
    appending = threading.Thread(target=lambda: store.append([row("r1", 3)], {}))
    with store._database._lock:
        appending.start()
        while not (caller := sys._current_frames().get(appending.ident or 0)) or "writing" not in calls(caller):
            time.sleep(0.001)
        store._keys.clear()
    appending.join()
    assert [one.seq for one in store.rows("r1")] == [1, 2, 3]


def calls(frame: FrameType | None) -> list[str]:
    """The names of the functions that a thread is in."""
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names


# Leases


def test_a_run_that_a_living_process_holds_is_refused(path: Path) -> None:
    store = filled(path, "r1")
    store.claim("r1", myself())
    with pytest.raises(RunHeld, match="process"):
        store.claim("r1", replace(myself(), pid=1))
    store.append([], {}, Handover(myself(), released=["r1"]))
    store.claim("r1", replace(myself(), pid=1))


def test_a_new_run_is_taken_with_its_first_row_and_let_go_with_its_last(path: Path) -> None:
    store = SqliteStore(path)
    running = {"r1": line("r1", "running")}
    store.append([row("r1", 1)], running, Handover(myself(), taken=["r1"]))
    assert store.find("r1").status == "running"
    with pytest.raises(RunHeld):
        store.claim("r1", replace(myself(), pid=1))
    store.append([row("r1", 2)], running, Handover(myself(), released=["r1"]))
    assert store.find("r1").status == "interrupted"


def test_a_run_that_another_has_is_not_taken_and_nothing_is_kept(path: Path) -> None:
    store = filled(path, "r1")
    store.claim("r1", myself())
    with pytest.raises(StoreFailed, match="run r1 is in use by another process"):
        store.append([row("r1", 3)], {}, Handover(replace(myself(), pid=1), taken=["r1"]))
    assert [one.seq for one in store.rows("r1")] == [1, 2]
    store.append([], {}, Handover(replace(myself(), pid=1), released=["r1"]))  # not its own to let go
    store.renew(["r1"], myself())


def test_a_dead_holder_on_this_machine_is_taken_over_at_once(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as process:
        holder = replace(myself(), pid=process.pid, start="another time")
        assert is_gone(holder, age=0.0)  # the process id lives, but it is another process by now
        process.kill()
    store = filled(path, "r1")
    store.claim("r1", holder)
    store.claim("r1", myself())
    store.renew(["r1"], myself())


def test_a_holder_elsewhere_is_believed_until_it_falls_silent() -> None:
    elsewhere = replace(myself(), host="another-host")
    assert not is_gone(elsewhere, age=1.0)
    assert is_gone(elsewhere, age=EXPIRY + 1)
    assert is_gone(replace(myself(), boot="before the machine was started"), age=0.0)
    assert not is_gone(myself(), age=10_000.0)


def test_who_lost_a_run_to_another_hears_of_it(path: Path) -> None:
    store = filled(path, "r1")
    mine, other = myself(), replace(myself(), host="another-host")
    store.claim("r1", mine)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE runs SET holder = ?", (other.to_json(),))
    connection.close()
    with pytest.raises(StoreFailed, match="taken over"):
        store.renew(["r1"], mine)


def test_a_run_whose_process_died_counts_as_interrupted(path: Path) -> None:
    store = SqliteStore(path)
    store.append([row("r1", 1)], {"r1": line("r1", "running")})
    assert store.find("r1").status == "interrupted"
    store.claim("r1", myself())
    assert store.find("r1").status == "running"


# Files that cannot be used


def test_a_run_that_a_process_is_at_is_not_forgotten(path: Path) -> None:
    store = filled(path, "free", "held", "left")
    store.claim("held", myself())
    store.claim("left", replace(myself(), pid=2**22 + 1))  # by a process that is gone
    assert store.delete(["free", "held", "left", "never"]) == ["free", "left"]
    assert [one.run_id for one in store.summaries()] == ["held"]
    assert len(list(store.rows("held"))) == 2


def test_a_run_that_was_forgotten_meanwhile_cannot_be_taken(path: Path) -> None:
    with pytest.raises(UnknownRun, match="no longer"):
        filled(path, "r").claim("gone", myself())


def test_the_number_of_a_forgotten_run_is_not_mistaken_for_that_of_the_next(path: Path) -> None:
    store, other = filled(path, "first"), SqliteStore(path)
    store.append([], {}, Handover(myself(), released=["first"]))
    other.delete(["first"])
    other.append([row("second", 1, message="theirs")], {"second": line("second")})
    store.append([row("first", 1, message="ours")], {"first": line("first")})
    assert [one.body["message"] for one in store.rows("second")] == ["theirs"]
    assert [one.body["message"] for one in store.rows("first")] == ["ours"]


def test_who_writes_where_another_has_written_is_told_so(path: Path) -> None:
    store = filled(path, "r")
    with pytest.raises(StoreFailed, match="another process has taken over the run"):
        store.append([row("r", 2)], {})


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
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
def test_a_text_that_is_none_any_more_is_damage(path: Path, damage: str) -> None:
    filled(path, "r").close()
    connection = sqlite3.connect(path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(BadStore, match="it is damaged") as caught:
        [list(SqliteStore(path).summaries()), list(SqliteStore(path).rows("r"))]
    assert "move the file away" in caught.value.hint


def test_a_journal_whose_newest_runs_cannot_be_seen_is_not_shown_without_them(path: Path) -> None:
    store = filled(path, "r")
    copy = path.with_name("copy.sqlite")
    for end in ("", "-wal"):
        copy.with_name(copy.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    copy.with_name(f"{copy.name}-shm").symlink_to(
        "/nowhere/at/all"
    )  # it cannot be made, as in a folder that is read-only
    with pytest.raises(BadStore, match=r"newest events are in copy\.sqlite-wal"):
        SqliteStore(copy, create=False)
    store.close()


def test_another_programs_database_stays_as_it_is(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(BadStore, match="not a weft journal"):
            SqliteStore(path, create=create)
    assert path.read_bytes() == before


def test_another_programs_database_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(BadStore, match="not a weft journal"):
        SqliteStore(path)


def test_a_newer_version_is_refused_with_a_clear_word(path: Path) -> None:
    SqliteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    with pytest.raises(BadStore, match="written by a newer weft"):
        SqliteStore(path)


@pytest.mark.parametrize("steps", range(1, schema.VERSION))
def test_an_older_version_is_brought_forward(path: Path, steps: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    schema.migrate(connection, str(path), schema.STEPS[:steps])
    connection.execute(
        "INSERT INTO runs (run_id, goal, status, started, tasks) VALUES ('old', 'g', 'done', '2026-01-01T00:00:00Z', 1)"
    )
    for seq in (2, 1):
        connection.execute(
            "INSERT INTO events (run, seq, at, type, body) VALUES (1, ?, '', 'run_started', '{}')", (seq,)
        )
    connection.close()
    store = SqliteStore(path)
    assert [run.run_id for run in store.summaries()] == ["old"]
    assert [one.seq for one in store.rows("old")] == [1, 2]
    assert [one.seq for one in store.rows_of_all(["run_started"])] == [1, 2]
    store.append([row("old", 3)], {})
    assert store._database._connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_what_went_wrong_is_said_where_sqlite_has_undone_it_already(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    # As a full disk does: it ends the transaction and then fails.
    with pytest.raises(sqlite3.OperationalError, match="no such column: room"):
        schema.migrate(connection, str(path), ("ROLLBACK; SELECT room",))
    connection.close()


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "new" / "deep" / "j.sqlite").close()
    assert (tmp_path / "new" / "deep" / "j.sqlite").is_file()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadStore, match="cannot be used") as caught:
        SqliteStore(tmp_path / "file" / "j.sqlite")
    assert "--journal" in caught.value.hint


def test_looking_at_what_is_not_there_makes_nothing(path: Path) -> None:
    with pytest.raises(UnknownRun, match="there is no journal"):
        open_store(url_of(path), create=False)
    assert not path.exists()


# URLs


@pytest.mark.parametrize("form", ["sqlite:///{}", "sqlite://{}", "{}"])
def test_a_journal_is_named_by_url_or_path(path: Path, form: str) -> None:
    url = normal(form.format(path), Path("/"))
    assert url == f"sqlite:///{path}"
    open_store(url).close()
    assert path.exists()


def test_a_relative_url_begins_where_one_is(tmp_path: Path) -> None:
    assert normal("sqlite:///runs.sqlite", tmp_path) == f"sqlite:///{tmp_path}/runs.sqlite"
    assert normal("runs.sqlite", tmp_path) == f"sqlite:///{tmp_path}/runs.sqlite"


def test_odd_characters_in_a_path_survive(tmp_path: Path) -> None:
    odd = tmp_path / "100% ?#a b.sqlite"
    open_store(url_of(odd)).close()
    assert odd.exists()


def test_an_unknown_kind_of_journal_is_refused() -> None:
    with pytest.raises(InputError, match="unknown kind 'oracle'"):
        open_store("oracle://db")
