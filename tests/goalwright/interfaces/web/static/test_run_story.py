"""The history of a run in a real browser: attempts, changes of the plan, items and files."""

from __future__ import annotations

import re
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from goalwright_executor.stores.row import Row
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import PageModel, eventually, go, served, task
from tests.goalwright.interfaces.web.static.test_run_page import finished, run_goal
from tests.goalwright.interfaces.web.static.written_runs import at, write
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from playwright.async_api import Page

    OpenPage = Callable[..., Awaitable[Page]]

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session"), pytest.mark.changes_skills]
RUN = "20260101T000000000-5702f0"
ANSWER = """The chart:

![Shares](chart.png) and ![far](https://example.com/x.png)

| name | share |
|:---|---:|
| Insurers | 40 |

```python
print("hello")  # greets
```
"""


def story() -> list[Row]:
    """A run that was stopped, resumed, fanned out, and changed when a task failed."""
    plan = [task("list", "List the sectors"), task("each", "Look at each", ("list",)), task("sum", "Sum up", ("each",))]
    items = [
        task(f"each[{n}]", "Look at each", item={"value": {"name": name}})
        for n, name in enumerate(("Insurers", "Banks", "Funds"), 1)
    ]
    other = task("brief", "Write a short brief", ("list",))
    change = {
        "cause": "replan",
        "added": [other],
        "dropped": [],
        "rewired": {"sum": "brief"},
        "note": "sum is too long",
    }
    events: list[tuple[float, str, dict[str, Any]]] = [
        (0, "run_started", {"run_id": RUN, "goal": "Look at the sectors", "workspace": "/w", "settings": {}}),
        (1, "plan_made", {"plan": {"tasks": plan}, "attempts": 0}),
        (1, "task_started", {"task": "list"}),
        (3, "run_finished", {"status": "interrupted", "error": "interrupted", "code": "STOPPED_BY_USER"}),
        (90, "run_resumed", {"run_id": RUN, "settings": {}}),
        (91, "task_started", {"task": "list"}),
        (93, "task_finished", {"task": "list", "status": "done", "output": '[{"sector": "Insurers", "share": 40}]'}),
        (93, "task_started", {"task": "each"}),
        (93, "plan_changed", {"cause": "for_each", "of": "each", "added": items}),
        *[(93, "task_started", {"task": f"each[{n}]"}) for n in (1, 2, 3)],
        (95, "task_finished", {"task": "each[1]", "status": "done", "output": "x"}),
        (96, "task_finished", {"task": "each[2]", "status": "failed", "error": "refused"}),
        (97, "task_finished", {"task": "each[3]", "status": "done", "output": "x"}),
        (97, "task_finished", {"task": "each", "status": "done", "output": "x"}),
        (97, "task_started", {"task": "sum"}),
        (99, "task_finished", {"task": "sum", "status": "failed", "error": "too long"}),
        (100, "plan_changed", change),
        (100, "task_started", {"task": "brief"}),
        (102, "task_finished", {"task": "brief", "status": "done", "output": "x"}),
        (103, "run_finished", {"status": "done", "answer": ANSWER}),
    ]
    return [Row(RUN, seq, at(moment), kind, body) for seq, (moment, kind, body) in enumerate(events, 1)]


def picture(width: int = 40, height: int = 20, *, claims: tuple[int, int] | None = None) -> bytes:
    """A blue PNG, whose header may claim another size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = struct.pack(">IIBBBBB", *(claims or (width, height)), 8, 2, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x20\x60\xe0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


def leave(workspace: Path, files: dict[str, bytes]) -> None:
    folder = workspace / ".agents" / "runs" / RUN / "artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


async def test_attempts_replans_and_items_are_shown_after_a_reload(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, story())
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        await finished(page)
        await expect(page.locator(".facts")).to_contain_text("5 of 7 tasks, 1 failed")
        bars = page.get_by_role("button", name=re.compile("^List the sectors, .* s.*, Done")).locator(".lane > .span")
        await expect(bars).to_have_count(2)
        card = page.get_by_role("button", name=re.compile("^Look at each, 1 failed · 2 of 3, "))
        await expect(card).to_be_visible()
        await expect(
            page.get_by_role("button", name=re.compile("^Sum up, replaced by Write a short brief,"))
        ).to_be_visible()
        drawer = page.get_by_role("complementary", name="The run")
        await expect(drawer).to_contain_text("A model changed the plan")
        await expect(drawer).to_contain_text("sum is too long")
        await expect(drawer).to_contain_text("Write a short brief takes the place of Sum up")
        await page.get_by_role("button", name="Show the 3 parts of Look at each").click()
        await expect(page.get_by_role("button", name=re.compile("^Banks, llm, .*Failed"))).to_be_visible()
        await expect(
            page.get_by_role("button", name=re.compile("^Write a short brief, in place of Sum up"))
        ).to_be_visible()
        await page.keyboard.press("/")
        await page.keyboard.type("insur")
        await page.keyboard.press("Enter")
        await expect(page.locator(".drawer h2")).to_have_text("Insurers")
        await page.keyboard.press("Escape")
        await page.get_by_role("tab", name="Details").click()
        spent = page.locator("table.spent")
        await expect(spent.locator("tr.sum")).to_contain_text("16 s")
        await expect(spent).to_contain_text("Look at each › Funds")
        await expect(drawer).to_contain_text("3 tasks grew out of others")


def rounds() -> list[Row]:
    """A run that accepts its draft in the third round."""
    draft = task("draft", "Write the draft", ()) | {"repeat": {"until": "<<draft.output>> is empty", "most": 4}}
    checked = {"task": "draft", "condition": "<<draft.output>> is empty"}
    events: list[tuple[float, str, dict[str, Any]]] = [
        (0, "run_started", {"run_id": RUN, "goal": "Write until it is right", "workspace": "/w", "settings": {}}),
        (1, "plan_made", {"plan": {"tasks": [draft]}, "attempts": 0}),
        (1, "task_started", {"task": "draft"}),
    ]
    for number in (2, 3):
        again = task(f"draft#{number}", "Write the draft", ())
        events += [
            (3 * number, "condition_checked", {**checked, "holds": False, "why": "not yet", "round": number - 1}),
            (3 * number, "plan_changed", {"cause": "repeat", "of": "draft", "added": [again]}),
            (3 * number, "task_started", {"task": again["id"]}),
            (3 * number + 2, "task_finished", {"task": again["id"], "status": "done", "output": f"text {number}"}),
        ]
    events += [
        (12, "condition_checked", {**checked, "holds": True, "why": "it is", "round": 3}),
        (12, "task_finished", {"task": "draft", "status": "done", "output": "text 3"}),
        (13, "run_finished", {"status": "done", "answer": "text 3"}),
    ]
    return [Row(RUN, seq, at(moment), kind, body) for seq, (moment, kind, body) in enumerate(events, 1)]


async def test_rounds_are_shown_as_parts_of_their_task(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, rounds())
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"))
        await finished(page)
        await expect(page.locator(".facts")).to_contain_text("1 of 1 task")
        await page.get_by_role("button", name="Show the 2 parts of Write the draft").click()
        await expect(page.get_by_role("button", name=re.compile("^round 3, llm, .*Done"))).to_be_visible()
        await page.get_by_role("button", name=re.compile("^Write the draft, ")).first.click()
        drawer = page.get_by_role("complementary", name="Task draft")
        await expect(drawer).to_contain_text("Round 2 was not enough")
        await expect(drawer).to_contain_text("Round 3 was the last")
        await expect(drawer).not_to_contain_text("Not needed")
        await page.get_by_role("button", name=re.compile("^round 2, ")).first.click()
        await expect(page).to_have_url(re.compile("draft%232"))
        await expect(page.locator(".drawer h2")).to_have_text("round 2")


async def test_files_of_a_run_are_previewed_and_hostile_files_stay_data(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, story())
    script = "<script>document.title = 'run'; alert(1)</script>"
    leave(
        workspace,
        {
            "chart.png": picture(),
            "drawing.svg": f"<svg xmlns='http://www.w3.org/2000/svg' width='30' height='30'>{script}</svg>".encode(),
            "fake.png": f"<html>{script}</html>".encode(),
            "huge.png": picture(claims=(100_000, 100_000)),
            "sums.csv": b'name,sum\n"=HYPERLINK(""http://x"")",=1+1\n',
            "report.pdf": b"%PDF-1.4\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\ntrailer<<>>\n",
            "notes.md": b"# Notes\n\n![c](chart.png)\n\n<img src=x onerror=alert(1)>\n",
        },
    )
    large = workspace / ".agents" / "runs" / RUN / "artifacts" / "large.png"
    large.write_bytes(picture())
    with large.open("ab") as file:
        file.truncate(200_000_000)
    async with served(workspace) as server:
        page = await open_page(server.at(f"/runs/{RUN}"), axe=True)
        drawer = page.get_by_role("complementary", name="The run")
        answer = drawer.locator(".md")
        await expect(answer.get_by_role("img", name="chart.png")).to_have_js_property("naturalWidth", 40)
        await expect(answer).to_contain_text("[image: far]")
        await expect(answer.locator("td.r")).to_have_text("40")
        await expect(answer.locator(".tok-comment")).to_have_text("# greets")
        await drawer.get_by_role("tab", name="Files").click()

        async def opened(name: str) -> Any:
            button = drawer.get_by_role("button", name=name, exact=True)
            if await button.get_attribute("aria-expanded") == "false":  # a few pictures are open already
                await button.click()
            return drawer.locator(".bar", has_text=name).locator("+ .made-file")

        shown = await opened("drawing.svg")
        await expect(shown.get_by_role("img", name="drawing.svg")).to_have_js_property("naturalWidth", 30)
        assert await page.locator("svg script").count() == 0
        await expect((await opened("fake.png")).locator("pre")).to_contain_text("<script>")
        await expect(await opened("huge.png")).to_contain_text("10,000,000,000 pixels is too large")
        await expect(await opened("large.png")).to_contain_text("200 MB is too large")
        table = await opened("sums.csv")
        await expect(table.get_by_role("cell", name="=1+1")).to_be_visible()
        assert await table.locator("a").count() == 0
        notes = await opened("notes.md")
        await expect(notes).to_contain_text("<img src=x onerror=alert(1)>")
        await expect(notes.get_by_role("img", name="chart.png")).to_be_visible()
        pdf = await opened("report.pdf")
        await page.evaluate("""() => {
            const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => (window.made = [blob.type, make(blob)])[1];
        }""")
        async with page.context.expect_page() as tab:
            await pdf.get_by_role("button", name="Open the PDF in a new tab").click()
        kind, address = await page.evaluate("window.made")
        assert (kind, address[:5]) == ("application/pdf", "blob:")
        assert (await tab.value).url in (address, "", ":")  # the headless shell has no viewer
        await clean(page)
        assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        await go(page, f"/runs/{RUN}?task=list")
        await expect(page.get_by_role("cell", name="Insurers", exact=True)).to_be_visible()
        assert await page.title() != "run"


async def test_seven_tabs_follow_their_runs_over_one_connection(workspace: Path, open_page: OpenPage) -> None:
    model = PageModel()
    model.held = {"redis"}
    async with served(workspace, model) as server:
        first = await open_page(server.at("/new"))
        runs = [await run_goal(first) for _ in range(2)]
        pages = [first]
        for number in range(5):  # with the list one more than a browser has connections to a server
            page = await first.context.new_page()
            page.set_default_timeout(60_000)
            await page.goto(f"{server.base}/runs/{runs[number % 2]}")
            pages.append(page)
        lists = await first.context.new_page()
        await lists.goto(f"{server.base}/runs")
        for page in pages:
            await expect(page.locator(".facts .pill")).to_have_text("Running")
        await expect(lists.locator("tbody").get_by_text("Running")).to_have_count(2)
        assert server.server._site.streams._open == 1
        await first.close()  # the tab that had the stream
        model.held.clear()
        for page in pages[1:]:
            await expect(page.locator(".facts .pill")).to_have_text("Done")
            await expect(page.locator(".drawer")).to_contain_text("Take Redis.")
        await expect(lists.locator("tbody").get_by_text("Done")).to_have_count(2)
        await eventually(lambda: server.server._site.streams._open <= 1)  # the server notices a closed one late
