"""Conversations in a real browser: turns, questions, undo, and logins that runs wait for."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from goalwright.settings.paths import Paths
from goalwright_executor.stores.row import Row
from goalwright_planner.model import Reply, Request, Usage
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import PageModel, eventually, go, served, task
from tests.goalwright.interfaces.web.static.test_run_page import run_goal
from tests.goalwright.interfaces.web.static.written_runs import at, write
from tests.mcp_workspace import configure, open_servers
from tests.needs import needs_chromium
from tests.oauth_server import ACCESS, REFRESH, OAuthServer, browse

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Locator, Page

    from tests.goalwright.interfaces.web.static.conftest import OpenPage

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

APPROVAL = {"tasks": [task("send", "Send the report", needs_approval="Send it to everyone?")]}
HOSTILE = "<img src=x onerror=alert(1)> **bold** [x](javascript:alert(1))"


LONG = "c20260101T000000000-c0c0c0"


def write_turn(workspace: Path, number: int) -> None:
    """Write one turn of a long conversation to the journal."""
    run = f"20260101T0000{number:05}-c0c0c0"
    answer = "\n".join(f"## Part {part}\n\nSome **bold** words, and a `name`.\n" for part in range(20))
    began = {"run_id": run, "goal": f"Goal {number}", "workspace": "/w", "settings": {}}
    rows = [
        Row(run, 1, at(number), "run_started", began | {"conversation": {"id": LONG, "number": number}}),
        Row(run, 2, at(number), "plan_made", {"plan": {"tasks": [], "answer": answer}, "attempts": 1}),
        Row(run, 3, at(number), "run_finished", {"status": "done", "answer": answer}),
    ]
    write(workspace, rows, conversation=LONG)


class TalkingModel(PageModel):
    """A model that plans the turns in `plans` and answers the others at once."""

    def __init__(self, *plans: dict[str, Any] | None) -> None:
        super().__init__()
        self.plans = list(plans)
        self.planned = 0

    def _answer(self, request: Request) -> Reply | Exception:
        if request.role != "decomposer":
            return super()._answer(request)
        self.planned += 1
        plan = self.plans[self.planned - 1] if self.planned <= len(self.plans) else None
        answer = {"answer": f"Answer **{self.planned}**."}
        return Reply(json.dumps(plan or answer), usage=Usage(1, 120, 30), cost=0.01)


def turn(page: Page, number: int) -> Locator:
    return page.get_by_role("article", name=f"Turn {number}", exact=True)


async def say(page: Page, text: str) -> None:
    await page.get_by_role("textbox", name="Next goal").fill(text)
    await expect(page.get_by_role("button", name="Send")).to_be_enabled()  # the turn before has ended
    await page.keyboard.press("Enter")


async def test_a_conversation_by_keyboard_from_its_first_turn_to_the_list(workspace: Path, open_page: OpenPage) -> None:
    model = TalkingModel(None, {"tasks": [task("first", "Look it up"), task("second", "Write it", ("first",))]})
    async with served(workspace, model) as server:
        page = await open_page(server.at("/conversations"), axe=True)
        await page.get_by_role("link", name="New conversation").first.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("textbox", name="Next goal")).to_be_focused()
        await page.keyboard.type("What is a DAG?")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("Briefly.")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/conversations/c*")
        await expect(turn(page, 1).locator("strong")).to_have_text("1")
        model.held = {"second"}
        await say(page, "And a tree?")
        tasks = turn(page, 2).get_by_role("list", name="Tasks of this turn")
        await expect(
            tasks.get_by_role("listitem").filter(has_text="Write it").get_by_role("img", name="Running")
        ).to_be_visible()
        rows = [box for one in await tasks.get_by_role("listitem").all() if (box := await one.bounding_box())]
        assert len({row["x"] for row in rows}) == 1  # one below the other
        assert len({row["y"] for row in rows}) == 2
        await expect(turn(page, 2).locator(".turnfoot")).not_to_contain_text("no tasks")
        await expect(page.get_by_role("button", name="Send")).to_be_disabled()
        await clean(page)
        model.held.clear()
        await expect(turn(page, 2)).to_contain_text("second is done")
        await expect(turn(page, 2).locator(".pill")).to_have_text("Done")
        await clean(page)
        await page.reload()
        await expect(turn(page, 2)).to_contain_text("second is done")
        await turn(page, 2).get_by_role("link", name="Open the run").click()
        await page.get_by_role("link", name="a conversation").click()
        await expect(turn(page, 1)).to_be_visible()
        await page.get_by_role("navigation").get_by_role("link", name="Conversations").click()
        row = page.get_by_role("row").filter(has_text="What is a DAG?")
        await expect(row).to_contain_text("2")


async def test_a_turn_shows_its_question_and_continues_after_the_answer(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace, TalkingModel(APPROVAL)) as server:
        page = await open_page(server.at("/conversations/new"))
        await say(page, "Send the report")
        await expect(turn(page, 1)).to_contain_text("Send it to everyone?")
        await expect(page.get_by_text("Answer its question above")).to_be_visible()
        await turn(page, 1).get_by_role("button", name="Allow", exact=True).click()
        await expect(turn(page, 1)).to_contain_text("send is done")
        await say(page, "Thanks")
        await expect(turn(page, 2).locator("strong")).to_have_text("2")


async def test_a_turn_is_stopped_resumed_and_undone(workspace: Path, open_page: OpenPage) -> None:
    model = TalkingModel(None, {"tasks": [task("long", "Take long")]})
    async with served(workspace, model) as server:
        page = await open_page(server.at("/conversations/new"))
        await say(page, "one")
        await expect(turn(page, 1).locator("strong")).to_have_text("1")
        model.held = {"long"}
        await say(page, "two")
        await turn(page, 2).get_by_role("button", name="Stop").click()
        await expect(turn(page, 2).locator(".pill")).to_have_text("Stopped by you")
        model.held.clear()
        await turn(page, 2).get_by_role("button", name="Resume").click()
        await expect(turn(page, 2)).to_contain_text("long is done")
        await turn(page, 2).get_by_role("button", name="Take back…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Take back").click()
        await expect(turn(page, 2)).to_have_count(0)
        await say(page, "three")
        await expect(turn(page, 2)).to_contain_text("three")
        await expect(page.get_by_role("article")).to_have_count(2)


async def test_hostile_text_in_a_turn_stays_text(workspace: Path, open_page: OpenPage) -> None:
    model = TalkingModel({"answer": HOSTILE})
    async with served(workspace, model) as server:
        page = await open_page(server.at("/conversations/new"))
        await say(page, HOSTILE)
        await expect(turn(page, 1).locator("strong")).to_have_text("bold")
        await expect(turn(page, 1).locator("img, script, a[href^=javascript]")).to_have_count(0)
        await go(page, "/conversations")
        await expect(page.get_by_role("row").filter(has_text="<img src=x")).to_be_visible()
        await go(page, "/runs")
        await expect(page.get_by_role("row").filter(has_text="<img src=x")).to_be_visible()


@pytest.mark.changes_skills
async def test_forty_turns_are_loaded_in_two_pages_and_rendered_in_view(workspace: Path, open_page: OpenPage) -> None:
    for number in range(1, 41):
        write_turn(workspace, number)
    async with served(workspace, TalkingModel()) as server:
        page = await open_page(server.at(f"/conversations/{LONG}"), axe=True)
        await expect(turn(page, 40).locator("strong").last).to_be_in_viewport()
        await expect(page.get_by_role("article")).to_have_count(20)
        await expect(turn(page, 21).locator("strong")).to_have_count(0)
        await page.get_by_role("button", name="Show earlier turns").click()
        await expect(page.get_by_role("article")).to_have_count(40)
        await turn(page, 1).scroll_into_view_if_needed()
        await expect(turn(page, 1).locator("strong").first).to_be_in_viewport()
        await page.get_by_role("button", name="Show earlier turns").wait_for(state="detached")
        await say(page, "go on")
        await expect(turn(page, 41).locator("strong")).to_be_in_viewport()
        await clean(page)


async def test_a_turn_of_another_process_appears(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace, TalkingModel()) as server, served(workspace, TalkingModel()) as other:
        page = await open_page(server.at("/conversations/new"))
        await say(page, "one")
        await expect(turn(page, 1).locator("strong")).to_be_visible()
        elsewhere = await open_page(other.at("/conversations"))
        await elsewhere.get_by_role("link", name="one").click()
        await say(elsewhere, "two")
        await expect(turn(page, 2)).to_contain_text("two")


def log_out(workspace: Path, server: OAuthServer) -> None:
    """Make a workspace with a trusted server whose tools are listed and whose login has expired."""
    configure(workspace, guarded={"type": "http", "url": server.url})
    servers = open_servers(workspace, logins=Paths.of(workspace, os.environ).logins)
    servers.trust_all()

    async def page(url: str) -> None:
        asyncio.get_running_loop().run_in_executor(None, browse, url)

    assert servers.log_in(servers.states()[0][0].entry, page, 60.0)
    servers.trust_all()
    server.tokens.clear()
    server.traps.add("stale")


async def test_a_run_waiting_for_a_login_continues_after_a_login_on_the_page(
    workspace: Path, open_page: OpenPage
) -> None:
    call = {"id": "call", "title": "Look", "action_type": "tool", "name": "mcp__guarded__look", "arguments": {}}
    with OAuthServer(tool=lambda sent: f"for {sent}") as server:
        await asyncio.to_thread(log_out, workspace, server)
        async with served(workspace, PageModel({"tasks": [call], "synthesis": ""})) as site:
            page = await open_page(site.at("/new"))
            run = await run_goal(page, "Look it up")
            drawer = page.get_by_role("complementary", name="The run")
            await drawer.get_by_role("button", name="Log in…").click()
            async with page.context.expect_page() as opened:
                await drawer.get_by_role("link", name="Open the login page").click()
            login = await opened.value
            await expect(login.locator("body")).to_contain_text("logged in")
            await expect(page.locator(".facts .pill")).to_have_text("Done")
            await expect(drawer).to_contain_text("for Bearer ***")
            answer = await page.request.get(
                f"{site.base}/api/runs/{run}", headers={"authorization": f"Bearer {site.token}"}
            )
            told = await answer.text()
            assert "for Bearer ***" in told
            assert not [secret for secret in (ACCESS, REFRESH) if secret in told + await page.content()]
        kept = [path for path in workspace.rglob("*") if path.is_file() and ACCESS.encode() in path.read_bytes()]
        assert kept == []


async def test_a_failed_login_is_reported_and_the_run_still_waits(workspace: Path, open_page: OpenPage) -> None:
    call = {"id": "call", "title": "Look", "action_type": "tool", "name": "mcp__guarded__look", "arguments": {}}
    with OAuthServer() as server:
        await asyncio.to_thread(log_out, workspace, server)
        server.traps.add("refuse")
        async with served(workspace, PageModel({"tasks": [call]})) as site:
            page = await open_page(site.at("/new"))
            await run_goal(page, "Look it up")
            await page.get_by_role("button", name="Log in…").click()
            async with page.context.expect_page() as opened:
                await page.get_by_role("link", name="Open the login page").click()
            await (await opened.value).wait_for_load_state()
            await expect(page.locator(".toast").filter(has_text="No login at guarded")).to_be_visible()
            await expect(page.locator(".facts .pill")).to_have_text("Asks you")
            await eventually(lambda: not server.tokens)
