"""Measurements of the page over a slow connection and with a very long text."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.web_browser import Figures, Serving

# A poor mobile connection: latency in milliseconds, and bytes per second.
LATENCY, RATE = 400, 50_000
TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
  }).observe({ type: "longtask" }); // from now on; the start of the page is measured elsewhere
}"""
MARK = "goalwright-long-text"
PIECES = (
    "## Part {n}\n\nA paragraph with **bold**, `code`, a [link](https://example.com/{n}) and _some_ more words, "
    "{n} times over.\n\n"
    "| name | value |\n|:---|---:|\n| first | {n} |\n| second | 2 |\n\n- one\n- two\n  - deeper\n\n"
    "```python\nfor x in range({n}):\n    print('hello')  # greets\n```\n\n"
)


def long_text(size: int = 1_000_000) -> str:
    """Return `size` characters of Markdown with every kind of element."""
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(PIECES.format(n=len(parts)))
        length += len(parts[-1])
    return "".join(parts)


async def measure_slow_line(figures: Figures, browser: Any, server: Serving, run: str) -> None:
    """Measure a first visit over a slow connection: time to the frame and to the run, and bytes."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    line = {"offline": False, "latency": LATENCY, "downloadThroughput": RATE, "uploadThroughput": RATE}
    await session.send("Network.emulateNetworkConditions", line)
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    began = time.perf_counter()
    await page.goto(f"{server.base}/runs/{run}#token={server.token}", wait_until="commit")
    await page.locator(".rail .link").first.wait_for()
    figures.aim("slow line: the frame, s", time.perf_counter() - began, 2)
    await page.locator(".card").first.wait_for()
    figures.aim("slow line: the run, s", time.perf_counter() - began, 5)
    figures.note("  bytes until then, kB", sum(received) / 1000)
    began = time.perf_counter()
    await page.reload(wait_until="commit")
    await page.locator(".card").first.wait_for()
    figures.note("slow line: the run after a reload, s", time.perf_counter() - began)
    await context.close()


async def measure_long_text(figures: Figures, browser: Any, server: Serving, run: str) -> None:
    """Measure a run whose answer is 1 MB of Markdown: first paint and longest block."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    await page.goto(f"{server.base}/runs#token={server.token}")
    await page.locator(".list").first.wait_for()
    await page.evaluate(TASKS)
    await browser.start_tracing(page=page, categories=["toplevel", "blink.user_timing"])
    await page.evaluate(f"performance.mark({MARK!r})")
    began = time.perf_counter()
    step = "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
    await page.evaluate(step, f"/runs/{run}")
    await page.locator(".drawer .md h4").first.wait_for()
    figures.note("1 MB of Markdown: first paint, s", time.perf_counter() - began)
    box = await page.locator(".drawer .db").bounding_box()
    await page.mouse.move(box["x"] + 50, box["y"] + 100)
    for _ in range(20):
        await page.mouse.wheel(0, 2000)
        await asyncio.sleep(0.05)
    end = "document.querySelector('.drawer .db').scrollTop = 1e9"
    while not await page.locator(".md h4", has_text="The end").count():
        await page.evaluate(end)
        await asyncio.sleep(0.05)
    longest = await page.evaluate("window.longest")
    figures.aim("1 MB of Markdown: longest block of the page, ms", longest, 100)
    traced = json.loads(await browser.stop_tracing())["traceEvents"]
    figures.note("  longest task, CPU ms", longest_task(traced))
    await context.close()


def longest_task(events: list[dict[str, Any]]) -> float:
    """Return the most CPU milliseconds of a task after the mark, on the thread that set it."""
    mark = next(event for event in events if event["name"] == MARK)
    place, since = (mark["pid"], mark["tid"]), mark["ts"]
    tasks = [event for event in events if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) == place]
    return max(float(event.get("tdur", 0)) for event in tasks if event["ts"] > since) / 1000
