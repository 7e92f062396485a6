"""Leases on runs: taking, renewing, losing and taking over."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.errors import LeaseLost, RunHeld, StoreFailed, UnknownRun
from goalwright_executor.stores.lease import EXPIRY, SHARED_EXPIRY, Handover, Holder, is_gone, is_gone_for_all, myself
from tests.executor.stores.runs import line, row

if TYPE_CHECKING:
    from tests.executor.stores.runs import Place


def test_a_leased_run_cannot_be_claimed(place: Place) -> None:
    store = place.filled("r1")
    store.claim("r1", myself())
    with pytest.raises(RunHeld, match="process"):
        store.claim("r1", replace(myself(), pid=1))
    store.append([], {}, Handover(myself(), released=["r1"]))
    store.claim("r1", replace(myself(), pid=1))


def test_a_lease_is_taken_with_the_first_row_and_released_with_the_last(place: Place) -> None:
    store = place.open()
    running = {"r1": line("r1", "running")}
    store.append([row("r1", 1)], running, Handover(myself(), taken=["r1"]))
    assert store.find("r1").status == "running"
    with pytest.raises(RunHeld):
        store.claim("r1", replace(myself(), pid=1))
    store.append([row("r1", 2)], running, Handover(myself(), released=["r1"]))
    assert store.find("r1").status == "interrupted"


def test_taking_a_leased_run_fails_and_stores_nothing(place: Place) -> None:
    store = place.filled("r1")
    store.claim("r1", myself())
    with pytest.raises(StoreFailed, match="run r1 is in use by another process"):
        store.append([row("r1", 3)], {}, Handover(replace(myself(), pid=1), taken=["r1"]))
    assert [one.seq for one in store.rows("r1")] == [1, 2]
    store.append([], {}, Handover(replace(myself(), pid=1), released=["r1"]))  # it has no lease to release
    store.renew(["r1"], myself())


def test_the_lease_of_a_dead_local_process_is_taken_over_at_once(place: Place) -> None:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as process:
        holder = replace(myself(), pid=process.pid, start="another time")
        assert is_gone(holder, age=0.0)  # the process id is in use, but by another process
        process.kill()
    store = place.filled("r1")
    store.claim("r1", holder)
    store.claim("r1", myself())
    store.renew(["r1"], myself())


def test_a_lost_lease_cannot_be_renewed(place: Place) -> None:
    store = place.filled("r1")
    mine, other = myself(), replace(myself(), host="another-host")
    store.claim("r1", mine)
    place.hand_to("r1", other)
    with pytest.raises(StoreFailed, match="taken over"):
        store.renew(["r1"], mine)


def test_a_run_of_a_dead_process_is_interrupted(place: Place) -> None:
    store = place.open()
    store.append([row("r1", 1)], {"r1": line("r1", "running")})
    assert store.find("r1").status == "interrupted"
    store.claim("r1", myself())
    assert store.find("r1").status == "running"


def test_a_run_in_use_is_not_deleted(place: Place) -> None:
    store = place.filled("free", "held", "left")
    store.claim("held", myself())
    store.claim("left", replace(myself(), pid=2**22 + 1))  # by a dead process
    assert store.delete(["free", "held", "left", "never"]) == ["free", "left"]
    assert [one.run_id for one in store.summaries()] == ["held"]
    assert len(list(store.rows("held"))) == 2


def test_a_deleted_run_cannot_be_claimed(place: Place) -> None:
    with pytest.raises(UnknownRun, match="no longer"):
        place.filled("r").claim("gone", myself())


def test_a_cached_key_of_a_deleted_run_is_not_used_for_another_run(place: Place) -> None:
    store, other = place.filled("first"), place.open()
    store.append([], {}, Handover(myself(), released=["first"]))
    other.delete(["first"])
    other.append([row("second", 1, message="theirs")], {"second": line("second")})
    store.append([row("first", 1, message="ours")], {"first": line("first")})
    assert [one.body["message"] for one in store.rows("second")] == ["theirs"]
    assert [one.body["message"] for one in store.rows("first")] == ["ours"]


def test_writing_to_a_run_written_by_another_process_fails(place: Place) -> None:
    store = place.filled("r")
    with pytest.raises(StoreFailed, match="another process has taken over the run"):
        store.append([row("r", 2)], {})


def test_a_remote_holder_is_alive_until_its_heartbeats_stop() -> None:
    elsewhere = replace(myself(), host="another-host")
    assert not is_gone(elsewhere, age=1.0)
    assert is_gone(elsewhere, age=EXPIRY + 1)
    assert is_gone(replace(myself(), boot="an earlier boot"), age=0.0)
    assert not is_gone(myself(), age=10_000.0)


@pytest.mark.parametrize(
    "other", [replace(myself(), machine="x"), replace(myself(), boot="x"), replace(myself(), space="x")]
)
def test_machines_with_equal_host_names_are_distinguished_in_a_shared_store(other: Holder) -> None:
    namesake = replace(other, start="another time")
    assert not is_gone_for_all(namesake, age=1.0)
    assert is_gone_for_all(namesake, age=SHARED_EXPIRY + 1)
    assert is_gone_for_all(replace(myself(), start="another time"), age=0.0)
    assert not is_gone_for_all(myself(), age=10_000.0)


def test_the_error_names_the_lost_runs(place: Place) -> None:
    store = place.filled("mine", "theirs", "taken")
    for run_id in ("mine", "theirs"):
        store.claim(run_id, myself())
    place.hand_to("theirs", replace(myself(), host="another-host"))
    store.claim("taken", myself())
    with pytest.raises(LeaseLost) as caught:
        store.renew(["mine", "theirs", "taken"], myself())
    assert caught.value.run_ids == {"theirs"}
    with pytest.raises(LeaseLost) as caught:
        store.append([row("mine", 3), row("theirs", 2)], {}, Handover(myself(), held=["mine", "theirs"]))
    assert caught.value.run_ids == {"theirs"}
    assert [one.seq for one in store.rows("mine")] == [1, 2]
