"""Clarity for newcomers: counts, labels and next steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from goalwright_executor.stores.row import Row
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import PageModel, go, served, task
from tests.goalwright.interfaces.web.static.test_run_page import finished, run_goal
from tests.goalwright.interfaces.web.static.test_run_story import RUN
from tests.goalwright.interfaces.web.static.written_runs import at, write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Page, Route

    OpenPage = Callable[..., Awaitable[Page]]

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session"), pytest.mark.changes_skills]
WRITE = task("write", "Write the summary") | {
    "action_type": "tool",
    "name": "WriteFile",
    "arguments": {"path": "workspace:SUMMARY.md", "content": "# Summary\n\nOne decision.\n"},
}


def rows(*events: tuple[float, str, dict[str, Any]], run: str = RUN) -> list[Row]:
    started = (0, "run_started", {"run_id": run, "goal": "Write it", "workspace": "/w", "settings": {}})
    return [Row(run, seq, at(moment), kind, body) for seq, (moment, kind, body) in enumerate((started, *events), 1)]


async def test_a_write_is_approved_by_its_patch_and_the_note_leads_to_the_run(
    workspace: Path, open_page: OpenPage
) -> None:
    async with served(workspace, PageModel({"tasks": [WRITE]}), workspace_writes="ask") as server:
        page = await open_page(server.at("/new"), axe=True)
        await run_goal(page)
        await finished(page, "Asks you")
        await page.get_by_role("link", name=re.compile("Approvals")).click()
        patch = page.get_by_role("region", name="Change of SUMMARY.md")
        await expect(patch.locator(".added")).to_have_count(3)
        await expect(page.locator(".page pre.code")).to_be_hidden()  # the arguments say the same again
        await clean(page)
        await page.get_by_role("button", name="Allow", exact=True).click()
        await page.get_by_role("link", name="Open it").click()
        await finished(page)
        assert (workspace / "SUMMARY.md").read_text(encoding="utf-8") == "# Summary\n\nOne decision.\n"
        panel = page.get_by_role("complementary", name="The run")
        await panel.get_by_role("tab", name="Files").click()
        await panel.get_by_role("button", name="Undo these changes…").click()
        await page.get_by_role("dialog", name="Undo 1 change?").get_by_role("button", name="Undo").click()
        await expect(panel).to_contain_text("Undone.")
        await panel.get_by_role("tab", name="Answer").click()
        await expect(panel).to_contain_text("Its changes were undoneSUMMARY.md")
        await page.keyboard.press("Escape")
        await expect(panel).to_have_count(0)
        await page.get_by_role("button", name="Panel").click()
        await expect(panel).to_be_visible()


async def test_a_run_without_a_plan_counts_no_tasks_and_its_times_can_be_read(
    workspace: Path, open_page: OpenPage
) -> None:
    usage = {"calls": 1, "prompt_tokens": 90, "completion_tokens": 10, "cached_tokens": 0}
    reply = {"text": "x", "tool_calls": [], "usage": usage, "cost": 0.01, "finish": "stop", "model": "m"}
    asked = {"id": "q1", "task": None, "kind": "question", "preview": "Which city?", "asked": at(9)}
    write(
        workspace,
        rows(
            (0.1, "call_started", {"role": "decomposer", "task": None, "model": "m", "messages": [], "tools": []}),
            (8.9, "call_finished", {"role": "decomposer", "task": None, "model": "m", "reply": reply, "seconds": 8.8}),
            (9, "approval_asked", asked),
            (9, "run_finished", {"status": "waiting", "question": "Which city?"}),
        ),
    )
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        await finished(page, "Asks you")
        await expect(page.locator(".facts")).not_to_contain_text("task")
        await expect(page.locator(".facts")).to_contain_text("1 call")
        label = page.get_by_role("button", name=re.compile("^Plan, 8.8 s")).locator(".dur")
        lane = await label.locator("xpath=..").bounding_box()
        box = await label.bounding_box()
        assert lane is not None
        assert box is not None
        assert box["x"] >= lane["x"]  # no digit is cut


async def test_the_answer_precedes_plan_changes_and_an_empty_change_is_reported(
    workspace: Path, open_page: OpenPage
) -> None:
    refused = {"faults": ["the answer is prose"], "attempt": 1}
    write(
        workspace,
        rows(
            (1, "plan_made", {"plan": {"tasks": [task("read", "Read it")]}, "attempts": 1}),
            (1, "task_started", {"task": "read"}),
            (2, "task_finished", {"task": "read", "status": "failed", "error": "no such file"}),
            (3, "plan_refused", refused),
            (4, "plan_refused", refused),
            (5, "plan_changed", {"cause": "replan", "note": "no valid change in 2 answers"}),
            (6, "run_finished", {"status": "partial", "answer": "The **first** half.", "error": "1 of 1 failed"}),
        ),
    )
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        await finished(page, "Partial")
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("The plan stayed as it was")
        await expect(drawer.get_by_text("the answer is prose")).to_have_count(1)
        said = await drawer.inner_text()
        assert said.index("The first half.") < said.index("The plan stayed as it was")
        await page.get_by_role("button", name=re.compile("^Read it, llm")).click()
        await page.get_by_role("button", name="The run", exact=True).click()
        await expect(drawer).to_contain_text("The first half.")


async def test_the_answer_form_says_that_failed_tasks_are_retried(workspace: Path, open_page: OpenPage) -> None:
    asked = {"id": "q1", "task": "send", "kind": "task", "tool": None, "preview": "Send it?", "asked": at(3)}
    tasks = [task("read", "Read it"), task("send", "Send it") | {"needs_approval": True}]
    write(
        workspace,
        rows(
            (1, "plan_made", {"plan": {"tasks": tasks}, "attempts": 1}),
            (1, "task_started", {"task": "read"}),
            (2, "task_finished", {"task": "read", "status": "failed", "error": "no such file"}),
            (3, "approval_asked", asked),
            (4, "run_finished", {"status": "waiting"}),
        ),
    )
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("the task that failed is tried again")
        await expect(page.locator(".facts")).to_contain_text("0 of 2 tasks, 1 failed")


async def test_the_prompt_tab_shows_messages_then_the_parts_of_the_prompt(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        run = await run_goal(page)
        await finished(page)
        await go(page, f"/runs/{run}?task=local&tab=prompt")
        panel = page.get_by_role("tabpanel", name="Prompt")
        await expect(panel.locator(".msg", has_text="user").first).to_contain_text("Profile a local cache")
        await expect(panel.get_by_text("Variables of the prompt")).to_be_hidden()
        await panel.get_by_text("Parts of the prompt").click()
        await expect(panel.get_by_text("Variables of the prompt")).to_be_visible()


async def test_an_interrupted_task_shows_its_duration(workspace: Path, open_page: OpenPage) -> None:
    tasks = [task("slow", "Something slow"), task("read", "Read it")]
    write(
        workspace,
        rows(
            (1, "plan_made", {"plan": {"tasks": tasks}, "attempts": 0}),
            (1, "task_started", {"task": "slow"}),
            (1, "task_started", {"task": "read"}),
            (31, "task_finished", {"task": "read", "status": "done", "output": "x"}),
            (41, "run_finished", {"status": "interrupted", "error": "interrupted", "code": "STOPPED_BY_USER"}),
        ),
    )
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        cut_off = page.get_by_role("button", name=re.compile("^Something slow"))
        await expect(cut_off.and_(page.locator(".card"))).to_contain_text("40 s")
        row = cut_off.and_(page.locator(".row"))
        await expect(row).to_contain_text("40 s")
        bar, label = await row.locator(".span").bounding_box(), await row.locator(".dur").bounding_box()
        assert bar is not None
        assert label is not None
        assert label["x"] >= bar["x"] + bar["width"] - 1  # behind its bar, not on it
        await row.click()
        await expect(page.get_by_role("tabpanel", name="Output").locator("dd").first).to_have_text("40 s")


async def test_a_running_run_continues_during_playback(workspace: Path, open_page: OpenPage) -> None:
    selected = {
        "detector": "lexical",
        "available": 1,
        "selections": [{"name": "briefs", "score": 0.9, "reason": "the goal names it"}],
    }
    write(
        workspace,
        rows(
            (1, "skills_selected", selected),
            (1, "plan_made", {"plan": {"tasks": [task("slow", "Something slow")]}, "attempts": 0}),
            (1, "task_started", {"task": "slow"}),
            (101, "task_finished", {"task": "slow", "status": "done", "output": "x"}),
            (101, "run_finished", {"status": "done", "answer": "The end.", "seconds": 101}),
        ),
    )
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}?tab=skills"))
        await finished(page)
        panel = page.get_by_role("complementary", name="The run")
        await expect(panel).to_contain_text("No finished task used it.")
        await page.get_by_role("button", name="Playback").click()
        await page.get_by_role("button", name="Pause").click()
        for place, now, worked in (("500", "51 s", "50 s"), ("800", "81 s", "80 s")):
            await page.get_by_role("slider", name="Time of the run").fill(place)
            await expect(page.locator(".facts")).to_contain_text(f"{now} at work")
            await expect(panel).to_contain_text(f"Working for {now}")
            await expect(page.locator(".card")).to_contain_text(worked)
            await expect(page.locator(".row", has_text="Something slow")).to_contain_text(worked)
        await expect(panel).not_to_contain_text("No finished task used it.")  # it still may
        bar = await page.locator(".row .span").bounding_box()
        assert bar is not None
        assert bar["width"] > 100


async def test_the_why_tab_explains_tools_and_steps(workspace: Path, open_page: OpenPage) -> None:
    tool = {"action_type": "tool", "name": "ReadFile", "arguments": {"path": "notes.md"}}
    model = PageModel(
        {"tasks": [task("read", "Read the notes") | tool, task("sum", "Sum up", ("read",))], "synthesis": "Short."}
    )
    async with served(workspace, model) as server:
        page = await open_page(server.at("/new"))
        run = await run_goal(page)
        await finished(page)
        panel = page.get_by_role("tabpanel", name="Why")
        said = {
            "read": ("The plan calls this tool", "was not selected"),
            "(plan)": ("A model makes the plan", "needs no skill"),
            "(synthesis)": ("A model writes the answer from the results", "it depends on nothing"),
        }
        for step, (true, untrue) in said.items():
            await go(page, f"/runs/{run}?task={step}&tab=why")
            await expect(panel).to_contain_text(true)
            await expect(panel).not_to_contain_text(untrue)
        await go(page, f"/runs/{run}?task=read&tab=why")
        head = page.get_by_role("complementary", name="Task read").locator(".sub")
        await expect(head).to_contain_text("read · tool · ReadFile")
        await expect(head.get_by_role("link")).to_have_count(0)  # it is no skill, and has no page
        await panel.get_by_role("button", name="Sum up").click()
        await page.get_by_role("tab", name="Why").click()
        await expect(panel).to_contain_text("When Read the notes was done")


async def test_an_unreadable_conversation_shows_the_reason(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"), troubled=True)

        async def broken(route: Route) -> None:
            error = {"code": "BAD_JOURNAL", "message": "the journal cannot be read", "hint": "free disk space"}
            await route.fulfill(status=503, json={"error": error})

        await page.route("**/api/conversations/*", broken)
        await go(page, "/conversations/c1")
        await expect(page.get_by_role("heading", name="the journal cannot be read")).to_be_visible()


async def test_comparison_hides_reused_tasks_and_shows_different_outputs(workspace: Path, open_page: OpenPage) -> None:
    made = (1, "plan_made", {"plan": {"tasks": [task("read", "Read it"), task("sum", "Sum up")]}, "attempts": 1})
    ended = (9, "run_finished", {"status": "done", "answer": "The end."})

    def done(name: str, output: str) -> list[tuple[float, str, dict[str, Any]]]:
        return [
            (2, "task_started", {"task": name}),
            (4, "task_finished", {"task": name, "status": "done", "output": output, "seconds": 2}),
        ]

    other = f"{RUN[:-1]}9"
    reused = (2, "task_reused", {"task": "read", "output": "Notes.", "source": RUN})
    write(workspace, rows(made, *done("read", "Notes."), *done("sum", "Short."), ended))
    write(workspace, rows(made, reused, *done("sum", "Shorter."), ended, run=other))
    async with served(workspace) as server:
        page = await open_page(server.at(f"/compare?a={RUN}&b={other}"))
        tasks = page.locator("article")
        await expect(tasks).to_have_count(1)
        await expect(tasks).to_contain_text("Sum up")
        await page.get_by_role("button", name="All 3").click()  # the plan is a step too
        await expect(tasks).to_have_count(3)
        await page.get_by_role("button", name="Outputs that differ 1").click()
        await expect(tasks).to_have_count(1)
        await expect(tasks.locator(".hunk.added")).to_contain_text("Shorter.")
