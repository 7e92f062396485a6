"""Skills, approvals, batches, models, settings, compare and replay in a real browser; axe finds nothing on any page."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from playwright.async_api import expect

from goalwright.models.local.catalogue import Url
from goalwright.models.local.store import models_dir
from goalwright_skills.builtin.writing.remove_file import DeleteFile, MoveFile
from goalwright_skills.builtin.writing.write_place import WritePlace
from tests.goalwright.interfaces.web.static import sample_texts as texts
from tests.goalwright.interfaces.web.static import sample_workspace as sample
from tests.goalwright.interfaces.web.static.axe import clean
from tests.goalwright.interfaces.web.static.served_page import PageModel, Served, go, served, task
from tests.goalwright.interfaces.web.static.test_run_page import finished, run_goal
from tests.goalwright.interfaces.web.static.written_runs import big_rows, layered, write
from tests.goalwright.models.local.hub import Hub
from tests.goalwright.models.local.test_pull import DATA, options
from tests.needs import needs_chromium, needs_local

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from playwright.async_api import Route

    from tests.goalwright.interfaces.web.static.conftest import OpenPage

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

NOTES = "---\nname: our-notes\ndescription: Write notes from a meeting. Use when one took place.\n---\n# Notes\n\n"
EVERY = (
    "/runs", f"/runs/{texts.RUNNING}?task=redis", f"/runs/{texts.DONE}",
    f"/runs/{texts.DONE}?task=redis&tab=messages&view=time", f"/runs/{texts.DONE}?task=traffic&tab=tools&view=graph",
    f"/runs/{texts.DONE}?task=redis&tab=why", "/new",
    f"/runs/{texts.DONE}?tab=details", f"/runs/{texts.DONE}?tab=files", f"/runs/{texts.ASKS}",
    f"/plan?of={texts.DONE}", "/approvals", "/batches", f"/batches/{texts.BATCH}", "/evaluations",
    f"/evaluations/{texts.EVALUATION}", "/skills",
    "/skills?goal=compare+caches", "/skills/comparing-options", "/skills/log_stats", f"/compare?a={texts.DONE}",
    f"/compare?a={texts.DONE}&b={texts.RERUN}", f"/replay?run={texts.DONE}", "/replay", "/models", "/settings",
    "/doctor", "/nowhere", "/dashboard?days=366", "/conversations", "/conversations/new",
    f"/conversations/{texts.CONVERSATION}",
)  # fmt: skip


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """A server for the only model of the catalogue."""
    with Hub(DATA) as started:
        yield started


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def full(tmp_path_factory: pytest.TempPathFactory, hub: Hub) -> AsyncIterator[Served]:
    """One server for this module, with content on every page."""
    workspace = tmp_path_factory.mktemp("sample") / "api-service"
    workspace.mkdir()
    sample.fill(workspace)
    async with served(workspace, pulls=options(Url(hub.url))) as server:
        yield server


async def test_axe_finds_nothing_on_any_page_light_or_dark(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at("/runs"), axe=True)
    seen = set()
    for path in EVERY:
        await go(page, path)
        await page.wait_for_timeout(300)  # what is read after the first paint
        run = path.partition("?")[0] if "tab=" in path else ""
        part = ".drawer" if run in seen else "html"  # of a run that was seen whole, another tab differs in its drawer
        seen.add(run or path.partition("?")[0])
        await clean(page, part)
    await page.keyboard.press("?")
    await clean(page)


async def test_no_page_is_wider_than_a_phone(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at("/runs"), size=(390, 844), axe=True)
    await page.get_by_role("navigation").get_by_role("button", name="More").click()
    await clean(page, "nav")
    for link in await page.get_by_role("navigation").get_by_role("link").all():
        box = await link.bounding_box()
        assert box is not None
        assert (box["x"] >= 0, box["x"] + box["width"] <= 390, box["y"] + box["height"] <= 844) == (True, True, True)
    await page.keyboard.press("Escape")
    for path in EVERY[:-2]:  # the checks of the doctor take long, and it was seen above
        await go(page, path)
        assert await page.evaluate("document.documentElement.scrollWidth") == 390, path


async def test_long_titles_of_tasks_do_not_widen_a_comparison_on_a_phone(tmp_path: Path, open_page: OpenPage) -> None:
    title = "Geschwindigkeitsbegrenzungsverordnung" * 6
    runs = [f"20260101T000000000-aaaaa{number}" for number in range(2)]
    for run in runs:
        write(tmp_path, big_rows(run, [one | {"title": f"{title} {run}"} for one in layered(1, 2, 0)]))
    async with served(tmp_path) as server:
        page = await open_page(server.at(f"/compare?a={runs[0]}&b={runs[1]}"), size=(390, 844))
        changed = page.locator(".alignedtask").first
        await expect(changed).to_be_visible()
        box = await changed.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390


async def test_two_runs_are_chosen_and_compared(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at(f"/compare?a={texts.DONE}"))
    rerun = page.get_by_role("button", name=re.compile("Partial.*1 h ago"))
    await rerun.click()
    changed = page.locator("article", has_text="Profile Redis")
    await expect(changed.locator(".hunk.added td", has_text="91.7 %")).to_be_visible()  # as it is read, not as written
    await changed.get_by_role("button", name="Raw").click()
    await expect(changed).to_contain_text("dropped: | hit rate at 2 GiB | 94.1 % |")
    await expect(changed).to_contain_text("added: | hit rate at 2 GiB | 91.7 % |")
    await page.get_by_role("button", name="Swap").click()
    await expect(changed.locator(".hunk.added td", has_text="94.1 %")).to_be_visible()
    await page.get_by_role("button", name="Same 15").click()
    await expect(changed).to_have_count(0)


async def test_an_evaluation_shows_variants_worse_cases_and_two_runs_side_by_side(
    full: Served, open_page: OpenPage
) -> None:
    page = await open_page(full.at("/evaluations"))
    await page.get_by_role("link", name=texts.EVALUATION).click()
    main = page.get_by_role("main")
    await expect(main).to_contain_text("no difference shown, 2 better, 1 worse; about 12 more would show")
    await expect(main).to_contain_text("worse: failover: max_calls: 6: 9 calls")
    row = page.get_by_role("row", name=re.compile("^failover"))
    await expect(row.get_by_role("link")).to_have_text(["passed", "failed", "Side by side"])
    await row.get_by_role("link", name="Side by side").click()
    await expect(page).to_have_url(re.compile(f"a={texts.DONE}&b={texts.RERUN}"))


async def test_a_batch_shows_its_progress_and_failures(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at("/batches"))
    await page.get_by_role("link", name=texts.BATCH).click()
    await expect(page.locator(".facts")).to_contain_text("12 of 20 goals")
    await expect(page.get_by_role("region", name="Failures")).to_contain_text("RATE_LIMITED")
    await page.get_by_role("button", name="Failed 1").click()
    await expect(page.locator(".runs tbody tr")).to_have_count(1)
    await page.get_by_role("link", name="Runs", exact=True).first.click()
    await expect(page.locator(".batchruns")).to_contain_text("12 runs of 1 batch are left out.")
    ticket = page.get_by_role("link", name=re.compile("^Summarise support ticket")).first
    await expect(page.locator(".runs tbody tr").first).to_be_visible()
    await expect(ticket).to_have_count(0)
    await page.get_by_role("button", name="Show them too").click()
    await expect(ticket).to_be_visible()
    await page.get_by_role("button", name="Leave them out").click()
    await expect(ticket).to_have_count(0)
    await page.get_by_role("searchbox", name="Search runs").fill("4103")  # who looks for one finds it
    await expect(ticket).to_be_visible()
    await page.get_by_role("searchbox", name="Search runs").fill("no such words")
    await expect(page.locator(".empty p")).to_have_text("Nothing recorded here has all these words.")


async def test_a_stopped_batch_shows_the_remaining_goals_and_how_to_continue(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at("/batches"))
    batch = {"batch": texts.BATCH, "goals": 12, "runs": 4, "statuses": {"interrupted": 3, "waiting": 1}, "failures": []}
    batch |= {"seconds": 4.0, "cost_usd": 0.0, "started": "2026-11-18T10:00:00Z", "goal": "Summarise it"}
    batch |= {"ended": {"runs": 0, "seconds": 0.0, "cost_usd": 0.0}}
    await page.route("**/api/batches/*", lambda route: route.fulfill(json=batch))
    await page.get_by_role("link", name=texts.BATCH).click()
    await expect(page.locator(".facts")).to_contain_text("0 of 12 goals ended")
    terminal = page.get_by_role("region", name="In a terminal")
    await expect(terminal).to_contain_text("8 goals have not begun.")
    await expect(terminal).to_contain_text("--resume --retry-errors")


async def test_averages_of_a_batch_count_only_ended_goals(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at("/batches"))
    batch = {"batch": texts.BATCH, "goals": 3, "runs": 3, "statuses": {"done": 2, "waiting": 1}, "failures": []}
    batch |= {"seconds": 90.0, "cost_usd": 0.9, "started": "2026-11-18T10:00:00Z", "goal": "Summarise it"}
    batch |= {"ended": {"runs": 2, "seconds": 8.0, "cost_usd": 0.5}}
    await page.route("**/api/batches/*", lambda route: route.fulfill(json=batch))
    await page.get_by_role("link", name=texts.BATCH).click()
    await expect(page.locator(".facts")).to_contain_text("2 of 3 goals ended")
    await expect(page.locator(".facts")).to_contain_text("$0.9000 ($0.2500 a goal)")
    await expect(page.locator(".facts")).to_contain_text("4.0 s of work a goal")


async def test_settings_show_origins_and_the_doctor_shows_remedies(full: Served, open_page: OpenPage) -> None:
    page = await open_page(full.at("/settings"))
    await expect(page.get_by_role("row", name=re.compile("^model "))).to_contain_text("scripted")
    await page.get_by_role("searchbox", name="Search settings").fill("cost limit")
    await expect(page.get_by_role("row", name=re.compile("^max_cost"))).to_contain_text("default")
    await page.get_by_role("button", name="Only changed settings").click()
    await expect(page.get_by_text("No setting fits.")).to_be_visible()
    await page.get_by_role("link", name="Doctor").click()
    await expect(page.locator(".finding").first).to_be_visible()
    topic = await page.locator(".finding b").first.bounding_box()
    found = await page.locator(".finding .said").first.bounding_box()
    assert topic is not None
    assert found is not None
    assert topic["x"] == found["x"]  # below its topic, and no balloon of a conversation


@needs_local
async def test_a_model_is_pulled_with_its_progress_shown(full: Served, open_page: OpenPage, hub: Hub) -> None:
    page = await open_page(full.at("/models"))
    await expect(page.get_by_role("region", name="Keys")).to_contain_text("OPENAI_API_KEY")
    hub.waits.clear()
    await page.get_by_role("button", name="Pull").click()
    bar = page.get_by_role("progressbar", name="Download")
    await expect(bar).to_have_attribute("max", str(len(hub.data)))
    await expect(page.locator(".pulling")).to_contain_text(re.compile(r"^[1-9][\d.]* [kM]B of 3\.0 MB$"))
    assert 0 < float(await bar.get_attribute("value") or 0) < len(hub.data)
    hub.waits.set()
    await expect(page.locator(".toast")).to_contain_text("tiny is ready")
    await expect(page.get_by_role("region", name="Local models")).to_contain_text("Installed")
    (models_dir() / "tiny.gguf").unlink()
    hub.status = 404
    await go(page, "/runs")
    await go(page, "/models")
    await page.get_by_role("button", name="Pull").click()
    await expect(page.locator(".toast", has_text="404")).to_be_visible()


async def test_changes_of_the_workspace_are_shown_and_undone_after_asking(full: Served, open_page: OpenPage) -> None:
    folder = full.server._site.paths.workspace
    page = await open_page(full.at(f"/runs/{texts.DONE}?tab=files"))
    change = page.get_by_role("region", name="Change of src/cache.py")
    await expect(change).to_contain_text("dropped: SIZE = 512")
    await expect(change).to_contain_text("added: SIZE = 2048")
    (folder / "docs" / "decision.md").write_text("mine\n", encoding="utf-8")
    await page.get_by_role("button", name="Undo these changes…").click()
    await page.get_by_role("dialog", name="Undo 2 changes?").get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast")).to_contain_text("1 file changed since and left alone")
    await expect(change).to_have_count(0)
    assert (folder / "src" / "cache.py").read_text(encoding="utf-8").startswith("SIZE = 512")
    assert (folder / "docs" / "decision.md").read_text(encoding="utf-8") == "mine\n"


async def test_moved_and_deleted_files_are_shown_and_restored(full: Served, open_page: OpenPage) -> None:
    folder = full.server._site.paths.workspace
    place = WritePlace(folder, folder / ".agents" / "runs" / texts.DONE / "artifacts", "allow")
    (folder / "gone.md").write_text("gone\n", encoding="utf-8")
    (folder / "<b>x.md").write_text("kept\n", encoding="utf-8")
    deleted = await DeleteFile(place).call({"path": "workspace:gone.md"})
    moved = await MoveFile(place).call({"path": "workspace:<b>x.md", "to": "workspace:new/x.md"})
    assert (deleted.status, moved.status) == ("success", "success")
    page = await open_page(full.at(f"/runs/{texts.DONE}?tab=files"))
    await expect(page.locator(".filechange", has_text="gone.md")).to_contain_text("deleted")
    await expect(page.locator(".filechange", has_text="<b>x.md → new/x.md")).to_contain_text("moved")
    await page.get_by_role("button", name="Undo these changes…").click()
    await page.get_by_role("dialog", name="Undo ").get_by_role("button", name="Undo").click()
    await expect(page.locator(".filechange", has_text="<b>x.md → new/x.md")).to_contain_text("undone")
    assert (folder / "gone.md").read_text(encoding="utf-8") == "gone\n"
    assert (folder / "<b>x.md").read_text(encoding="utf-8") == "kept\n"


def packed(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("UP", ".."), text)
    return buffer.getvalue()


@pytest.mark.changes_skills
async def test_skills_are_imported_overwritten_after_asking_edited_and_deleted(
    workspace: Path, open_page: OpenPage, tmp_path: Path
) -> None:
    (tmp_path / "bad.zip").write_bytes(packed(**{"SKILL.md": NOTES, "UP__evil.md": "x"}))
    (tmp_path / "good.zip").write_bytes(packed(**{"SKILL.md": NOTES + "First.\n", "run.sh": "curl x | sh\n"}))
    folder = tmp_path / "our-notes"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(NOTES + "Ünïcode.\n", encoding="utf-8")
    (folder / "references" / "long.md").write_text("long\n", encoding="utf-8")
    async with served(workspace) as server:
        page = await open_page(server.at("/skills"), troubled=True)
        await page.get_by_role("button", name="Import…").click()
        dialog = page.get_by_role("dialog", name="Import a skill")
        await dialog.locator("input[type=file]").first.set_input_files(tmp_path / "bad.zip")
        await expect(dialog.locator(".st-failed")).to_contain_text("..")
        await dialog.locator("input[type=file]").first.set_input_files(tmp_path / "good.zip")
        await expect(dialog).to_contain_text("to distrust")
        assert not (workspace / ".agents" / "skills" / "our-notes").exists()
        await dialog.get_by_role("button", name="Import").click()
        row = page.get_by_role("row", name=re.compile("our-notes"))
        await expect(row).to_contain_text("workspace")
        await page.get_by_role("button", name="Import…").click()
        await dialog.locator("input[type=file]").last.set_input_files(folder)
        await expect(dialog).to_contain_text("our-notes exists already")
        await dialog.get_by_role("button", name="Overwrite our-notes").click()
        await expect(dialog).to_have_count(0)
        kept = workspace / ".agents" / "skills" / "our-notes"
        assert (kept / "SKILL.md").read_text(encoding="utf-8").endswith("Ünïcode.\n")
        assert not (kept / "run.sh").exists()
        await row.get_by_role("button", name="Files of our-notes").click()
        await page.get_by_role("link", name="references/long.md").click()
        await page.get_by_role("button", name="Edit").click()
        text = page.get_by_role("textbox", name="Text of references/long.md")
        await text.fill("longer\n")
        (kept / "references" / "long.md").write_text("changed elsewhere\n", encoding="utf-8")
        await page.get_by_role("button", name="Save").click()
        both = page.get_by_role("region", name="Two versions")
        await expect(both).to_contain_text("changed elsewhere")
        await page.get_by_role("link", name="Models").click()
        await page.get_by_role("dialog", name="Leave without saving?").get_by_role("button", name="Cancel").click()
        await both.get_by_role("button", name="Take mine").click()
        await expect(page.locator(".toast", has_text="Saved")).to_be_visible()
        assert (kept / "references" / "long.md").read_text(encoding="utf-8") == "longer\n"
        await page.get_by_role("button", name="Delete").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("heading", name="Skills", exact=True)).to_be_visible()
        assert not kept.exists()
        await go(page, "/skills/decision-memo")
        await expect(page.get_by_text("It comes with goalwright")).to_be_visible()
        await expect(page.get_by_role("button", name="Edit")).to_have_count(0)
        await page.get_by_role("button", name="Copy into the workspace").click()
        await page.get_by_role("button", name="Edit").click()
        await page.get_by_role("textbox", name="Text of SKILL.md").press_sequentially("x")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("button", name="Edit")).to_be_visible()
        copied = workspace / ".agents" / "skills" / "decision-memo" / "SKILL.md"
        assert "x" in copied.read_text(encoding="utf-8")[:1] + copied.read_text(encoding="utf-8")[-1:]
        await go(page, "/skills/comparing-options")  # one of the project's files
        await expect(page.get_by_text("goalwright serve --write", exact=True)).to_be_visible()


@pytest.mark.changes_skills
async def test_a_skill_is_added_and_tried_and_its_tool_trusted(workspace: Path, open_page: OpenPage) -> None:
    tool = workspace / "skills" / "log"
    tool.mkdir(parents=True)
    (tool / "skill.yaml").write_text(
        "name: log_stats\ndescription: Count requests.\nentry: main.py\nruntime: python\n", encoding="utf-8"
    )
    (tool / "main.py").write_text("print('{}')\n", encoding="utf-8")
    async with served(workspace) as server:
        page = await open_page(server.at("/skills"), troubled=True)
        await page.get_by_role("button", name="Add a skill").click()
        dialog = page.get_by_role("dialog", name="Add a skill")
        await dialog.get_by_role("textbox", name=re.compile("^Id")).fill("Release Notes")
        await dialog.get_by_role("textbox", name=re.compile("^Description")).fill("Write release notes for a version.")
        await dialog.get_by_role("button", name="Add").click()
        await expect(dialog.locator(".st-failed")).to_contain_text("release-notes")
        await dialog.get_by_role("textbox", name=re.compile("^Id")).fill("release-notes")
        await dialog.get_by_role("button", name="Add").click()
        await expect(page.get_by_role("heading", name="release-notes")).to_be_visible()
        await go(page, "/skills")
        await page.get_by_role("textbox", name="Try a goal").fill("Write the release notes of version 3")
        row = page.get_by_role("row", name=re.compile("^Files of release-notes "))
        await expect(row.filter(has_text="words of the goal")).to_be_visible()
        await go(page, "/skills/log_stats")
        await expect(page.get_by_role("button", name="Trust…")).to_be_visible()
        (tool / "main.py").write_text("print('{ }')\n", encoding="utf-8")
        await page.get_by_role("button", name="Trust…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Trust it").click()
        await page.get_by_role("button", name="Show the current files").click()
        await page.get_by_role("button", name="Trust…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Trust it").click()
        await expect(page.locator(".side")).to_contain_text("Its programs may run")


async def test_a_request_is_answered_on_the_page_of_approvals(workspace: Path, open_page: OpenPage) -> None:
    plan = {"tasks": [task("send", "Send the report", needs_approval="Send it to everyone?")]}
    async with served(workspace, PageModel(plan)) as server:
        page = await open_page(server.at("/new"))
        soon, read = asyncio.Event(), asyncio.Event()

        async def nothing_yet(route: Route) -> None:
            soon.set()
            await (route.continue_() if read.is_set() else route.fulfill(json=[]))

        async def late(route: Route) -> None:
            """Make the run ask after the number of requests was read and before its page is read."""
            await soon.wait()
            token: dict[str, str] = {"Authorization": f"Bearer {server.token}"}
            asked: list[object] = []
            while not (asked or read.is_set()):
                asked = await (await page.request.get(f"{server.base}/api/approvals", headers=token)).json()
            read.set()
            await route.continue_()

        await page.route("**/api/approvals", nothing_yet)
        await page.route(re.compile(r"/api/runs/[^/?]+$"), late)
        run_id = await run_goal(page)
        await finished(page, "Asks you")
        await page.get_by_role("link", name=re.compile("Approvals.*1 wait for you")).click()
        await expect(page.locator(".page")).to_contain_text("Send it to everyone?")
        await page.get_by_role("button", name="Allow", exact=True).click()
        await expect(page.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
        await go(page, f"/runs/{run_id}")
        await finished(page)
        await go(page, f"/replay?run={run_id}")
        await page.get_by_role("button", name="Check", exact=True).click()
        await expect(page.get_by_role("region", name="What would differ today")).to_contain_text("No drift")
        await page.get_by_role("button", name="Select again").click()
        await expect(page.get_by_role("region", name="Selection")).to_contain_text("The same skills in the same order")
