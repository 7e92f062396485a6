"""The list of runs, a new goal and the plan editor in a browser; 2,000 tasks by keyboard; a lost server."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import socket
from typing import TYPE_CHECKING

import pytest
import yaml
from playwright.async_api import expect

from goalwright_executor.stores.row import Row
from tests.goalwright.interfaces.web.static.served_page import GOAL, PLAN, PageModel, go, run_id_of, served
from tests.goalwright.interfaces.web.static.test_run_page import finished, run_goal
from tests.goalwright.interfaces.web.static.written_runs import BIG, at, big_rows, write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Route

    from tests.goalwright.interfaces.web.static.conftest import OpenPage

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_an_empty_list_offers_the_next_step_and_fills_by_itself(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"))
        await expect(page.get_by_role("heading", name="Nothing has been run here yet")).to_be_visible()
        other = await open_page(server.at("/new"))
        await run_goal(other, "one apple")
        await finished(other)
        row = page.get_by_role("row", name=re.compile("one apple"))
        await expect(row).to_contain_text("Done")
        await expect(row).to_contain_text("4/4")


@pytest.mark.changes_skills
async def test_a_list_shows_changes_made_before_its_stream_opened(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/settings"))
        asked, opened = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            asked.set()
            await opened.wait()
            await route.continue_()

        await page.route("**/events?*", hold)
        await page.get_by_role("link", name="Runs", exact=True).click()
        await expect(page.get_by_role("heading", name="Nothing has been run here yet")).to_be_visible()
        await asked.wait()
        write(workspace, big_rows())
        opened.set()
        await expect(page.locator("tbody tr")).to_have_count(1)


@pytest.mark.changes_skills  # there is nothing to replay in what was written here
async def test_loaded_pages_of_runs_stay_after_a_refresh(workspace: Path, open_page: OpenPage) -> None:
    def done(number: int) -> None:
        run = f"20260101T0000{number:05}-abcdef"
        began = {"run_id": run, "goal": f"goal {number}", "workspace": "/w", "settings": {}}
        write(workspace, [Row(run, 1, at(number), "run_started", began)])

    for number in range(60):
        done(number)
    async with served(workspace) as server:
        page = await open_page(server.at("/runs?status=done"))
        await expect(page.locator("tbody tr")).to_have_count(50)
        await page.get_by_role("button", name="Show more").click()
        await expect(page.locator("tbody tr")).to_have_count(60)
        done(60)
        await expect(page.locator("tbody tr")).to_have_count(61)

        # The list is read again once its stream is open; the next page is requested meanwhile.
        reads, again, released = itertools.count(), asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            if "before=&" in route.request.url and next(reads) == 1:
                again.set()
                await released.wait()
            await route.continue_()

        await page.route("**/runs?*", hold)
        await page.reload()
        await expect(page.locator("tbody tr")).to_have_count(50)
        await asyncio.wait_for(again.wait(), 60)
        await page.get_by_role("button", name="Show more").click()
        await expect(page.locator("tbody tr")).to_have_count(61)
        async with page.expect_response(lambda response: "before=&" in response.url):
            released.set()
        done(61)
        await expect(page.locator("tbody tr")).to_have_count(62)


async def test_runs_are_filtered_compared_exported_and_deleted(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        for goal in ("one apple", "two pears"):
            await run_goal(page, goal)
            await finished(page)
        await go(page, "/runs")
        await page.get_by_role("searchbox", name="Search runs").fill("APPLE")
        await expect(page.get_by_role("link", name="two pears")).to_have_count(0)
        assert "q=APPLE" in page.url
        await page.get_by_role("button", name="Failed").click()
        await expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
        await page.get_by_role("button", name="Show all runs").click()
        await page.get_by_role("checkbox", name="Compare one apple").check()
        await page.get_by_role("checkbox", name="Compare two pears").check()
        await expect(page.get_by_role("link", name="Compare the two")).to_be_visible()
        row = page.get_by_role("row", name=re.compile("one apple"))
        await row.get_by_role("button").click()
        async with page.expect_download() as download:
            await row.get_by_role("menuitem", name="Export as JSON lines").click()
        assert (await download.value).suggested_filename.endswith(".jsonl")
        await row.get_by_role("button").click()
        await row.get_by_role("menuitem", name="Delete…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(row).to_have_count(0)


async def test_a_plan_is_made_edited_repaired_and_run(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        await page.get_by_role("textbox", name="Goal").fill(GOAL)
        await page.get_by_role("button", name="Plan first").click()
        await page.wait_for_url("**/plan")
        text = page.get_by_role("textbox", name="The plan, in YAML or JSON")
        await expect(page.locator(".faults")).to_contain_text("4 tasks, no faults")
        good = await text.input_value()
        await text.fill(good.replace("name: comparing-options", "name: comparing-nothing"))
        line = page.get_by_role("button", name=re.compile(r"Line \d+.*there is no skill"))
        await line.click()
        await expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        await expect(page.get_by_role("button", name=re.compile("Profile Redis, .*, Failed"))).to_be_visible()
        await text.press("Control+z")
        await expect(page.locator(".faults")).to_contain_text("no faults")
        await page.get_by_role("button", name=re.compile("^Recommend one")).click()
        await page.get_by_role("textbox", name="Id of the task").fill("advice")
        await page.get_by_role("button", name="Rename").click()
        await page.get_by_role("button", name="No longer depend on local").click()
        await page.get_by_role("button", name="Add a task after it").click()
        await expect(page.locator(".faults")).to_contain_text("5 tasks, no faults")
        written = await text.input_value()
        assert "depends_on:\n  - redis\n" in written
        assert "depends_on: [advice]" in written
        await page.get_by_role("button", name="Run", exact=True).click()
        await page.wait_for_url("**/runs/*")
        await finished(page)
        await expect(page.locator(".facts")).to_contain_text("5 of 5 tasks")


TRICKY = """\
tasks:
- id: t1
  action_type: llm
  instruction: Make a list.
- id: t2
  action_type: llm
  instruction: |
    Write these lines:
    depends_on: [build]
    id: t1
  when: <<t1.status>> == "done"
  depends_on: [t1]
- {id: x-1, action_type: llm, instruction: Do it.}
- id: t4
  action_type: llm
  instruction: Do it.
  depends_on: [t1, 'x-1']  # note
"""


async def test_the_graph_and_buttons_of_a_plan_follow_the_servers_parser(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/plan"))
        text = page.get_by_role("textbox", name="The plan, in YAML or JSON")
        said = page.locator(".faults")
        await text.fill(TRICKY)
        await expect(said).to_contain_text("4 tasks, no faults")
        await page.get_by_role("button", name=re.compile("^t4,")).click()
        needs = page.get_by_role("group", name="Depends on")
        await expect(needs.locator(".chip button")).to_have_count(2)
        await page.get_by_role("button", name=re.compile("^t2,")).click()
        await page.get_by_role("button", name="No longer depend on t1").click()
        await expect(text).to_have_value(TRICKY.replace("depends_on: [t1]\n", "depends_on: []\n"))
        await text.press("Control+z")
        await expect(text).to_have_value(TRICKY)
        await page.get_by_role("button", name=re.compile("^t1,")).click()
        await page.get_by_role("textbox", name="Id of the task").fill("alpha")
        await page.get_by_role("button", name="Rename").click()
        renamed = TRICKY.replace("- id: t1", "- id: alpha").replace("<<t1", "<<alpha").replace("[t1", "[alpha")
        renamed = renamed.replace("]  # note", "] # note")  # the comment keeps its column
        await expect(text).to_have_value(renamed)
        await expect(page.get_by_role("region", name="Task alpha")).to_be_visible()
        await text.fill(json.dumps(PLAN, indent=2))
        await expect(said).to_contain_text("4 tasks, no faults")
        await page.get_by_role("button", name="Add a task", exact=True).click()
        await expect(said).to_contain_text("5 tasks, no faults")
        assert json.loads(await text.input_value())["tasks"][-1]["id"] == "task-5"
        await text.fill("tasks: [")
        await expect(said).to_contain_text("neither YAML nor JSON")
        await expect(page.get_by_role("button", name="Add a task", exact=True)).to_be_disabled()
        await expect(page.get_by_role("region", name="Task task-5")).to_contain_text("change its text")


async def test_buttons_apply_to_the_clicked_task_while_it_is_renamed(workspace: Path, open_page: OpenPage) -> None:
    clicked = asyncio.Event()

    async def held(route: Route) -> None:
        await clicked.wait()
        await route.continue_()

    async with served(workspace) as server:
        page = await open_page(server.at("/plan"))
        text = page.get_by_role("textbox", name="The plan, in YAML or JSON")
        await text.fill(TRICKY)
        await expect(page.locator(".faults")).to_contain_text("4 tasks, no faults")
        await page.get_by_role("button", name=re.compile("^t4,")).click()
        await page.route("**/api/plan/edit", held)
        await page.get_by_role("textbox", name="Id of the task").fill("last")
        await page.get_by_role("button", name="Rename").click()
        await page.get_by_role("button", name="No longer depend on t1").click()
        await page.get_by_role("button", name="Add a task after it").click()
        clicked.set()
        await expect(page.locator(".faults")).to_contain_text("5 tasks, no faults")
        written = await text.input_value()
        assert "- id: last" in written
        assert ["x-1"] in [row.get("depends_on") for row in yaml.safe_load(written)["tasks"]]
        assert "depends_on: [last]" in written


async def test_files_and_skills_reach_the_run(workspace: Path, open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        await page.get_by_role("textbox", name="Goal").fill("something else entirely")
        await page.locator("input[type=file]").set_input_files(tmp_path / "report.csv")
        await expect(page.get_by_role("button", name="Leave out report.csv")).to_be_visible()
        await page.get_by_role("button", name="Skills").click()
        await page.get_by_role("combobox", name="Skills to use in any case").fill("comparing-options")
        await expect(page.get_by_role("region", name="Skills that would be selected")).to_contain_text(
            "asked for by name"
        )
        await page.get_by_role("button", name="Run", exact=True).click()
        await page.wait_for_url("**/runs/*")
        await finished(page)
        first = run_id_of(page.url)
        await go(page, f"/runs/{first}?tab=details")
        await expect(page.get_by_role("complementary", name="The run")).to_contain_text("report.csv")
        await go(page, f"/plan?of={first}")
        await page.get_by_role("button", name="Run", exact=True).click()
        await page.wait_for_url("**/runs/*")
        await finished(page)
        await go(page, f"/runs/{run_id_of(page.url)}?tab=details")
        given = page.get_by_role("complementary", name="The run")
        await expect(given).to_contain_text("report.csv")
        await expect(given).to_contain_text("comparing-options")


async def test_a_plan_made_first_names_the_files_and_its_run_gets_them(
    workspace: Path, open_page: OpenPage, tmp_path: Path
) -> None:
    (tmp_path / "report.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    model = PageModel()
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        await page.get_by_role("textbox", name="Goal").fill(GOAL)
        await page.locator("input[type=file]").set_input_files(tmp_path / "report.csv")
        await expect(page.get_by_role("button", name="Leave out report.csv")).to_be_visible()
        await page.get_by_role("button", name="Plan first").click()
        await page.wait_for_url("**/plan")
        told = re.search(r"^- (/.*/report\.csv)$", model.asked[0].messages[1].content, re.MULTILINE)
        assert told is not None
        text = page.get_by_role("textbox", name="The plan, in YAML or JSON")
        await text.fill(f"tasks:\n- id: redis\n  action_type: llm\n  instruction: Read {told[1]} first.\n")
        await expect(page.locator(".faults")).to_contain_text("1 task, no faults")
        await page.get_by_role("button", name="Run", exact=True).click()
        await page.wait_for_url("**/runs/*")
        await finished(page)
        copy = workspace / ".agents" / "runs" / run_id_of(page.url) / "files" / "report.csv"
        assert copy.read_text(encoding="utf-8") == "a,b\n1,2\n"
        (asked,) = [request for request in model.asked if request.task == "redis"]
        assert f"Read {copy} first." in asked.messages[1].content


@pytest.mark.changes_skills  # there is nothing to replay in what was written here
async def test_two_thousand_tasks_are_panned_and_searched_by_keyboard_alone(
    workspace: Path, open_page: OpenPage
) -> None:
    write(workspace, big_rows(), status="partial")
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{BIG}?task=-"))
        await expect(page.locator(".facts")).to_contain_text("of 2,000 tasks")
        assert await page.locator("*").count() <= 1000
        await page.keyboard.press("/")
        await page.keyboard.type("task 7.42")
        await page.keyboard.press("Enter")
        await expect(page.locator(".card:focus")).to_contain_text("Task 7.42")
        await expect(page.locator(".drawer h2")).to_have_text("Task 7.42")
        await page.keyboard.press("ArrowLeft")
        await expect(page.locator(".card:focus")).to_contain_text("Task 6.")
        await page.keyboard.press("f")
        await expect(page.locator(".cards")).to_be_hidden()
        await page.keyboard.press("e")
        await expect(page.locator(".drawer .pill")).to_have_text("Failed")
        await page.get_by_role("region", name="Timeline rows").focus()
        await page.keyboard.press("End")
        await expect(page.get_by_role("button", name=re.compile(r"^Task 19\.99"))).to_be_visible()


async def test_the_page_reports_a_lost_server_and_a_restarted_one(workspace: Path, open_page: OpenPage) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with served(workspace, port=port) as server:
        page = await open_page(server.at("/runs"), troubled=True)
        await expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    await expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    async with served(workspace, port=port) as again:
        await expect(page.get_by_role("heading", name="This page needs its token")).to_be_visible()
        await page.get_by_role("textbox", name="Token or address").fill(again.at("/"))
        await page.get_by_role("button", name="Open").click()
        await expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


async def test_a_read_only_page_offers_no_changes(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        run_id = await run_goal(page)
        await finished(page)
    async with served(workspace, model, read_only=True) as server:
        page = await open_page(server.at(f"/runs/{run_id}?task=redis"))
        await expect(page.get_by_role("complementary", name="Task redis")).to_contain_text("0.7 ms")
        for name in ("Resume…", "Stop", "Rerun from here…"):
            await expect(page.get_by_role("button", name=name)).to_have_count(0)
        await go(page, "/new")
        await expect(page.get_by_role("heading", name="This server is read-only")).to_be_visible()
