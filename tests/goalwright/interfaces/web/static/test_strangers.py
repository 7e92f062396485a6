"""Hostile text stays text: in goals, titles, outputs, messages, errors and traces."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from goalwright.evaluation.html_page import page as evaluation_page
from goalwright.evaluation.store import EvaluationFolder
from goalwright.interfaces.web import trace_page as html_page
from goalwright.interfaces.web.app import ROUTES
from goalwright_executor.stores.row import Row
from tests.goalwright.interfaces.web.static.served_page import go, served
from tests.goalwright.interfaces.web.static.test_run_page import finished, run_goal
from tests.goalwright.interfaces.web.static.written_runs import at, write, write_change
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Page

    from tests.goalwright.interfaces.web.static.conftest import OpenPage

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ATTACKS = (
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg onload=window.hit=1>",
    '"><iframe srcdoc="<script>parent.hit=1</script>">',
    "[a](javascript:window.hit=1)",
    "[a](JaVaScRiPt&colon;window.hit=1)",
    "![x](javascript:window.hit=1)",
    "<a href='data:text/html,<script>1</script>'>x</a>",
    "<details open ontoggle=window.hit=1>x</details>",
    "`<style>*{display:none}</style>`<style>*{display:none}</style>",
    "<base href=//evil.example/>",
    "{{constructor.constructor('window.hit=1')()}}",
    "</textarea><input autofocus onfocus=window.hit=1>",
)
TEXT = "\n\n".join(ATTACKS)
LINE = " ".join(ATTACKS)
RUN = "20260101T000000000-badbad"
ASKING = "20260101T000100000-badbad"
LOOK = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    hit: window.hit ?? null,
    active: all('script:not([src^="/"]), iframe, object, embed, base, style, form[action]').length,
    handlers: all('*').flatMap((one) => [...one.attributes]).filter((one) => /^on/i.test(one.name)).length,
    links: all('a[href]').map((one) => one.getAttribute('href')).filter((one) => !/^(\\/|https?:|mailto:|#)/.test(one)),
    images: all('img').length,
  };
}"""
SAFE: dict[str, Any] = {"hit": None, "active": 0, "handlers": 0, "links": [], "images": 0}


def hostile_rows() -> list[Row]:
    """A run with an attack in every text that an attacker can set."""
    task: dict[str, Any] = {"id": "a", "title": LINE, "action_type": "skill", "name": LINE, "instruction": TEXT}
    message: dict[str, Any] = {"role": "user", "content": TEXT, "tool_calls": [], "tool_call_id": None}
    usage = {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": 0}
    reply = {"text": TEXT, "tool_calls": [{"id": "c", "name": LINE, "arguments": TEXT}], "usage": usage, "cost": None}
    envelope = {
        "status": "error", "text": TEXT, "data": {LINE: TEXT}, "error": {"code": LINE, "message": TEXT},
        "context": {"params_input": {LINE: TEXT}},
    }  # fmt: skip
    events: list[tuple[str, dict[str, Any]]] = [
        ("run_started", {"run_id": RUN, "goal": LINE, "workspace": TEXT, "settings": {"model": LINE}, "files": [LINE],
                         "answers": [TEXT], "asked_skills": [LINE], "batch": LINE, "batch_goal": LINE}),
        ("skills_selected", {"detector": "bm25", "available": 1,
                             "selections": [{"name": LINE, "score": 0.5, "reason": TEXT}]}),
        ("warned", {"message": TEXT}),
        ("plan_refused", {"attempt": 1, "faults": [TEXT]}),
        ("plan_made", {"plan": {"tasks": [task, {"id": "b", "title": LINE, "action_type": "llm", "depends_on": ["a"]}]},
                       "attempts": 1}),
        ("plan_changed", {"cause": "replan", "of": None, "added": [], "dropped": [], "rewired": {}, "note": TEXT}),
        ("task_started", {"task": "a"}),
        ("prompt_made", {"role": "task", "task": "a", "variables": {LINE: TEXT}}),
        ("skill_loaded", {"task": "a", "name": LINE, "content": TEXT}),
        ("call_started", {"role": "task", "task": "a", "model": LINE, "messages": [message], "tools": [LINE]}),
        ("call_retried", {"role": "task", "task": "a", "model": LINE, "attempt": 1, "wait": 1, "reason": TEXT}),
        ("call_finished", {"role": "task", "task": "a", "model": LINE, "reply": reply, "seconds": 1}),
        ("tool_called", {"task": "a", "name": LINE, "envelope": envelope}),
        ("task_finished", {"task": "a", "status": "done", "output": TEXT}),
        ("task_finished", {"task": "b", "status": "failed", "error": TEXT}),
        ("run_finished", {"status": "partial", "answer": TEXT, "error": TEXT, "question": TEXT}),
    ]  # fmt: skip
    return [Row(RUN, number, at(number), kind, body) for number, (kind, body) in enumerate(events, 1)]


def hostile_evaluation() -> dict[str, Any]:
    """A report with attacks in the names of cases and variants, checks and evidence."""
    check = {"check": LINE, "passed": False, "evidence": TEXT}
    names = (LINE, f"other {LINE}")
    rows = [
        {"case": LINE, "variant": name, "repeat": 1, "run_id": RUN, "passed": False, "checks": [check]}
        for name in names
    ]
    figures = {"pass_rate": 0.0, "low": 0.0, "high": 1.0, "cost_usd": None, "seconds": None, "calls": None}
    found = {"variant": names[1], "against": names[0], "mean": -1.0, "low": -1.0, "high": -1.0, "verdict": LINE}
    found |= {"better": [], "worse": [LINE], "needed_cases": 0}
    variants = [{"name": name, **figures} for name in names]
    return {"eval_id": RUN, "cases": 1, "variants": variants, "differences": [found], "rows": rows, "judge": None} | {
        "stopped": TEXT,
        "warnings": [TEXT],
    }


def asking_rows() -> list[Row]:
    """A run that waits for an answer to a hostile question."""
    task = {"id": "a", "title": LINE, "action_type": "tool", "name": LINE}
    events: list[tuple[str, dict[str, Any]]] = [
        ("run_started", {"run_id": ASKING, "goal": LINE, "workspace": "/w", "settings": {}, "batch": LINE}),
        ("plan_made", {"plan": {"tasks": [task]}, "attempts": 1}),
        ("task_started", {"task": "a"}),
        ("approval_asked", {"id": "0a", "task": "a", "kind": "tool", "tool": LINE, "arguments": {LINE: TEXT},
                            "preview": TEXT, "asked": at(1)}),
        ("approval_asked", {"id": "0b", "task": "a", "kind": "question", "preview": TEXT, "asked": at(1)}),
        ("run_finished", {"status": "waiting", "error": TEXT, "code": LINE}),
    ]  # fmt: skip
    return [Row(ASKING, number, at(number), kind, body) for number, (kind, body) in enumerate(events, 1)]


async def unharmed(page: Page) -> None:
    assert await page.evaluate(LOOK) == SAFE


async def test_a_hostile_evaluation_is_shown_as_text_here_and_in_one_file(workspace: Path, open_page: OpenPage) -> None:
    EvaluationFolder(workspace, RUN).end(hostile_evaluation())
    async with served(workspace) as server:
        page = await open_page(server.at("/evaluations"))
        await expect(page.get_by_role("main")).to_contain_text("<script>window.hit=1</script>")
        await unharmed(page)
        await go(page, f"/evaluations/{RUN}")
        await expect(page.get_by_role("row", name=re.compile("^<script>")).last).to_contain_text("onerror=window.hit=1")
        await expect(page.locator(".found").first).to_contain_text("Not complete: it was stopped (")
        await expect(page.locator(".found").nth(1)).to_contain_text("Warning: ")
        await unharmed(page)
    file = workspace / "page.html"
    file.write_text(evaluation_page(hostile_evaluation()), encoding="utf-8")
    page = await open_page(file.as_uri())
    await page.locator("summary").first.click()
    await expect(page.locator("li").first).to_contain_text("<script>window.hit=1</script>")
    found = await page.evaluate(LOOK)
    assert found | {"active": 1} == SAFE | {"active": 1}  # its own style
    assert found["active"] == 1


@pytest.mark.changes_skills  # there is nothing to replay in what was written here
async def test_a_hostile_trace_is_shown_as_text_everywhere(workspace: Path, open_page: OpenPage) -> None:
    write(workspace, hostile_rows(), goal=LINE, status="partial")
    write_change(workspace, RUN, "<img src=x onerror=window.hit=1>/a.md", None, TEXT)
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"))
        await expect(page.get_by_role("link", name=LINE[:40])).to_be_visible()
        await unharmed(page)
        for tab in ("answer", "skills", "details", "files"):
            await go(page, f"/runs/{RUN}?tab={tab}")
            await expect(page.locator(".db")).not_to_contain_text("Reading…")
            if tab == "files":
                await expect(page.locator(".db")).to_contain_text("window.hit=1>/")
                await expect(page.locator(".db pre.change").first).to_contain_text("<script>window.hit=1</script>")
            await unharmed(page)
        for tab in ("output", "prompt", "tools", "why", "events"):
            await go(page, f"/runs/{RUN}?task=a&tab={tab}")
            await expect(page.locator(".db")).not_to_contain_text("Reading…")
            folded = page.locator(".db details:not([open]) > summary")
            while await folded.count():
                await folded.first.click()
            if tab not in ("why", "events"):
                await expect(page.locator(".db")).to_contain_text("<script>window.hit=1</script>")
            await unharmed(page)
        await page.get_by_role("button", name="Playback").click()
        await page.get_by_role("button", name="End playback").click()
        await unharmed(page)


@pytest.mark.changes_skills
async def test_hostile_skills_batches_requests_and_comparisons_are_shown_as_text(
    workspace: Path, open_page: OpenPage
) -> None:
    write(workspace, hostile_rows(), goal=LINE, status="partial", batch=LINE)
    write(workspace, asking_rows(), goal=LINE, status="waiting", batch=LINE)
    skill = workspace / ".agents" / "skills" / "evil"
    (skill / "<img src=x onerror=window.hit=1>").mkdir(parents=True)
    (skill / "<img src=x onerror=window.hit=1>" / "a.md").write_text(TEXT, encoding="utf-8")
    (skill / "SKILL.md").write_text(
        f"---\nname: evil\ndescription: {json.dumps(LINE)}\n---\n{TEXT}\n", encoding="utf-8"
    )
    hit = "<script>window.hit=1</script>"
    server_entry = {"command": hit, "args": [TEXT, "${HOME:-" + hit + "}"]}
    entries = {LINE: server_entry, ATTACKS[1]: server_entry}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    async with served(workspace) as server:
        page = await open_page(server.at("/approvals"), troubled=True)
        await expect(page.locator(".page")).to_contain_text(hit)
        await unharmed(page)
        shown = ["/batches", f"/batches/{quote(LINE, safe='')}", "/skills", "/skills/evil", "/runs?batches=all",
                 "/skills/evil?file=%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E%2Fa.md",
                 f"/compare?a={RUN}&b={ASKING}", f"/runs/{ASKING}"]  # fmt: skip
        for path in shown:
            await go(page, path)
            await expect(page.locator("main")).to_contain_text(hit)
            await unharmed(page)
            if path == "/skills":
                await expect(page.get_by_role("region", name="MCP servers")).to_contain_text(
                    "goalwright mcp check --trust"
                )
                await unharmed(page)
        for path in (f"/skills/{quote(LINE, safe='')}", f"/runs/{quote(LINE, safe='')}", f"/{quote(LINE, safe='')}",
                     f"/compare?a={quote(LINE)}&b=x", f"/replay?run={RUN}"):  # fmt: skip
            await go(page, path)
            await unharmed(page)


async def test_a_hostile_goal_is_previewed_and_run_as_text(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/new"))
        await run_goal(page, LINE)
        await finished(page)
        await unharmed(page)
        await go(page, "/plan")
        await page.get_by_role("textbox", name="The plan, in YAML or JSON").fill(
            f"goal: x\ntasks:\n- id: a\n  title: {LINE!r}\n"
        )
        await expect(page.locator(".faults")).to_contain_text("Line")
        await unharmed(page)


async def test_the_policy_blocks_html_injection_and_foreign_scripts(workspace: Path, open_page: OpenPage) -> None:
    async with served(workspace) as server:
        page = await open_page(server.at("/runs"), troubled=True)
        refused = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set' } catch (e) { return e.name } })()"
        assert await page.evaluate(refused) == "TypeError"


EVIL = """async ([base, token, routes]) => {
  const tried = async (path, method, mode, headers) => {
    try {
      const body = method === "DELETE" ? undefined : "{}";
      const reply = await fetch(base + path, { method, mode, headers, body });
      return reply.type === "opaque" ? "opaque" : `read ${reply.status}`;
    } catch { return "refused"; }
  };
  const right = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const found = [];
  for (const [method, path] of routes) {
    found.push(await tried(path, method, "cors", right));
    if (method === "POST") found.push(await tried(path, method, "no-cors", { "content-type": "text/plain" }));
  }
  return [...new Set(found)].sort();
}"""


async def test_requests_of_another_origin_or_a_rebound_host_are_refused(workspace: Path, open_page: OpenPage) -> None:
    routes = [[one.method, "/api" + re.sub(r"\{[^}]*\}", "x", one.path)] for one in ROUTES if one.changes]
    async with served(workspace) as server, served(workspace, read_only=True) as other:
        page = await open_page(f"{other.base}/favicon.svg", troubled=True)  # another port is another origin
        await page.route(
            "**/favicon.svg", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html")
        )
        await page.goto(f"{other.base}/favicon.svg")  # a page without our policy
        before = sorted(path for path in workspace.rglob("*") if "cache" not in path.parts)
        assert await page.evaluate(EVIL, [server.base, server.token, routes]) == ["refused"]
        assert sorted(path for path in workspace.rglob("*") if "cache" not in path.parts) == before
        rebound = server.base.replace("127.0.0.1", "rebound.localhost")
        reply = await page.goto(rebound)
        assert reply is not None
        assert reply.status == 421


async def test_an_exported_run_is_shown_from_a_file_and_stays_text(tmp_path: Path, open_page: OpenPage) -> None:
    (tmp_path / "run.html").write_text(html_page.render([hostile_rows()]), encoding="utf-8")
    page = await open_page((tmp_path / "run.html").as_uri())
    await page.locator(".card").first.click()
    await expect(page.locator(".drawer")).to_contain_text("<script>window.hit=1</script>")
    for tab in ("Prompt", "Tools", "Why", "Events"):
        await page.get_by_role("tab", name=tab).click()
        assert await page.evaluate(LOOK) == SAFE | {"active": 4}  # two styles and two scripts, which it came with
    await page.keyboard.press("p")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("slider", name="Time of the run")).to_be_visible()
    await page.get_by_role("button", name="End playback").click()
    assert await page.locator("a[href^='/']").count() == 0
