"""A workspace served to a real browser, with a model that tests can pause."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from playwright.async_api import expect

from goalwright.interfaces.web.serve import WebServer, bind
from goalwright.interfaces.web.site import Site
from goalwright_planner.model import Reply, Request, ToolCall, Usage
from tests.fakes import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from playwright.async_api import Page

    from goalwright.models.local.downloads.pull import PullOptions

GOAL = "Compare two caches for the API and recommend one"
SKILL = "comparing-options"
SKILL_TEXT = f"""---
name: {SKILL}
description: Compare options against needs and recommend one, with evidence.
---
# Comparing options

Give the evidence first. Focus on: $ARGUMENTS
"""
REDIS = """## Redis

Fits **all** needs.

| measure | value |
|---|---|
| p99 read | 0.7 ms |

- `allkeys-lfu` fits the long tail
"""


def task(task_id: str, title: str, needs: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A task of a plan."""
    return {"id": task_id, "title": title, "action_type": "llm", "instruction": title, "depends_on": list(needs)} | more


PLAN: dict[str, Any] = {
    "tasks": [
        task("needs", "Gather the needs"),
        task("redis", "Profile Redis", ("needs",), action_type="skill", name=SKILL),
        task("local", "Profile a local cache", ("needs",)),
        task("recommend", "Recommend one", ("redis", "local")),
    ],
    "synthesis": "The recommendation first.",
}


class PageModel(ScriptedModel):
    """A model that answers at once unless paused; the tasks in `failing` fail."""

    def __init__(self, plan: dict[str, Any] | None = None) -> None:
        super().__init__(self._answer)
        self.plan = plan or PLAN
        self.held: set[str] = set()
        self.failing: dict[str, Exception] = {}
        self.outputs: dict[str, str] = {"redis": REDIS}
        self.answer = "Take **Redis**."

    async def complete(self, request: Request) -> Reply:
        while (request.task or request.role) in self.held:  # noqa: ASYNC110 - tests release it by hand
            await asyncio.sleep(0.01)
        return await super().complete(request)

    def _answer(self, request: Request) -> Reply | Exception:
        usage = Usage(1, 120, 30)
        if request.role == "decomposer":
            return Reply(json.dumps(self.plan), usage=usage, cost=0.01)
        if request.role == "synthesis":
            return Reply(self.answer, usage=usage, cost=0.01)
        name = request.task or ""
        if name in self.failing:
            return self.failing[name]
        if name == "needs" and request.messages[-1].role != "tool":
            call = ToolCall("c1", "ReadFile", json.dumps({"path": "notes.md"}))
            return Reply("", (call,), usage=usage, cost=0.01, finish="tool_calls")
        return Reply(self.outputs.get(name, f"{name} is done"), usage=usage, cost=0.01)


class Served:
    """The address and token of a running server."""

    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.base, _, self.token = server.address.partition("/#token=")

    def at(self, path: str) -> str:
        """The address of a view, with the token."""
        return f"{self.base}{path}#token={self.token}"


@asynccontextmanager
async def served(
    workspace: Path,
    model: PageModel | None = None,
    *,
    read_only: bool = False,
    port: int = 0,
    pulls: PullOptions | None = None,
    **settings: Any,
) -> AsyncIterator[Served]:
    """Serve a workspace with the skill and the file of the plan."""
    if not (workspace / ".agents" / "skills" / SKILL).exists():  # those that brought skills of their own keep them
        prepare(workspace)
    site = page_site(workspace, model or PageModel(), read_only=read_only, pulls=pulls, **settings)
    server = WebServer(site, bind("127.0.0.1", port, allow_remote=False), lambda: None)
    task = asyncio.ensure_future(server.run_to_end())
    try:
        yield Served(server)
    finally:
        server.end()
        await task


def page_site(
    workspace: Path,
    model: PageModel,
    *,
    read_only: bool = False,
    pulls: PullOptions | None = None,
    **settings: Any,
) -> Site:
    return Site(
        workspace,
        {"model": "scripted", "allow_unknown_cost": True} | settings,
        read_only=read_only,
        open_model=lambda _: model,
        pulls=pulls,
    )


def prepare(workspace: Path) -> None:
    folder = workspace / "skills" / SKILL
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(SKILL_TEXT, encoding="utf-8")
    (workspace / "notes.md").write_text("1,840 requests a second", encoding="utf-8")


async def go(page: Page, path: str) -> None:
    """Go to a view without reloading the page, as a link does."""
    step = "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
    await page.evaluate(step, path)
    await page.locator("main h1").wait_for()
    await expect(page.locator(".loading")).to_have_count(0)


def run_id_of(address: str) -> str:
    """The run that a page shows."""
    found = re.search(r"/runs/([^/?#]+)", address)
    assert found, address
    return found[1]


async def eventually(look: Callable[[], Any], seconds: float = 20) -> None:
    """Wait for a condition that no element on the page shows."""
    async with asyncio.timeout(seconds):
        while not look():  # noqa: ASYNC110 - nothing tells when
            await asyncio.sleep(0.05)
