"""Typed text is not lost: drafts, questions before leaving, conflicts of files, a new token."""

from __future__ import annotations

import asyncio
import re
import socket
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.goalwright.interfaces.web.static.served_page import GOAL, go, served
from tests.goalwright.interfaces.web.static.test_run_page import finished
from tests.goalwright.interfaces.web.static.test_run_story import RUN, story
from tests.goalwright.interfaces.web.static.written_runs import write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Page

    OpenPage = Callable[..., Awaitable[Page]]

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session"), pytest.mark.changes_skills]
UNLOAD = "dispatchEvent(new Event('beforeunload', { cancelable: true }))"
SKILL = """---
name: our-notes
description: Write the notes of a release from the changes since the last one.
---
One
Two
Three
"""


async def asks_before_closing(page: Page) -> None:
    """Wait until closing the tab would ask about the edit."""
    for _ in range(600):
        if not await page.evaluate(UNLOAD):
            return
        await asyncio.sleep(0.1)
    pytest.fail("the tab can be closed without a question")


def our_notes(workspace: Path) -> Path:
    """Write an editable skill of the workspace."""
    folder = workspace / ".agents" / "skills" / "our-notes"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
    return folder


async def test_leaving_an_edited_plan_asks_and_edits_can_be_undone(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, story())
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        await finished(page)
        await page.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Edit the plan as new").click()
        text = page.get_by_role("textbox", name="The plan, in YAML or JSON")
        await expect(text).to_have_value(re.compile("id: list"))
        await expect(page.locator(".faults")).to_contain_text("no faults")  # of a run that fanned out
        planned = await text.input_value()
        await page.get_by_role("link", name="Models").click()  # nothing was edited: nothing is asked
        await expect(page.get_by_role("heading", name="Models")).to_be_visible()
        await page.go_back()
        mine = planned.replace("List the sectors", "List all sectors")
        await text.fill(mine)
        leaving = page.get_by_role("dialog", name="Leave without saving?")
        for leave in (page.get_by_role("link", name="Models").click, page.go_back):
            await leave()
            await leaving.get_by_role("button", name="Cancel").click()
            await expect(text).to_have_value(mine)
        await leaving.wait_for(state="detached")
        await page.get_by_role("link", name="Models").click()
        await leaving.get_by_role("button", name="Leave").click()
        await expect(page.get_by_role("heading", name="Models")).to_be_visible()
        await page.goto(server.at("/plan?of=another"))
        await page.get_by_role("dialog", name="Edit another plan?").get_by_role("button", name="Cancel").click()
        await expect(text).to_have_value(mine)
        await go(page, f"/plan?of={RUN}")
        await expect(text).to_have_value(mine)
        await page.get_by_role("button", name="Discard").click()
        await expect(text).to_have_value(planned)
        await expect(page.get_by_role("button", name="Discard")).to_have_count(0)
        await text.press("Control+z")
        await expect(text).to_have_value(mine)
        await expect(page.locator(".faults")).to_contain_text("no faults")
        await page.get_by_role("button", name="Run", exact=True).click()  # and running it is not leaving it
        await page.wait_for_url("**/runs/*")
        await expect(page.locator("main h1")).to_be_focused()


async def test_focus_moves_to_the_new_run_and_a_key_focuses_the_graph(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        await page.get_by_role("textbox", name="Goal").fill(GOAL)
        await page.keyboard.press("Control+Shift+Enter")
        await finished(page)
        await expect(page.locator("main h1")).to_be_focused()
        await page.locator(".card").first.wait_for()
        await page.keyboard.press("v")
        await page.keyboard.press("ArrowRight")
        await expect(page.locator(".card:focus")).to_contain_text("Gather the needs")


async def test_a_conflict_is_merged_or_resolved_with_one_version(workspace: Path, open_page: OpenPage) -> None:
    file = our_notes(workspace) / "SKILL.md"
    async with served(workspace) as server:
        page = await open_page(server.at("/skills/our-notes"), troubled=True)
        text = page.get_by_role("textbox", name="Text of SKILL.md")
        both = page.get_by_role("region", name="Two versions")
        await page.get_by_role("button", name="Edit", exact=True).click()
        await text.fill(SKILL.replace("One", "One of mine"))
        file.write_text(SKILL.replace("Three", "Three of theirs"), encoding="utf-8")
        await page.get_by_role("button", name="Save").click()
        await expect(both.get_by_role("region", name="My change")).to_contain_text("One of mine")
        await expect(both.get_by_role("region", name="Their change")).to_contain_text("Three of theirs")
        await both.get_by_role("button", name="Merge both").click()
        merged = SKILL.replace("One", "One of mine").replace("Three", "Three of theirs")
        await expect(text).to_have_value(merged)
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".toast", has_text="Saved")).to_be_visible()
        assert file.read_text(encoding="utf-8") == merged
        await page.get_by_role("button", name="Edit", exact=True).click()
        await text.fill(merged.replace("Two", "Two of mine"))
        file.write_text(merged.replace("Two", "Two of theirs"), encoding="utf-8")
        await page.get_by_role("button", name="Save").click()
        await expect(both.get_by_role("button", name="Merge, with 1 place to settle")).to_be_visible()
        await both.get_by_role("button", name="Take theirs").click()
        await expect(both).to_have_count(0)
        await expect(page.get_by_role("region", name="Text", exact=True)).to_contain_text("Two of theirs")
        assert "Two of theirs" in file.read_text(encoding="utf-8")


async def test_files_of_a_skill_are_added_kept_as_drafts_renamed_and_deleted(
    workspace: Path, open_page: OpenPage
) -> None:
    folder = our_notes(workspace)
    async with served(workspace) as server:
        page = await open_page(server.at("/skills/our-notes"), troubled=True)
        await page.get_by_role("button", name="Add a file").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("textbox").fill("../out.md")
        await dialog.get_by_role("button", name="Add").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("is not served here")
        assert not (workspace / ".agents" / "skills" / "out.md").exists()
        await dialog.get_by_role("textbox").fill("references/terms.md")
        await dialog.get_by_role("button", name="Add").click()
        await page.get_by_role("region", name="File references/terms.md").wait_for()
        await page.get_by_role("button", name="Edit", exact=True).click()
        text = page.get_by_role("textbox", name="Text of references/terms.md")
        await text.fill("A term.")
        await asks_before_closing(page)
        await page.get_by_role("link", name="Models").click()
        leaving = page.get_by_role("dialog", name="Leave without saving?")
        await leaving.get_by_role("button", name="Leave").click()
        await expect(page.get_by_role("heading", name="Models")).to_be_visible()
        assert await page.evaluate(UNLOAD)
        await page.goto(f"{server.base}/skills/our-notes?file=references%2Fterms.md")
        await expect(text).to_have_value("A term.")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".toast", has_text="Saved")).to_be_visible()
        assert (folder / "references" / "terms.md").read_text(encoding="utf-8") == "A term."
        await page.get_by_role("button", name="More about references/terms.md").click()
        await page.get_by_role("menuitem", name="Rename…").click()
        await dialog.get_by_role("textbox").fill("references/words.md")
        await dialog.get_by_role("button", name="Rename").click()
        await page.get_by_role("region", name="File references/words.md").wait_for()
        assert not (folder / "references" / "terms.md").exists()
        await page.get_by_role("button", name="More about references/words.md").click()
        await page.get_by_role("menuitem", name="Delete the file…").click()
        await dialog.get_by_role("button", name="Delete").click()
        await page.get_by_role("region", name="File SKILL.md").wait_for()
        assert not (folder / "references" / "words.md").exists()


async def test_a_new_token_in_the_address_is_used_by_all_tabs(workspace: Path, open_page: OpenPage) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with served(workspace, port=port) as server:
        page = await open_page(server.at("/runs"), troubled=True)
        other = await page.context.new_page()
        await other.goto(f"{server.base}/skills")
        await expect(other.get_by_role("heading", name="Skills", exact=True)).to_be_visible()
    async with served(workspace, port=port) as again:
        for one in (page, other):
            await expect(one.get_by_role("heading", name="This page needs its token")).to_be_visible(timeout=60_000)
        await page.evaluate(
            "(token) => { location.hash = `token=${token}`; }", again.token
        )  # as pasted into the address
        await expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
        await expect(other.get_by_role("heading", name="Skills", exact=True)).to_be_visible()
        assert again.token not in page.url
