"""A run of another process, in a real browser: watched as it works, stopped, and resumed here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.needs import needs_chromium
from tests.weft.web.static.served_page import PageModel, eventually, served
from tests.weft.web.static.test_run_page import RUNNING, finished

if TYPE_CHECKING:
    from pathlib import Path

    from tests.weft.web.static.conftest import OpenPage

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ELSEWHERE = """
import asyncio, sys
from pathlib import Path
from tests.weft.web.served import client, TOKEN
from tests.weft.web.static.served_page import GOAL, PageModel, page_site

async def main():
    model = PageModel()
    model.held = {"redis"}
    site = page_site(Path(sys.argv[1]), model)
    async with client(site) as asked:
        started = (await asked.post("/runs", json={"goal": GOAL})).json()
        while site.work.holds(started["run_id"]):
            await asyncio.sleep(0.05)
    await site.close()

asyncio.run(main())
"""


async def test_a_run_of_another_process_is_watched_stopped_and_resumed(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    async with served(workspace, model) as server:
        page = await open_page(server.at("/runs"))
        await expect(page.get_by_role("heading", name="Nothing has been run here yet")).to_be_visible()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-c", ELSEWHERE, str(workspace)]
        with subprocess.Popen(command, env=env) as running:  # noqa: ASYNC220 - it starts at once
            await page.get_by_role("row", name=re.compile("Running")).get_by_role("link").first.click()
            await expect(page.get_by_role("button", name=RUNNING).first).to_be_visible()
            await expect(page.locator(".facts")).to_contain_text("2 of 4 tasks")
            await page.get_by_role("button", name="Stop").click()
            await finished(page, "Stopped by you")
            await eventually(lambda: running.poll() == 0)
        await page.get_by_role("button", name="Resume…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Resume").click()
        await finished(page)
        assert sorted({one.task or one.role for one in model.asked}) == ["recommend", "redis", "synthesis"]
