"""A run of another process in a real browser: watched, stopped and resumed here, answered and deleted there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from goalwright_planner.approvals import Answer
from tests.goalwright.interfaces.web.static.served_page import PageModel, eventually, run_id_of, served, task
from tests.goalwright.interfaces.web.static.test_run_page import RUNNING, finished, run_goal
from tests.goalwright.recorded import goalwright, store
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from tests.goalwright.interfaces.web.static.conftest import OpenPage

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ELSEWHERE = """
import asyncio, sys
from pathlib import Path
from tests.goalwright.interfaces.web.served import client, TOKEN
from tests.goalwright.interfaces.web.static.served_page import GOAL, PageModel, page_site

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


ASKING = {
    "tasks": [
        task("send", "Send the report", needs_approval="Send it to everyone?"),
        task("print", "Print it", ("send",), needs_approval="Print it, too?"),
    ]
}


async def test_answers_and_deletions_of_another_process_appear_at_once(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel(ASKING)
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"), troubled=True)
        run_id = await run_goal(page)
        await finished(page, "Asks you")
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("Send it to everyone?")
        async with goalwright(workspace, model) as elsewhere:
            (request,) = elsewhere.result(run_id).waiting
            assert (await elsewhere.resume(run_id, answers={request.id: Answer("allow")})).status == "waiting"
        await expect(drawer).to_contain_text("Print it, too?")  # it waited before, and waits again
        await expect(drawer).not_to_contain_text("Send it to everyone?")
        opened = store(workspace)
        assert opened.delete([run_id]) == [run_id]
        opened.close()
        await expect(page.get_by_role("heading", name=re.compile(f"no run '{run_id}'"))).to_be_visible()


async def test_a_long_change_is_shown_and_edited_whole_while_other_tasks_run(
    workspace: Path, open_page: OpenPage
) -> None:
    lines = f"- see {workspace}/notes.md\n" + "".join(f"- line {number} of the list\n" for number in range(199))
    write = task("write", "Write the list") | {
        "action_type": "tool",
        "name": "WriteFile",
        "arguments": {"path": "workspace:LIST.md", "content": lines},
    }
    model = PageModel({"tasks": [write, task("slow", "Something slow")]})
    model.held = {"slow"}
    async with served(workspace, model, workspace_writes="ask") as server:
        page = await open_page(server.at("/new"))
        run_id = await run_goal(page)
        drawer = page.get_by_role("complementary", name="The run")
        patch = drawer.get_by_role("region", name="Change of LIST.md")
        await expect(patch.locator(".added")).to_have_count(200)
        rest = drawer.get_by_role("button", name="Allow for the rest of the run")
        await expect(rest).to_be_visible()
        await drawer.get_by_role("button", name="Edit…").click()
        await expect(rest).to_have_count(0)  # it would allow the call as it was asked for, and drop the edit
        field = drawer.get_by_role("textbox", name="Arguments")
        given = json.loads(await field.input_value())
        assert given["content"] == lines
        await field.fill(json.dumps(given | {"content": given["content"] + "- one more\n"}))
        await drawer.get_by_role("button", name="Allow these arguments").click()
        await expect(patch).to_have_count(0)  # it is answered, and nobody is asked again
        assert not (workspace / "LIST.md").exists()
        model.held.clear()
        await finished(page)
        assert (workspace / "LIST.md").read_text(encoding="utf-8") == f"{lines}- one more\n"
        assert run_id_of(page.url) == run_id
