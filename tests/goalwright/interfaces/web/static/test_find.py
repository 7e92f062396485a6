"""Search, filters, tags and statistics of runs in a real browser."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from goalwright.interfaces.web.app import ROUTES
from goalwright_executor.stores.row import Row
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import PageModel, Served, go, served
from tests.goalwright.interfaces.web.static.test_strangers import ATTACKS, LINE, LOOK, SAFE
from tests.goalwright.interfaces.web.static.written_runs import at, write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Page

    from tests.goalwright.interfaces.web.static.conftest import OpenPage

# These runs were written by hand: there is nothing to replay.
pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session"), pytest.mark.changes_skills]


def ended(number: int, goal: str, answer: str = "", **end: Any) -> list[Row]:
    """An ended run with a task for an item of a list."""
    run = f"20260101T00000000{number}-f00000"
    task = {"id": "scan[1]", "title": "", "action_type": "llm", "item": {"value": "Insurers"}}
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("run_started", {"run_id": run, "goal": goal, "workspace": "/w", "settings": {"model": "openai/small"}}),
        ("plan_made", {"plan": {"tasks": [task]}, "attempts": 1}),
        ("run_finished", {"status": "done", "answer": answer, "seconds": 2.0} | end),
    ]
    return [Row(run, seq, at(seq), kind, body) for seq, (kind, body) in enumerate(bodies, 1)]


def fill(workspace: Path) -> None:
    write(workspace, ended(1, "Compare redis and valkey", "Latency is lower with the second."))
    write(workspace, ended(2, "Write the handbook", "市场规模为三亿。"))
    stopped = ended(3, "A long survey", status="interrupted", error="stopped by the user", code="STOPPED_BY_USER")
    write(workspace, stopped, status="interrupted")


def link(page: Page, goal: str) -> Any:
    return page.get_by_role("link", name=goal)


async def test_runs_are_found_by_answer_value_and_note_and_the_address_keeps_the_search(
    workspace: Path, open_page: OpenPage
) -> None:
    fill(workspace)
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"))
        search = page.get_by_role("searchbox", name="Search runs")
        await search.fill("lower LATENCY")
        await expect(link(page, "Write the handbook")).to_have_count(0)
        await expect(link(page, "Compare redis and valkey")).to_be_visible()
        await search.fill("规模")
        await expect(link(page, "Write the handbook")).to_be_visible()
        await expect(link(page, "Compare redis and valkey")).to_have_count(0)
        await search.fill("insurers")
        await expect(page.locator("table.list tbody tr")).to_have_count(3)
        row = page.get_by_role("row", name=re.compile("Write the handbook"))
        await row.get_by_role("button", name=re.compile("More about")).click()
        await row.get_by_role("menuitem", name="Tags and note…").click()
        await page.get_by_role("textbox", name=re.compile("^Tags")).fill("to review, baseline")
        await page.get_by_role("textbox", name="Note").fill("The one for Ada")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(row.get_by_role("link", name="to review")).to_be_visible()
        await search.fill("ada handbook")
        await expect(page.locator("table.list tbody tr")).to_have_count(1)
        await search.fill("")
        await row.get_by_role("link", name="baseline").click()
        await expect(page.locator("table.list tbody tr")).to_have_count(1)
        assert "tag=baseline" in page.url
        await page.get_by_role("button", name="Filters").click()
        fields = page.get_by_role("group", name="Filters")
        await fields.get_by_label("Model").fill("small")
        await fields.get_by_label("Model").press("Tab")
        await expect(page.get_by_role("button", name=re.compile("^Model: small"))).to_be_visible()
        assert "model=small" in page.url
        kept = page.url
        await fields.get_by_label("Cost from, in $").fill("5")
        await fields.get_by_label("Cost from, in $").press("Tab")
        await expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
        again = await open_page(f"{kept}#token={server.token}")
        await expect(link(again, "Write the handbook")).to_be_visible()
        await expect(again.locator("table.list tbody tr")).to_have_count(1)
        await again.get_by_role("button", name=re.compile("^Tag: baseline")).click()
        await expect(again.locator("table.list tbody tr")).to_have_count(3)


async def test_a_stopped_run_has_the_same_status_word_everywhere(workspace: Path, open_page: OpenPage) -> None:
    fill(workspace)
    async with served(workspace, PageModel()) as server:
        page = await open_page(server.at("/runs?q=survey"))
        await expect(page.get_by_role("row", name=re.compile("Stopped by you.*A long survey"))).to_be_visible()
        await link(page, "A long survey").click()
        await expect(page.locator(".facts .pill")).to_have_text("Stopped by you")


async def test_the_dashboard_links_its_figures_to_their_runs(workspace: Path, open_page: OpenPage) -> None:
    fill(workspace)
    async with served(workspace) as server:
        page = await open_page(server.at("/dashboard?days=366"))
        await expect(page.get_by_role("region", name="Runs", exact=True)).to_contain_text("2 done")
        await page.get_by_role("link", name="STOPPED_BY_USER").click()
        await expect(link(page, "A long survey")).to_be_visible()
        await expect(page.locator("table.list tbody tr")).to_have_count(1)
        await go(page, "/dashboard?days=366")
        await page.get_by_role("link", name="2026-01-01").click()
        await expect(page.locator("table.list tbody tr")).to_have_count(3)
        await go(page, "/dashboard?days=7")
        await expect(page.get_by_role("heading", name="Nothing was run in this time")).to_be_visible()


async def test_the_dashboard_distinguishes_free_runs_from_unknown_prices(workspace: Path, open_page: OpenPage) -> None:
    fill(workspace)
    async with served(workspace) as server:
        page = await open_page(server.at("/dashboard?days=366"))
        for runs, cost in (("none", "$0"), ("A long survey", "$0?"), ("%", "unknown")):
            with closing(sqlite3.connect(workspace / ".agents" / "journal.sqlite")) as journal, journal:
                journal.execute("UPDATE runs SET cost_usd = NULL WHERE goal LIKE ?", (runs,))
            await page.reload()
            for name in ("openai/small", "2026-01-01"):
                row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name))
                await expect(row.get_by_role("cell", name=cost, exact=True)).to_have_count(1)


async def test_hostile_tags_and_notes_stay_text(workspace: Path, open_page: OpenPage) -> None:
    fill(workspace)
    attack = ATTACKS[1][:60]
    async with served(workspace) as server:
        await put(server, "tags", {"tags": [attack, "\u202e<b>gnp"]})
        await put(server, "note", {"note": LINE})
        run = ended(1, "")[0].run_id
        page = await open_page(server.at("/runs"))
        for path in ("/runs", "/runs?q=hit", "/dashboard?days=366", f"/runs/{run}?tab=details"):
            await go(page, path)
            await expect(page.get_by_text(attack).first).to_be_visible()
            assert await page.evaluate(LOOK) == SAFE, path
        assert not await page.evaluate("() => document.documentElement.scrollWidth > innerWidth + 1")


async def test_axe_finds_nothing_on_the_filters_the_dialog_and_the_dashboard(
    workspace: Path, open_page: OpenPage
) -> None:
    fill(workspace)
    async with served(workspace) as server:
        await put(server, "tags", {"tags": ["baseline", "to review"]})
        page = await open_page(server.at("/runs?model=small&q=redis"), axe=True)
        await expect(link(page, "Compare redis and valkey")).to_be_visible()
        await page.get_by_role("button", name="Filters").click()
        await clean(page)
        await page.get_by_role("button", name=re.compile("More about")).click()
        await page.get_by_role("menuitem", name="Tags and note…").click()
        await clean(page, "dialog")
        await page.get_by_role("button", name="Cancel").click()
        for path in ("/dashboard?days=366", "/dashboard?days=7"):
            await go(page, path)
            await clean(page)


async def put(server: Served, what: str, body: dict[str, Any]) -> None:
    import httpx

    assert any(route.path == "/runs/{run}/tags" and route.changes for route in ROUTES)
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {server.token}"}, timeout=60) as client:
        answer = await client.put(f"{server.base}/api/runs/{ended(1, '')[0].run_id}/{what}", json=body)
        assert answer.status_code == 200, answer.text


async def test_a_search_result_shows_an_excerpt_and_hostile_text_stays_text(
    workspace: Path, open_page: OpenPage
) -> None:
    fill(workspace)
    write(workspace, ended(4, "Attack", f"{LINE} zebra <img src=x onerror=alert(1)>"))
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"), axe=True)
        search = page.get_by_role("searchbox", name="Search runs")
        await search.fill("laten")
        row = page.get_by_role("row").filter(has_text="Compare redis")
        await expect(row.locator("mark")).to_have_text("Latency")
        await expect(row).to_contain_text("In its answer: Latency is lower with the second.")
        await clean(page)
        await search.fill("insurers")
        await expect(row).to_contain_text("In a task: Insurers")
        await search.fill("zebra")
        row = page.get_by_role("row").filter(has_text="Attack")
        await expect(row.locator("mark")).to_have_text("zebra")
        await expect(row).to_contain_text("<img src=x onerror=alert(1)>")
        await expect(row.locator("img, script")).to_have_count(0)
        await search.fill("redis")
        await expect(page.locator("mark")).to_have_count(0)
