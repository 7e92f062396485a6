"""The PostgreSQL store: broken connections, fenced writers, eras and roles."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from goalwright_executor.journal.open_store import migrate_store
from goalwright_executor.stores.errors import BadStore, NotAJournal, RunHeld, StoreFailed, UnknownRun
from goalwright_executor.stores.lease import SHARED_EXPIRY, Handover, myself
from goalwright_executor.stores.postgres import connections, leases, retention, run_list, schema
from goalwright_executor.stores.postgres.address import address_of
from goalwright_executor.stores.postgres.schema import PARTITION
from goalwright_executor.stores.postgres.statements import Append
from goalwright_executor.stores.postgres.store import PostgresStore
from tests.executor.stores.runs import fill, line, row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres import PostgresServer

ELSEWHERE = replace(myself(), machine="another", pid=1)


class Database:
    """A journal and a separate connection to its database."""

    def __init__(self, url: str) -> None:
        self.address = address_of(url)
        self.url = f"{url}&application_name={self.address.schema}"  # identifies its connections
        self.store = PostgresStore(self.url)
        options = f"-c search_path={self.address.schema}"
        self._own = psycopg.connect(**self.address.parameters, options=options, autocommit=True)

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with positional values or one mapping."""
        parameters = values[0] if values and isinstance(values[0], dict) else values
        cursor = self._own.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []

    def cut(self) -> None:
        """Break every other connection to this journal, as a restart of the server does."""
        self.ask(
            "SELECT pg_terminate_backend(l.pid) FROM (SELECT DISTINCT pid FROM pg_stat_activity "
            "WHERE application_name = %s) l",
            self.address.schema,
        )

    def close(self) -> None:
        self.store.close()
        self._own.close()


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    made = Database(postgres.new_url())
    yield made
    made.close()


# Connections


def test_broken_connections_are_reopened(database: Database) -> None:
    store = database.store
    fill(store, "r")
    assert store.find("r").run_id == "r"
    reading = store.summaries()
    database.cut()
    store.append([row("r", 3)], {})
    assert [one.seq for one in store.rows("r")] == [1, 2, 3]
    assert [one.run_id for one in reading] == ["r"]
    database.cut()
    store.claim("r", myself())
    store.renew(["r"], myself())


def test_an_unreachable_server_is_retried(database: Database, tmp_path: Path) -> None:
    host = str(database.address.parameters.get("host", ""))
    if not host.startswith("/"):
        pytest.skip("the server has no socket in a folder")
    way = tmp_path / "way"
    way.symlink_to(host)
    store = PostgresStore(database.url.replace(host, str(way)))
    fill(store, "r")
    way.unlink()
    database.cut()
    back = threading.Timer(0.5, lambda: way.symlink_to(host))
    back.start()
    store.append([row("r", 3)], {})
    assert [one.seq for one in store.rows("r")] == [1, 2, 3]
    assert store._connections.steady < 5, "an outage resets the steady time"
    store.close()
    back.join()


@pytest.mark.parametrize("committed", [True, False])
def test_an_interrupted_commit_is_stored_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, committed: bool
) -> None:
    fill(database.store, "r")
    database.store.claim("r", myself())
    send, cuts = Append.send, [True]

    def cut_off(self: Append, connection: Any, known: Any, *, again: bool) -> dict[str, int]:
        if not cuts or committed:
            sent = send(self, connection, known, again=again)
        if cuts:
            cuts.clear()
            connection.close()
            raise psycopg.OperationalError("the connection was cut")
        return sent

    monkeypatch.setattr(Append, "send", cut_off)
    change = Handover(myself(), released=["r"], held=["r"])
    database.store.append([row("r", 3), row("r", 4)], {"r": line("r")}, change)
    assert [one.seq for one in database.store.rows("r")] == [1, 2, 3, 4]
    database.store.claim("r", replace(myself(), pid=1))


def test_a_process_frozen_in_a_commit_does_not_block_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "IDLE", 0.3)
    prompt, waited = "prompt " * 200, threading.Event()
    frozen, other = PostgresStore(database.url), PostgresStore(database.url)
    check = Append._check

    def freeze(self: Append, fence: Any, taken: Any) -> None:
        if not waited.is_set():  # between the two round trips of its first commit, until the other process has written
            thread = threading.Thread(target=lambda: other.append([row("b", 1, message=prompt)], {"b": line("b")}))
            waited.set()
            thread.start()
            thread.join(20)
            assert not thread.is_alive()
        check(self, fence, taken)

    monkeypatch.setattr(Append, "_check", freeze)
    frozen.append([row("a", 1, message=prompt)], {"a": line("a")})
    for store in (frozen, other):
        store.close()
    assert [[one.body["message"] for one in database.store.rows(run)] for run in "ab"] == [[prompt]] * 2


def test_connection_errors_do_not_contain_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    for url in (
        "postgresql://me:hunter2secret@127.0.0.1:9/db",
        "postgresql://me:hunter2/secret@127.0.0.1:9/db",
        "postgresql://127.0.0.1:9/db?user=me&password=hunter2secret",
    ):
        with pytest.raises(BadStore) as caught:
            PostgresStore(url)
        assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
        assert "127.0.0.1:9" in str(caught.value)


def test_psycopg_is_not_imported_for_other_journals() -> None:
    code = (
        "import sys, goalwright.interfaces.cli.main, goalwright_executor.journal.journal; "
        "import goalwright.runs.stored.records; "
        "print('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# Leases


def test_a_holder_elsewhere_has_time_after_an_outage(database: Database) -> None:
    name = ELSEWHERE.to_json()
    assert leases.wait(name, SHARED_EXPIRY - 1, steady=100) is None, "it is alive"
    assert leases.wait(name, SHARED_EXPIRY + 1, steady=10) == SHARED_EXPIRY - 10, (
        "no heartbeat was possible during the outage"
    )
    assert leases.wait(name, SHARED_EXPIRY + 1, steady=SHARED_EXPIRY) == 0
    assert leases.wait(name, 3600, steady=0) == 0, "it gave up by itself"
    dead_here = replace(myself(), start="another time").to_json()
    assert leases.wait(dead_here, 0.0, steady=0) == 0, "its process is dead on this machine"


def test_a_run_is_taken_over_after_enough_steady_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_GAP", 10_000.0)  # also on a slow machine
    store = database.store
    fill(store, "r")
    store.claim("r", ELSEWHERE)
    with pytest.raises(RunHeld, match="in use by"):
        store.claim("r", myself())
    database.ask("UPDATE workers SET beat = clock_timestamp() - interval '40 seconds'")
    store._connections._steady_since = time.monotonic()
    assert store.delete(["r"]) == [], "the server itself may have been unreachable"
    store._connections._closed.set()
    with pytest.raises(RunHeld, match="may still be in use"):  # it waits until the store is closed
        store.claim("r", myself())
    store._connections._closed.clear()
    store._connections._steady_since -= SHARED_EXPIRY
    store.claim("r", myself())
    store.renew(["r"], myself())


def test_closing_a_store_deletes_its_heartbeat(database: Database) -> None:
    other = PostgresStore(database.url)
    other.append([row("r", 1)], {"r": line("r", "running")}, Handover(myself(), taken=["r"]))
    assert (database.store.status().workers, database.store.status().running) == (1, 1)
    other.append([], {}, Handover(myself(), released=["r"]))
    other.close()
    assert (database.store.status().workers, database.store.status().running) == (0, 0)


# Lists


def test_lists_of_many_runs_use_an_index(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    joined, everything = run_list._joined, run_list._all

    def note_rows(connection: Any, query: str, given: dict[str, Any]) -> Any:
        asked.append((query, given))
        return joined(connection, query, given)

    def note_runs(connected: Any, query: str, given: dict[str, Any] | None = None) -> Any:
        asked.append((query, given or {}))
        return everything(connected, query, given)

    monkeypatch.setattr(run_list, "_joined", note_rows)
    monkeypatch.setattr(run_list, "_all", note_runs)
    database.ask(
        "INSERT INTO runs (run_id, goal, status, started, tasks, done, skills, batch) "
        "SELECT 'r' || lpad(n::text, 6, '0'), "
        "'Goal ' || n, CASE WHEN n % 200 = 0 THEN 'failed' ELSE 'done' END, '2026-01-01', 1, 1, '[]', 'b' || n % 100 "
        "FROM generate_series(1, 20000) AS n"
    )
    database.ask(
        "INSERT INTO events (run, seq, at, type, body) SELECT id, 1, '2026-01-01', "
        "CASE WHEN id % 200 = 0 THEN 'approval_asked' ELSE 'call_finished' END, '{}' FROM runs"
    )
    database.ask("ANALYZE runs, events")
    store = database.store
    assert [len(list(store.summaries(50, **given))) for given in ({}, {"batch": "b7"}, {"status": ("failed",)})] == [
        50
    ] * 3
    assert len(list(store.summaries(50, before="r010000", batch="b7", status=("done",)))) == 50
    assert len(list(store.rows_of_all(("approval_asked",)))) == 100
    assert len(list(store.rows_of_all(("approval_asked", "approval_given")))) == 100
    assert (store.find("last").run_id, store.find("r000070").run_id) == ("r020000", "r000070")
    for query, given in asked:
        plan = "\n".join(line for (line,) in database.ask(f"EXPLAIN {query}", given))
        assert not re.search(r"Seq Scan on (runs|events_0)", plan), f"{query}\n{plan}"


# Texts and eras


def test_nul_survives_in_texts_and_bodies(database: Database) -> None:
    long = "a\0b\ud800" * 500
    task = replace(line("r"), goal="nul \0 here")
    database.store.append(
        [row("r", 1, "task_started", task="a\0", message="\0"), row("r", 2, message=long)], {"r": task}
    )
    assert [one.body.get("message") for one in database.store.rows("r")] == ["\0", long]
    assert database.store.find("r").goal == "nul � here"


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_texts_are_deleted_with_their_era(database: Database, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(retention, "CHUNK", chunk)
    store = database.store
    shared, old = "shared " * 200, "old " * 200
    store.append([row("a", 1, message=shared), row("a", 2, message=old)], {"a": line("a")})
    fill(store, "b")
    store.delete(["b"])
    assert database.ask("SELECT count(*) FROM events") == [(2,)]
    assert database.ask("SELECT count(*) FROM texts") == [(3,)], "texts stay until their era is deleted"
    database.ask(f"ALTER SEQUENCE runs_id_seq RESTART WITH {3 * PARTITION}")
    store.append([row("c", 1, message=shared)], {"c": line("c")})  # in an era without a partition
    database.ask(f"SELECT add_partition(4), setval('runs_id_seq', {4 * PARTITION})")
    store.append([row("d", 1, message=shared)], {"d": line("d")})  # in an era that is new to this process
    assert store.status().partitions == 4, "two initial partitions and two new ones"
    assert store.delete(["a"]) == ["a"]
    assert store.status().partitions == 2
    assert database.ask("SELECT era FROM texts") == [(4,)]
    assert [one.body["message"] for run_id in "cd" for one in store.rows(run_id)] == [shared, shared]


def test_a_text_is_sent_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    write = Append._write_texts

    def counted(self: Append, connection: Any, large: dict[str, str]) -> None:
        sent.append(len(large))
        write(self, connection, large)

    monkeypatch.setattr(Append, "_write_texts", counted)
    for run_id in ("a", "b"):
        database.store.append([row(run_id, 1, message="prompt " * 200)], {run_id: line(run_id)})
    assert sent == [1, 0]
    assert next(database.store.rows("b")).body["message"] == "prompt " * 200


# Versions and roles


def test_documented_grants_suffice_for_workers_and_readers(database: Database) -> None:
    fill(database.store, "r")
    name = database.address.schema
    page = Path(__file__).parents[4] / "docs" / "postgres.md"
    (grants,) = re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for statement in re.sub(r"--.*", "", grants).split(";"):
        if statement.strip() and "ON DATABASE" not in statement:
            own = re.sub(r"goalwright_(owner|worker|reader)", rf"{name}_\1", statement)
            database.ask(
                re.sub(r"SCHEMA goalwright|goalwright\.", lambda found: found[0].replace("goalwright", name), own)
            )
    worker, reader = (PostgresStore(f"{database.url}&user={name}_{role}") for role in ("worker", "reader"))
    database.ask(f"ALTER SEQUENCE runs_id_seq RESTART WITH {7 * PARTITION}")  # needs a new partition
    worker.append([row("w", 1, message="x" * 900)], {"w": line("w", "running")}, Handover(myself(), taken=["w"]))
    worker.renew(["w"], myself())
    worker.append([row("w", 2)], {"w": line("w")}, Handover(myself(), released=["w"], held=["w"]))
    worker.claim("r", myself())
    worker.append([], {}, Handover(myself(), released=["r"]))
    assert [len(list(reader.rows(run.run_id))) for run in reader.summaries()] == [2, 2]
    with pytest.raises(StoreFailed, match="permission denied") as caught:
        reader.append([row("r", 9)], {})
    assert "docs/postgres.md" in caught.value.hint
    for store in (worker, reader):
        store.close()
    assert database.ask("SELECT count(*) FROM workers") == [(0,)]


def test_a_newer_schema_is_refused_only_if_its_oldest_reader_is_newer(database: Database) -> None:
    newer = schema.VERSION + 1
    database.ask("INSERT INTO goalwright_version (version, oldest_reader) VALUES (%s, %s)", newer, schema.VERSION)
    PostgresStore(database.url).close()
    database.ask("UPDATE goalwright_version SET oldest_reader = %s WHERE version = %s", newer, newer)
    with pytest.raises(BadStore, match="needs a newer goalwright"):
        PostgresStore(database.url)


def test_an_older_schema_is_migrated_only_by_command(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    more = (*schema.STEPS, schema.Step("ALTER TABLE runs ADD COLUMN later TEXT", oldest_reader=1))
    before = schema.VERSION
    monkeypatch.setattr(schema, "STEPS", more)
    monkeypatch.setattr(schema, "VERSION", before + 1)
    PostgresStore(database.url).close()  # a step that only adds columns may be migrated later
    monkeypatch.setattr(schema, "OLDEST", before + 1)
    with pytest.raises(BadStore, match="tables of an older goalwright") as caught:
        PostgresStore(database.url)
    assert "goalwright journal migrate" in caught.value.hint
    assert migrate_store(database.url) == (before, before + 1)
    assert migrate_store(database.url) == (before + 1, before + 1)
    PostgresStore(database.url).close()


def test_several_processes_can_create_the_tables_at_once(postgres: PostgresServer) -> None:
    url, opened = postgres.new_url(), list[PostgresStore]()
    threads = [threading.Thread(target=lambda: opened.append(PostgresStore(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    for store in opened:
        store.close()


def test_tables_of_another_program_are_refused(database: Database) -> None:
    database.ask("DROP TABLE goalwright_version")
    with pytest.raises(NotAJournal, match="not a goalwright journal"):
        PostgresStore(database.url)


def test_opening_a_missing_journal_to_read_it_creates_nothing(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    for _ in range(2):
        with pytest.raises(UnknownRun, match="there is no journal"):
            PostgresStore(url, create=False)
