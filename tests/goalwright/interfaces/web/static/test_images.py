"""Images in a real browser: in the form, in a task's messages, and in an exported page."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from goalwright.interfaces.web import trace_page as html_page
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import url_of
from tests.goalwright.interfaces.web.static.served_page import PageModel, go, run_id_of, served, task
from tests.image_bytes import png
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Locator, Page

    OpenPage = Callable[..., Awaitable[Page]]

RED = png(64, 48)
PLAN = {"tasks": [task("look", "Look at it", instruction="Describe red.png")]}

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def is_drawn(image: Locator) -> bool:
    await expect(image).to_be_visible()
    size: list[int] = await image.evaluate(
        "async (one) => { await one.decode(); return [one.naturalWidth, one.naturalHeight] }"
    )
    return size == [64, 48]


async def test_an_image_given_in_the_form_is_shown_in_the_messages_and_in_one_file(
    workspace: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    (tmp_path / "red.png").write_bytes(RED)
    model = PageModel(PLAN)
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        await page.get_by_role("textbox", name="Goal").fill("Describe the picture")
        await page.locator("input[type=file]").first.set_input_files(tmp_path / "red.png")
        await expect(page.get_by_role("button", name="Leave out red.png")).to_be_visible()
        await page.get_by_role("button", name="Run", exact=True).click()
        await page.wait_for_url("**/runs/*")
        await expect(page.locator(".facts .pill")).to_have_text("Done")
        run_id = run_id_of(page.url)
        looking = next(request for request in model.asked if request.task == "look")
        assert list(looking.contents.values()) == [RED]
        await go(page, f"/runs/{run_id}?task=look&tab=messages")
        shown = page.get_by_role("img", name=looking.images[0].name)
        assert await is_drawn(shown)
        assert (await shown.get_attribute("src") or "").startswith("blob:")
        await expect(page.locator("figure.shown figcaption")).to_contain_text("64 × 48 pixels")
    store = open_store(url_of(workspace / ".agents" / "journal.sqlite"))
    try:
        rows = list(store.rows(run_id))
    finally:
        store.close()
    (tmp_path / "run.html").write_text(html_page.render([rows]), encoding="utf-8")
    page = await open_page(f"{(tmp_path / 'run.html').as_uri()}?task=look&tab=messages")
    assert await is_drawn(page.get_by_role("img", name=looking.images[0].name))
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 1
    assert "file_kept" not in text
    assert hashlib.sha256(RED).hexdigest() in text
