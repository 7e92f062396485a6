"""One run in a real browser: start, watch, inspect, play back, rerun."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from goalwright_planner.errors import RequestRefused
from tests.end_to_end.test_kept_outputs import program
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import (
    GOAL,
    SKILL,
    PageModel,
    eventually,
    go,
    prepare,
    run_id_of,
    served,
    task,
)
from tests.goalwright.interfaces.web.static.written_runs import BIG, big_rows, layered, write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Page

    from tests.nursery import Ran

    OpenPage = Callable[..., Awaitable[Page]]

RUNNING = re.compile("^Profile Redis, skill · comparing-options, .*Running$")

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def run_goal(page: Page, goal: str = GOAL) -> str:
    """Type a goal and run it; return the run's id."""
    if urlsplit(page.url).path != "/new":
        await go(page, "/new")
    await page.get_by_role("textbox", name="Goal").fill(goal)
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.wait_for_url("**/runs/*")
    return run_id_of(page.url)


async def finished(page: Page, word: str = "Done") -> None:
    await expect(page.locator(".facts .pill")).to_have_text(word)


async def test_a_goal_from_typing_to_its_answer(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/"))
        await page.get_by_role("link", name="New goal").first.click()
        await page.get_by_role("textbox", name="Goal").fill(GOAL)
        would = page.get_by_role("region", name="Skills that would be selected")
        await expect(would).to_contain_text("comparing-options")
        await expect(would).to_contain_text("words of the goal")
        await page.get_by_role("button", name="Run", exact=True).click()
        await finished(page)
        await expect(page.get_by_role("complementary", name="The run")).to_contain_text("Take Redis.")
        await expect(page.locator(".facts")).to_contain_text("4 of 4 tasks")
        assert "token" not in page.url


async def test_an_active_run_is_watched_and_its_task_opened(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    model.held = {"decomposer", "redis"}
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page)
        await expect(page.get_by_role("heading", name="Planning…")).to_be_visible()
        model.held.discard("decomposer")
        card = page.get_by_role("button", name=RUNNING)
        await card.first.click()
        drawer = page.get_by_role("complementary", name="Task redis")
        await expect(drawer).to_contain_text("Being written")
        assert "task=redis" in page.url
        model.held.clear()
        await expect(drawer.get_by_role("heading", name="Redis", exact=True)).to_be_visible()
        await expect(drawer.get_by_role("cell", name="0.7 ms")).to_be_visible()
        await finished(page)
        await drawer.get_by_role("tab", name="Prompt").click()
        await expect(drawer.locator(".msg").first).to_contain_text("system")
        await expect(drawer).to_contain_text("120 + 30 tokens")
        await drawer.get_by_text("Parts of the prompt").click()
        await expect(drawer).to_contain_text("Variables of the prompt")
        await expect(drawer).to_contain_text("Give the evidence first")
        await drawer.get_by_role("tab", name="Why").click()
        await expect(drawer).to_contain_text("was selected with")
        await drawer.get_by_role("tab", name="Events").click()
        await expect(drawer).to_contain_text("task_finished")
        await page.reload()
        await expect(page.get_by_role("tab", name="Events", selected=True)).to_be_visible()


async def test_a_whole_run_by_keyboard_alone(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"))
        await page.get_by_role("heading", name="Runs").wait_for()
        await page.keyboard.press("n")
        await page.get_by_role("textbox", name="Goal").wait_for()
        await page.keyboard.type(GOAL)
        await page.keyboard.press("Control+Shift+Enter")
        await finished(page)
        await page.locator(".card").first.wait_for()
        await page.get_by_role("region", name="Task graph; arrow keys follow dependencies").focus()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator(".card:focus")).to_contain_text("Gather the needs")
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowDown")
        focused = page.locator(".card:focus")
        await expect(focused).to_have_count(1)
        name = await focused.locator("b").inner_text()
        await page.keyboard.press("Enter")
        await expect(page.locator(".drawer h2")).to_have_text(name)
        await page.keyboard.press("]")
        await page.keyboard.press("]")
        await page.keyboard.press("/")
        await page.keyboard.type("needs")
        await page.keyboard.press("Enter")
        await expect(page.locator(".drawer h2")).to_have_text("Gather the needs")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("complementary", name="The run")).to_be_visible()
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)


async def test_an_ended_run_shows_tool_calls_and_playback(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        run_id = await run_goal(page)
        await finished(page)
        await go(page, f"/runs/{run_id}?task=needs&tab=tools")
        drawer = page.get_by_role("complementary", name="Task needs")
        for text in ("ReadFile", "notes.md", "1,840 requests"):
            await expect(drawer).to_contain_text(text)
        await go(page, f"/runs/{run_id}?task=recommend")
        await page.get_by_role("button", name="Playback").click()
        await page.get_by_role("button", name="Pause").click()
        slider = page.get_by_role("slider", name="Time of the run")
        await slider.fill("0")
        await expect(page.locator(".facts .pill")).to_have_text("Planning")
        await slider.evaluate("(one) => { one.value = one.max; one.dispatchEvent(new Event('input')); }")
        await finished(page)
        await expect(page.locator(".facts")).to_contain_text("4 of 4 tasks")
        await page.get_by_role("button", name="End playback").click()
        await expect(slider).to_have_count(0)


async def test_cards_are_outlined_only_while_the_critical_path_is_shown(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page)
        await finished(page)
        framed = page.locator(".card.crit")
        await expect(framed).not_to_have_count(0)
        for shown in (False, True):
            await page.keyboard.press("c")
            await expect(page.locator(".legend .path")).to_have_count(int(shown))
            await (expect(framed).not_to_have_count(0) if shown else expect(framed).to_have_count(0))


async def test_a_key_selects_a_failure_and_a_rerun_shows_its_cost_first(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    model.failing["local"] = RequestRefused("the cache is cold")
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        first = await run_goal(page)
        await finished(page, "Partial")
        await page.locator(".card").first.wait_for()
        await page.keyboard.press("e")
        drawer = page.get_by_role("complementary", name="Task local")
        await expect(drawer).to_contain_text("the cache is cold")
        model.failing.clear()
        await drawer.get_by_role("button", name="Rerun from here…").click()
        dialog = page.get_by_role("dialog", name="Rerun from local")
        await expect(dialog).to_contain_text("local, recommend")
        await expect(dialog).to_contain_text("2 tasks run, 2 reused")
        await dialog.get_by_role("button", name="Start").click()
        await eventually(lambda: run_id_of(page.url) != first)
        await finished(page)
        await expect(page.locator(".crumbs")).to_contain_text(first)
        await expect(
            page.get_by_role("button", name=re.compile("^Gather the needs, llm.*, Reused$")).first
        ).to_be_visible()


async def test_a_run_is_rerun_with_an_edited_output(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        first = await run_goal(page)
        await finished(page)
        await go(page, f"/runs/{first}?task=redis")
        await page.get_by_role("button", name="Rerun with this output edited…").click()
        dialog = page.get_by_role("dialog", name="Rerun with another output of redis")
        await dialog.get_by_role("textbox", name="Output of redis").fill("Redis is full.")
        await dialog.get_by_role("button", name="Start").click()
        await eventually(lambda: run_id_of(page.url) != first)
        await finished(page)
        assert any("Redis is full." in str(request.messages) for request in model.asked if request.task == "recommend")
        await expect(page.locator(".crumbs")).to_contain_text(f"made from {first}")
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Edit the plan as new").click()
        again = run_id_of(page.url.replace("/plan?of=", "/runs/"))
        await page.get_by_role("button", name="Run", exact=True).click()
        await eventually(lambda: "/runs/" in page.url)
        panel = page.get_by_role("complementary", name="The run")
        await expect(panel.get_by_role("link", name=again)).to_have_attribute("href", f"/runs/{again}")


async def test_a_dialog_shows_its_error_and_keeps_the_input(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace, allow_unknown_cost=False) as server:
        page = await open_page(server.at("/new"), troubled=True, axe=True)
        first = await run_goal(page)
        await finished(page)
        await go(page, f"/runs/{first}?task=redis")
        await page.get_by_role("button", name="Rerun with this output edited…").click()
        dialog = page.get_by_role("dialog", name="Rerun with another output of redis")
        output = dialog.get_by_role("textbox", name="Output of redis")
        await output.fill("Redis is full.")
        cost = dialog.get_by_role("spinbutton", name="Cost, at most ($)")
        await cost.fill("1")
        await dialog.get_by_role("button", name="Start").click()
        said = dialog.get_by_role("alert")
        await expect(said).to_contain_text("a limit on cost cannot hold")
        await expect(said).to_contain_text("set allow_unknown_cost = true there")
        await expect(said).not_to_contain_text("--")
        await clean(page)
        await page.mouse.click(10, 10)  # beside the dialog
        await expect(output).to_have_value("Redis is full.")
        await cost.fill("")
        await dialog.get_by_role("button", name="Start").click()
        await eventually(lambda: run_id_of(page.url) != first)
        await finished(page)
        await page.route("**/export?*", lambda route: route.fulfill(status=503, json={"error": {"message": "Not now"}}))
        for item in ("Export as JSON lines", "Change the plan…"):
            await page.get_by_role("button", name="More", exact=True).click()
            await page.get_by_role("menuitem", name=item).click()
        await page.get_by_role("button", name="Close this note").click()
        await expect(page.locator(".toast")).to_have_count(0)
        replan = page.get_by_role("dialog", name="Change the plan")
        await page.route(
            "**/replan", lambda route: route.fulfill(status=409, json={"error": {"message": "It is held"}})
        )
        await replan.get_by_role("textbox", name="What to change").fill("Leave out Redis")
        await replan.get_by_role("button", name="Change and continue").click()
        await expect(replan.get_by_role("alert")).to_contain_text("It is held")
        await expect(replan.get_by_role("textbox", name="What to change")).to_have_value("Leave out Redis")


async def test_a_run_is_stopped_and_resumed_without_paying_twice(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    model.held = {"redis"}
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page)
        await page.get_by_role("button", name=RUNNING).first.wait_for()
        await page.get_by_role("button", name="Stop").click()
        await finished(page, "Stopped by you")
        model.held.clear()
        asked = len([one for one in model.asked if one.task == "needs"])
        await page.get_by_role("button", name="Resume…").click()
        dialog = page.get_by_role("dialog", name="Resume this run")
        await dialog.get_by_role("spinbutton", name="Time, at most (s)").fill("900")
        await dialog.get_by_role("button", name="Resume").click()
        await finished(page)
        await page.get_by_role("tab", name="Details").click()
        await expect(page.get_by_role("complementary", name="The run")).to_contain_text("900")
        await expect(page.get_by_role("complementary", name="The run")).to_contain_text("as long as the run")
        await page.reload()
        bars = page.get_by_role("button", name=re.compile("^Profile Redis, .*Done")).locator(".lane > .span")
        await expect(bars).to_have_count(2)
        assert len([one for one in model.asked if one.task == "needs"]) == asked


async def test_a_question_is_answered_and_the_same_run_continues(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel({"tasks": [], "clarification": "Which API do you mean?"})
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        run_id = await run_goal(page)
        await finished(page, "Asks you")
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("Which API do you mean?")
        model.plan = PageModel().plan
        await expect(drawer.get_by_role("textbox", name="Your answer")).to_be_focused()
        await page.keyboard.type("The public one")
        await page.get_by_role("tab", name="Details").click()  # what is typed outlasts a look elsewhere
        await page.get_by_role("tab", name="Answer").click()
        await go(page, "/approvals")
        await expect(page.get_by_role("textbox", name="Your answer")).to_have_value("The public one")
        await page.go_back()
        await drawer.get_by_role("button", name="Answer and continue").click()
        await finished(page)
        assert run_id_of(page.url) == run_id
        assert any("The public one" in str(one.messages) for one in model.asked if one.role == "decomposer")
        for _ in range(2):  # as it was followed, and as it is read again
            said = drawer.locator(".note", has_text="Which API do you mean?")
            await expect(said).to_contain_text("The public one")
            await expect(page.get_by_role("button", name=re.compile("^Plan, .*tries"))).to_have_count(0)
            await page.reload()


async def test_an_error_stays_until_it_is_closed_and_is_shown_once(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/"), troubled=True)
        await page.clock.install()
        await page.goto(server.at("/new"))
        refused = {"error": {"message": "The price of x is unknown", "hint": "give it in your config.toml"}}
        await page.route("**/api/runs", lambda route: route.fulfill(status=400, json=refused))
        await page.get_by_role("textbox", name="Goal").fill(GOAL)
        for _ in range(2):
            await page.keyboard.press("Control+Shift+Enter")
            await expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
        await page.clock.fast_forward(120_000)
        await expect(page.locator(".toast")).to_have_count(1)
        await expect(page.locator(".toast")).to_contain_text("give it in your config.toml")
        await page.get_by_role("button", name="Close this note").click()
        await expect(page.locator(".toast")).to_have_count(0)


async def test_timeline_labels_are_readable_in_a_small_window_and_when_zoomed(
    tmp_path: Path, open_page: OpenPage
) -> None:
    write(tmp_path, big_rows(tasks=layered(4, 3, 1)))
    async with served(tmp_path) as server:
        page = await open_page(server.at(f"/runs/{BIG}"), size=(1024, 700))
        axis = page.locator(".axis")
        for _ in range(2):  # all of it, and a part
            await expect(axis.locator("span").first).to_be_visible()
            found = await axis.locator("span").evaluate_all(
                "all => all.map((one) => one.getBoundingClientRect().toJSON())"
            )
            boxes = [box for box in found if box["width"]]
            assert len(boxes) > 1
            assert all(one["x"] + one["width"] < after["x"] for one, after in pairwise(boxes)), boxes
            for _ in range(8):
                await page.get_by_role("button", name="Zoom the timeline in").click()
        lane = await axis.bounding_box()
        assert lane is not None
        assert lane["width"] > 80


async def test_right_to_left_titles_are_cut_at_their_end(tmp_path: Path, open_page: OpenPage) -> None:
    title = "שלום עולם: השווה שתי אפשרויות והמלץ על אחת מהן"
    write(tmp_path, big_rows(tasks=[one | {"title": title} for one in layered(1, 1, 0)]), goal=title)
    async with served(tmp_path) as server:
        page = await open_page(server.at(f"/runs/{BIG}"))
        for name in (".card b", ".row .name > span"):
            await expect(page.locator(name, has_text=title).first).to_have_css("direction", "rtl")
        await go(page, "/runs")
        await expect(page.get_by_role("link", name=title)).to_have_css("direction", "rtl")


async def test_the_run_of_a_killed_process_shows_what_is_kept(tmp_path: Path, open_page: OpenPage) -> None:
    write(tmp_path, big_rows(tasks=layered(1, 1, 0))[:-2], status="running")
    async with served(tmp_path) as server:
        page = await open_page(server.at(f"/runs/{BIG}"))
        panel = page.get_by_role("complementary", name="The run")
        await expect(panel.locator(".note")).to_contain_text("Finished tasks are kept. Resume the run to continue")


async def test_a_hidden_tab_closes_its_stream_and_catches_up_when_shown(workspace: Path, open_page: OpenPage) -> None:
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    model = PageModel()
    model.held = {"redis"}
    async with served(workspace, model) as server:
        page = await open_page(server.at("/"))
        await page.clock.install()
        await page.goto(server.at("/new"))
        run_id = await run_goal(page)
        status = page.locator(".facts .pill")
        await expect(status).to_have_text("Running")
        site = server.server._site
        await eventually(lambda: site.streams._open == 1)
        await page.evaluate(hide, True)
        await page.clock.fast_forward(31_000)
        await eventually(lambda: site.streams._open == 0)
        model.held.clear()
        await eventually(lambda: site.find(run_id).status == "done")
        await expect(status).to_have_text("Running")  # nothing was heard
        await page.evaluate(hide, False)
        await expect(status).to_have_text("Done")
        await expect(page.get_by_role("complementary", name="The run")).to_contain_text("Take Redis.")


async def test_an_approval_is_denied_with_a_reason(workspace: Path, open_page: OpenPage) -> None:
    plan = {"tasks": [task("send", "Send the report", needs_approval="Send it to everyone?")]}
    async with served(workspace, PageModel(plan)) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page)
        await finished(page, "Asks you")
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("Send it to everyone?")
        await expect(page.get_by_role("button", name="Resume…")).to_have_count(0)  # it would only ask again
        await drawer.get_by_role("textbox", name="Note").fill("not on a Friday")
        await drawer.get_by_role("button", name="Deny", exact=True).click()
        await finished(page, "Failed")


async def test_the_kept_file_of_a_long_output_is_listed_and_saved(
    workspace: Path, open_page: OpenPage, goalwright: Callable[..., Ran]
) -> None:
    prepare(workspace)
    plan = {"tasks": [{"id": "t", "action_type": "tool", "name": program(workspace), "arguments": {}}]}
    (workspace / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    ran = await asyncio.to_thread(goalwright, "run", "--plan", "plan.json", "--trust", "--json", cwd=workspace)
    run = json.loads(ran.out)
    (kept,) = run["artifacts"]
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{run['run_id']}"))
        drawer = page.get_by_role("complementary", name="The run")
        await drawer.get_by_role("tab", name="Files").click()
        await expect(drawer.get_by_role("heading", name="Files that the run created")).to_be_visible()
        await expect(drawer).to_contain_text(kept["path"])
        await expect(drawer).to_contain_text("15 kB")
        async with page.expect_download() as download:
            await drawer.get_by_role("button", name=f"Save {kept['path']}").click()
        saved = await download.value
        assert saved.suggested_filename == kept["path"]
        assert (await saved.path()).read_text(encoding="utf-8") == "long " * 3000


async def test_a_phone_shows_the_graph_and_the_drawer_over_it(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"), size=(390, 844))
        run_id = await run_goal(page)
        await finished(page)
        panel = page.get_by_role("complementary", name="The run")
        await expect(panel).to_be_visible()
        for view, name in (("Graph", re.compile("^Task graph")), ("Time", "Timeline")):  # each shows what it says
            await page.get_by_role("button", name=view, exact=True).click()
            await expect(panel).to_have_count(0)
            await expect(page.get_by_role("region", name=name).first).to_be_in_viewport()
            await page.get_by_role("button", name="Panel").click()
            await expect(panel).to_be_visible()
        for name in ("Conversations", "Evaluations", "Models", "Settings"):
            await page.get_by_role("navigation").get_by_role("button", name="More").click()
            await page.get_by_role("navigation").get_by_role("link", name=name).click()
            await expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        await go(page, f"/runs/{run_id}?task=-")
        await page.get_by_role("button", name="Gather the needs").first.click()
        drawer = page.get_by_role("complementary", name="Task needs")
        await expect(drawer).to_be_visible()
        box = await drawer.bounding_box()
        assert box is not None
        assert box["width"] == 390
        assert await page.evaluate("document.documentElement.scrollWidth") == 390
        await drawer.get_by_role("button", name="Close the drawer").click()
        await expect(drawer).to_have_count(0)


async def test_an_unused_selected_skill_is_marked_with_a_warning(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel(
        {"tasks": [task("needs", "Gather the needs")], "unused": {"comparing-options": "there is one option"}}
    )
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page, f"{GOAL} $comparing-options")
        await finished(page)
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("does not use the skill 'comparing-options'")
        await expect(drawer).to_contain_text("there is one option")
        await page.get_by_role("tab", name="Skills").click()
        await expect(drawer.locator(".scoreline", has_text="comparing-options")).to_contain_text(
            "No finished task used it, though it was certain to fit."
        )
        await page.reload()
        await expect(drawer.locator(".scoreline", has_text="comparing-options")).to_contain_text(
            "No finished task used it, though it was certain to fit."
        )


async def test_a_skill_used_without_being_selected_is_shown(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel({"tasks": [task("redis", "Profile Redis", action_type="skill", name=SKILL)]})
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page, "Say hello to the neighbours")
        await finished(page)
        panel = page.get_by_role("complementary", name="The run")
        await panel.get_by_role("tab", name="Skills").click()
        await expect(panel).to_contain_text("No skill was selected.")
        await expect(panel.get_by_role("heading", name="Used without being selected")).to_be_visible()
        await panel.get_by_role("link", name=SKILL).click()
        await expect(page.get_by_role("heading", name=SKILL).first).to_be_visible()


async def test_the_output_of_a_command_is_shown_while_it_runs(workspace: Path, open_page: OpenPage) -> None:
    command = "echo '<b>compiling</b>'; touch begun; until [ -e go ]; do sleep 0.1; done; echo built"
    build = {"id": "build", "title": "Build it", "action_type": "tool", "name": "shell_run"}
    plan = {"tasks": [build | {"arguments": {"command": command, "timeout": 300}, "depends_on": []}]}
    async with served(workspace, PageModel(plan), tools=("shell",)) as server:
        page = await open_page(server.at("/new"))
        run = await run_goal(page)
        left = workspace / ".agents" / "runs" / run / "artifacts"
        await eventually(lambda: (left / "begun").exists(), 60)
        await go(page, f"/runs/{run}?task=build")
        panel = page.get_by_role("tabpanel", name="Output")
        await expect(panel).to_contain_text("<b>compiling</b>")
        (left / "go").touch()
        await finished(page)
        await expect(panel).to_contain_text("built")
