"""Responsiveness of the page: first paint, very long texts, and files of tasks."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from bench.web_feel import MARK, long_text, longest_task
from goalwright_executor.stores.row import Row
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import go, served, task
from tests.goalwright.interfaces.web.static.test_run_page import finished
from tests.goalwright.interfaces.web.static.test_run_story import RUN, leave, picture
from tests.goalwright.interfaces.web.static.written_runs import at, write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from playwright.async_api import Browser, Page, Route

    OpenPage = Callable[..., Awaitable[Page]]

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session"), pytest.mark.changes_skills]
PARAGRAPH = (
    "## Part {n}\n\nSome **bold** words about it, and a [link][there].\n\n| a | b |\n|---|--:|\n| one | {n} |\n\n"
)
BLOCKS = """$$
a_1 * b_1 * c_1
$$

```mermaid
graph LR
  a --> b
```

مرحبا بالعالم
"""


def rows(answer: str, output: str = "x", made: Sequence[dict[str, Any]] = ()) -> list[Row]:
    """A run of one task that ended with this answer."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("run_started", {"run_id": RUN, "goal": "Write it", "workspace": "/w", "settings": {}}),
        ("plan_made", {"plan": {"tasks": [task("report", "Write the report")]}, "attempts": 0}),
        ("task_started", {"task": "report"}),
        (
            "tool_called",
            {
                "task": "report",
                "name": "plot_draw",
                "envelope": {"status": "success", "data": {"artifacts": list(made)}},
            },
        ),
        ("task_finished", {"task": "report", "status": "done", "output": output}),
        ("run_finished", {"status": "done", "answer": answer}),
    ]
    return [Row(RUN, seq, at(seq), kind, body) for seq, (kind, body) in enumerate(events, 1)]


async def test_the_frame_and_first_requests_do_not_wait_for_the_script(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, rows("The answer."))
    async with served(workspace) as server:
        page = await open_page(server.at("/models"), theme="light")
        await page.evaluate("localStorage.setItem('goalwright-theme', 'dark')")
        held, asked = asyncio.Event(), []

        async def later(route: Route) -> None:
            await held.wait()
            await route.continue_()

        page.on("request", lambda request: asked.append(request.url.removeprefix(server.base)))
        await page.route("**/app-*.js", later)
        answered = asyncio.ensure_future(
            page.wait_for_event("response", lambda one: one.url.endswith(f"/api/runs/{RUN}"))
        )
        await page.goto(f"{server.base}/runs/{RUN}", wait_until="commit")
        links = page.get_by_role("navigation", name="Main").get_by_role("link")
        await expect(links.filter(has_text="Skills")).to_be_visible()
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert (await answered).ok
        names = await links.all_inner_texts()
        held.set()
        await finished(page)
        shown = [name.strip() for name in await links.all_inner_texts()]
        assert [name.strip() for name in names] == [name for name in shown if name != "Settings"]
        assert asked.count(f"/api/runs/{RUN}") == 1
        assert asked.count("/api/about") == 1


async def test_a_very_long_text_is_rendered_only_in_view(workspace: Path, open_page: OpenPage) -> None:
    middle = "".join(PARAGRAPH.format(n=n) for n in range(600))
    write(workspace, rows(f"{BLOCKS}\n{middle}\n## The end\n\n[there]: https://example.com/there\n"))
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"), axe=True)
        answer = page.locator(".drawer .md")
        await expect(answer.get_by_role("heading", name="Part 0", exact=True)).to_be_visible()
        link = answer.get_by_role("link", name="link").first
        await expect(link).to_have_attribute("href", "https://example.com/there")  # defined at the very end
        await expect(answer.get_by_role("button", name="Copy this math")).to_be_visible()
        await expect(answer.locator("pre").first).to_have_text("a_1 * b_1 * c_1")
        await expect(answer.get_by_role("button", name="Copy this mermaid")).to_be_visible()
        arabic = answer.locator("p", has_text="مرحبا")
        assert await arabic.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
        assert await page.locator("*").count() < 1_500
        assert "Part 599" in await answer.evaluate("(one) => one.textContent")  # what is not drawn can be found
        await clean(page, ".drawer")
        for _ in range(100):
            await page.evaluate("document.querySelector('.drawer .db').scrollTop = 1e9")
            if await answer.get_by_role("heading", name="The end").count():
                break
            await asyncio.sleep(0.1)
        await expect(answer.get_by_role("heading", name="The end")).to_be_visible()


async def test_list_numbers_stay_inside_the_panel_in_both_directions(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, rows("1. שלום עולם\n2. Hello world\n"))
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        answer = page.locator(".drawer .md")
        await expect(answer.get_by_role("listitem")).to_have_count(2)
        around = await answer.bounding_box()
        items = answer.get_by_role("listitem")
        hebrew, english = await items.first.bounding_box(), await items.last.bounding_box()
        assert around is not None
        assert hebrew is not None
        assert english is not None
        assert around["x"] + around["width"] - (hebrew["x"] + hebrew["width"]) == pytest.approx(22)
        assert english["x"] - around["x"] == pytest.approx(22)


async def test_a_very_long_text_never_blocks_the_page(workspace: Path, browser: Browser, open_page: OpenPage) -> None:
    """The CPU time of one task, which does not depend on the machine's load."""
    write(workspace, rows(f"{long_text()}\n\n## The end\n"))
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"))
        await expect(page.locator(".list tbody tr")).to_have_count(1)
        await browser.start_tracing(page=page, categories=["toplevel", "blink.user_timing"])
        await page.evaluate(f"performance.mark({MARK!r})")
        await go(page, f"/runs/{RUN}")
        await expect(page.locator(".drawer .md h4").first).to_be_visible()
        for _ in range(10):
            await page.evaluate("document.querySelector('.drawer .db').scrollBy(0, 3000)")
            await asyncio.sleep(0.1)
        end = page.locator(".drawer .md").get_by_role("heading", name="The end")
        while not await end.count():
            await page.evaluate("document.querySelector('.drawer .db').scrollTop = 1e9")
            await asyncio.sleep(0.1)
        traced = json.loads(await browser.stop_tracing())["traceEvents"]
        assert 0 < longest_task(traced) < 100


async def test_the_files_of_a_task_are_shown_below_its_output(workspace: Path, open_page: OpenPage) -> None:
    files: dict[str, bytes] = {
        "chart.png": picture(),
        "sums.csv": b"name,sum\nInsurers,40\n",
        "list.json": b'[{"sector": "Banks", "share": 30}]',
        "notes.md": b"## Notes\n\nAll of it.\n",
    }
    hostile = b"<svg xmlns='http://www.w3.org/2000/svg' width='30' height='30'><script>alert(1)</script></svg>"
    files |= {"drawing.svg": hostile, "fake.png": b"<html><script>alert(1)</script></html>"}
    made = [{"path": name, "bytes": len(data), "sha256": "", "task": "report"} for name, data in files.items()]
    write(
        workspace,
        rows("The answer.", "Here: ![Shares](./chart.png) ![d](drawing.svg) ![f](fake.png) ![out](../../x.png)", made),
    )
    leave(workspace, files)
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}?task=report"))
        drawer = page.get_by_role("complementary")
        await expect(drawer.locator(".md").get_by_role("img", name="chart.png")).to_be_visible()
        await expect(drawer.locator(".md").get_by_role("img", name="drawing.svg")).to_be_visible()
        await expect(drawer.locator(".md pre")).to_contain_text("<script>")
        await expect(drawer.locator(".md")).to_contain_text("[image: out]")
        assert await page.locator("main script, svg script").count() == 0
        for name in ("sums.csv", "list.json", "notes.md"):
            await drawer.get_by_role("button", name=name, exact=True).click()
        await expect(drawer.get_by_role("cell", name="Insurers")).to_be_visible()
        await expect(drawer.get_by_role("cell", name="Banks")).to_be_visible()
        await expect(drawer.get_by_role("heading", name="Notes")).to_be_visible()
