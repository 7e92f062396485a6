"""Searching, filtering, tagging and counting runs over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.interfaces.web.static.written_runs import at, write

if TYPE_CHECKING:
    from pathlib import Path

RUN = "20260101T000000001-f00000"
pytestmark = [pytest.mark.asyncio, pytest.mark.changes_skills]


def fill(workspace: Path) -> None:
    write(
        workspace,
        [
            Row(RUN, 1, at(0), "run_started", {"run_id": RUN, "goal": "redis", "workspace": "/w", "settings": {}}),
            Row(RUN, 2, at(1), "run_finished", {"status": "done", "answer": "low latency", "seconds": 2.0}),
        ],
    )


async def test_tags_and_a_note_are_recorded_and_found(workspace: Path) -> None:
    fill(workspace)
    async with asking(workspace) as site:
        tagged = await site.put(f"/runs/{RUN}/tags", json={"tags": ["to review", "  b ", "b"]})
        assert tagged.json() == {"run_id": RUN, "tags": ["b", "to review"], "note": ""}
        noted = await site.put(f"/runs/{RUN}/note", json={"note": "for Ada"})
        assert noted.json()["note"] == "for Ada"
        (line,) = (await site.get("/runs?q=ada+latency&tag=to+review")).json()["runs"]
        assert (line["tags"], line["note"], line["status"]) == (["b", "to review"], "for Ada", "done")
        shown = (await site.get(f"/runs/{RUN}")).json()
        assert (shown["tags"], shown["note"]) == (["b", "to review"], "for Ada")
        assert (await site.put(f"/runs/{RUN}/tags", json={"tags": []})).json()["tags"] == []
        assert (await site.get("/runs?tag=b")).json()["runs"] == []
        counted = (await site.get("/statistics?days=366")).json()
        assert counted["indexed"]
        assert len(counted["days"]) == 366


@pytest.mark.parametrize("tags", [[""], ["a\nb"], ["x" * 61], [f"t{number}" for number in range(31)], "a\u0007", [1]])
async def test_an_invalid_tag_is_refused_and_changes_nothing(workspace: Path, tags: object) -> None:
    fill(workspace)
    async with asking(workspace) as site:
        answer = await site.put(f"/runs/{RUN}/tags", json={"tags": tags})
        assert answer.status_code == 400
        assert answer.json()["error"]["hint"]
        assert (await site.get("/runs")).json()["runs"][0]["tags"] == []
        assert (await site.put(f"/runs/{RUN}/note", json={"note": "x" * 10_001})).status_code == 400


async def test_a_run_of_another_process_cannot_be_tagged(workspace: Path) -> None:
    fill(workspace)
    store = SqliteStore(workspace / ".agents" / "journal.sqlite")
    store.append([], {}, Handover(myself(), taken=[RUN]))
    async with asking(workspace) as site:
        answer = await site.put(f"/runs/{RUN}/tags", json={"tags": ["a"]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "RUN_HELD")
    store.close()


async def test_a_secret_in_a_tag_a_note_or_an_answer_is_in_no_index(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-live-abcdefghijklmnopqrstuvwx0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    fill(workspace)
    async with asking(workspace) as site:
        await site.put(f"/runs/{RUN}/note", json={"note": f"the key is {secret}"})
        await site.put(f"/runs/{RUN}/tags", json={"tags": [secret]})
        assert (await site.get("/runs?q=key")).json()["runs"]
    found = b"".join(file.read_bytes() for file in (workspace / ".agents").glob("journal.sqlite*"))
    assert b"abcdefghijklmnopqrstuvwx0123456789" not in found


@pytest.mark.parametrize("query", ["since=soon", "min_cost=a", "min_cost=nan", "status=odd", "colour=red"])
async def test_an_invalid_filter_is_refused(workspace: Path, query: str) -> None:
    fill(workspace)
    async with asking(workspace) as site:
        answer = await site.get(f"/runs?{query}")
        assert answer.status_code == 400
        assert answer.json()["error"]["hint"]


async def test_a_read_only_server_tags_nothing(workspace: Path) -> None:
    fill(workspace)
    async with asking(workspace, read_only=True) as site:
        assert (await site.put(f"/runs/{RUN}/tags", json={"tags": ["a"]})).status_code == 404
        assert (await site.get("/runs?q=latency")).json()["runs"]


async def test_snippets_show_matching_excerpts_and_are_limited(workspace: Path) -> None:
    fill(workspace)
    async with asking(workspace) as site:
        reply = (await site.get(f"/snippets?q=latency&run={RUN}&run=unknown")).json()
        assert reply == {"snippets": {RUN: {"where": "answer", "parts": [["low ", False], ["latency", True]]}}}
        assert (await site.get(f"/snippets?q=redis&run={RUN}")).json() == {"snippets": {}}
        many = await site.get("/snippets?q=a" + "&run=x" * 101)
        assert many.status_code == 400
