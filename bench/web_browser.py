"""Measurements of the page in a real browser."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness.machine import ROOT
from bench.harness.result import Aim
from bench.web_runs import CHANGES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

BIG, LIVE = "20260101T000000000-b16b16", "20260101T000100000-11fe11"
FRAMES = """(seconds) => new Promise((done) => {
  let count = 0;
  const began = performance.now();
  const frame = () => {
    count++;
    if (performance.now() - began < seconds * 1000) requestAnimationFrame(frame);
    else done(count / seconds);
  };
  requestAnimationFrame(frame);
})"""
LAYOUT = """async () => {
  const { layout } = await import("/graph/layout.js");
  const boxes = [];
  for (let layer = 0; layer < 20; layer++) for (let number = 0; number < 100; number++) {
    const deps = layer ? [1, 7, 31].map((by) => `${layer - 1} ${(number * by) % 100}`) : [];
    boxes.push({ id: `${layer} ${number}`, w: 180, h: 52, deps });
  }
  const times = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    layout(boxes, { shape: 1.6 });
    times.push(performance.now() - began);
  }
  return Math.min(...times) / 1000;
}"""
SEEN = """() => {
  window.seen = [];
  new MutationObserver(() => {
    const done = Number(document.querySelector(".facts .fact b")?.textContent);
    if (done && done !== window.seen.at(-1)?.[0]) window.seen.push([done, Date.now()]);
  }).observe(document.querySelector(".facts"), { subtree: true, childList: true, characterData: true });
}"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass
class Figures:
    """Collected figures, with and without a bound."""

    aims: list[Aim] = field(default_factory=list)
    rows: dict[str, float] = field(default_factory=dict)

    def aim(self, name: str, value: float, bound: float, *, least: bool = False, count: bool = False) -> None:
        """Add a figure with a bound."""
        self.aims.append(Aim(name, value, bound, at_most=not least, is_count=count))
        self.rows[name] = value

    def note(self, name: str, value: float) -> None:
        """Add a figure without a bound."""
        self.rows[name] = value


@dataclass(frozen=True, slots=True)
class Serving:
    """A running `goalwright serve`."""

    process: subprocess.Popen[str]
    base: str
    token: str

    def ask(self, path: str) -> Any:
        """Return the JSON of a route."""
        with self.open(path) as reply:
            return json.loads(reply.read())

    def open(self, path: str) -> Any:
        """Open the response of a route."""
        headers = {"authorization": f"Bearer {self.token}"}
        return urllib.request.urlopen(urllib.request.Request(f"{self.base}/api{path}", headers=headers))  # noqa: S310

    def used(self) -> tuple[float, int]:
        """Return CPU seconds and bytes of memory."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * 4096


@contextmanager
def serving(workspace: Path) -> Iterator[Serving]:
    """Run `goalwright serve`."""
    command = [sys.executable, "-m", "goalwright", "serve", "--no-open", "--port", "0", "--workspace", str(workspace)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=env) as process:
        assert process.stdout is not None
        try:
            line = next(line for line in process.stdout if "#token=" in line)
            base, _, token = line.strip().partition("/#token=")
            yield Serving(process, base, token)
        finally:
            process.terminate()


def chromium() -> str | None:
    """Return the system's browser, if playwright is installed too."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((path for name in names if (path := shutil.which(name))), None)
    return path if find_spec("playwright") is not None else None


@asynccontextmanager
async def browsing(path: str) -> AsyncIterator[Any]:
    """Launch a browser with software rendering."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        await browser.close()


async def opened(browser: Any, server: Serving, path: str) -> Any:
    """Open a page and wait until it is usable."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    await page.goto(f"{server.base}{path}#token={server.token}")
    await page.locator(".facts, .list, .empty").first.wait_for()
    return page


async def measure_start(figures: Figures, browser_path: str, workspace: Path) -> None:
    """Measure the time from the command to a usable page, then to a run."""
    async with browsing(browser_path) as browser:
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        page = await context.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        began = time.perf_counter()
        with serving(workspace) as server:
            await page.goto(f"{server.base}/runs#token={server.token}")
            await page.locator(".list").first.wait_for()
            figures.aim("page usable after `goalwright serve`, s", time.perf_counter() - began, 2)
            figures.note("  CPU time of the server, s", server.used()[0])
            figures.aim("requests until then", len(requests), 12, count=True)
            began = time.perf_counter()
            await page.get_by_role("link", name="14 tasks").first.click()
            await page.locator(".card").first.wait_for()
            figures.aim("a run of 14 tasks painted, s", time.perf_counter() - began, 0.5)


async def measure_big(figures: Figures, browser: Any, server: Serving, seconds: float) -> None:
    """Measure a run of 2,000 tasks: layout, first paint, elements, panning."""
    page = await opened(browser, server, "/runs")
    figures.note("frames/s of an idle page", await page.evaluate(FRAMES, seconds))
    await page.context.close()
    page = await opened(browser, server, f"/runs/{BIG}?task=-&view=graph")
    await page.locator(".legend").wait_for()
    figures.aim("2,000 tasks: layout, best of five, s", await page.evaluate(LAYOUT), 0.3)
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    began = time.perf_counter()
    await page.reload()
    await page.locator(".legend").wait_for()
    await page.evaluate(PAINTED)
    figures.aim("2,000 tasks: painted after a reload, s", time.perf_counter() - began, 1.5)
    metrics = {one["name"]: one["value"] for one in (await session.send("Performance.getMetrics"))["metrics"]}
    figures.note("  CPU time of the page, s", metrics["TaskDuration"])
    figures.aim("2,000 tasks: elements", await page.locator("*").count(), 1000, count=True)
    box = await page.locator(".stage").bounding_box()
    for what, keys in (("far", 0), ("near", 8)):
        for _ in range(keys):
            await page.keyboard.press("+")
        counting = asyncio.ensure_future(page.evaluate(FRAMES, seconds))
        until = time.perf_counter() + seconds
        await page.mouse.move(box["x"] + 600, box["y"] + 300)
        await page.mouse.down()
        step = 0
        while time.perf_counter() < until:
            step += 1
            await page.mouse.move(box["x"] + 600 - step % 80 * 4, box["y"] + 300 - step % 50 * 3)
        await page.mouse.up()
        figures.aim(f"2,000 tasks: panning, {what}, frames/s", await counting, 30, least=True)
    await page.context.close()


async def measure_live(
    figures: Figures, browser: Any, server: Serving, journal: Path, shape: tuple[int, int, float], bound: int
) -> None:
    """Measure a live run with 100 changes per second: frame rate, delay, lost events, stopping."""
    layers, width, seconds = shape
    tasks = layers * width
    run = f"{LIVE}{tasks}"
    command = [sys.executable, "-m", "bench.web_runs", str(journal), run, str(layers), str(width), str(seconds)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as writer:  # noqa: ASYNC220 - it starts at once
        assert writer.stdin is not None
        assert writer.stdout is not None
        await asyncio.to_thread(writer.stdout.readline)
        page = await opened(browser, server, f"/runs/{run}?task=-&view=graph")
        await page.locator(".legend").wait_for()
        await page.evaluate(SEEN)
        writer.stdin.write("go\n")
        writer.stdin.flush()
        await asyncio.sleep(0.5)
        rate = await page.evaluate(FRAMES, seconds - 1.5)
        said = json.loads(await asyncio.to_thread(writer.stdout.readline))
        await asyncio.sleep(1)
        figures.aim(f"{CHANGES} changes a second, {tasks:,} tasks, frames/s", rate, bound, least=True)
        late = _late(dict(said["written"]), await page.evaluate("window.seen"))
        if len(late) > 10:
            figures.aim(
                f"delay of an event of another process, {tasks:,} tasks, 95th percentile, ms",
                statistics.quantiles(late, n=20)[-1],
                200,
            )
        lost = said["last"] - server.ask(f"/runs/{run}")["last_seq"]
        figures.aim(f"lost events, {tasks:,} tasks", lost, 0, count=True)
        writer.stdin.write("stop\n")
        writer.stdin.flush()
        began = time.time()
        await page.get_by_role("button", name="Stop").click()
        heard = await asyncio.to_thread(writer.stdout.readline)
        figures.aim(
            f"a stop request reaches another process, {tasks:,} tasks, s", float(heard or began + 20) - began, 2
        )
        await page.context.close()


def _late(at: dict[int, float], seen: list[tuple[int, float]]) -> list[float]:
    """Return how late, in milliseconds, each number of finished tasks was shown."""
    first: dict[int, float] = {}
    for done, when in seen:
        if first and done < max(first):  # tasks restart from here
            break
        first[done] = when
    return [when - at[done] for done, when in first.items() if done in at]
