"""The page of `weft serve` in a real browser: what people wait for, with 2,000 tasks and 100,000 runs.

    pip install playwright            # and the system's Chromium; without it only the server is measured, and said so
    python -m bench.web [--runs 100000] [--seconds 5]

`weft serve` is a process of its own, and so is every run that the page follows: a writer that appends events to the
journal. Frames are counted by the page itself, with software rendering; the first row says how many frames an empty
page gets on this machine at this moment, and rates are to be read against it. Exits 1 if a bound is exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.web_runs import CHANGES, layered, write_ended, write_many
from executor.stores.sqlite.store import SqliteStore
from weft.web.pages import _FOLDER as STATIC

if TYPE_CHECKING:
    from collections.abc import Iterator

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

failures: list[str] = []


def row(what: str, found: float, bound: float, unit: str, *, least: bool = False) -> None:
    """Print a figure beside its bound."""
    held = found >= bound if least else found <= bound
    sign = "≥" if least else "≤"
    print(f"{what:<62} {found:>9.2f} {unit:<9} {sign} {bound:g}{'' if held else '   EXCEEDED'}", flush=True)
    if not held:
        failures.append(what)


@contextmanager
def serving(workspace: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`weft serve` in a process of its own: its address and its token."""
    command = [sys.executable, "-m", "weft", "serve", "--no-open", "--port", "0", "--workspace", str(workspace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            line = next(line for line in process.stdout if "#token=" in line)
            base, _, token = line.strip().partition("/#token=")
            yield process, base, token
        finally:
            process.terminate()


def asked(base: str, token: str, path: str) -> Any:
    headers = {"authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(f"{base}/api{path}", headers=headers)) as reply:  # noqa: S310
        return json.loads(reply.read())


def measure_lists(base: str, token: str, count: int) -> None:
    def best(path: str) -> float:
        times = []
        for _ in range(7):
            began = time.perf_counter()
            asked(base, token, path)
            times.append(time.perf_counter() - began)
        return min(times) * 1000

    row(f"GET /runs of {count:,}", best("/runs?most=100"), 50, "ms")
    row(f"GET /runs of {count:,}, by words and status", best("/runs?q=team+976&status=failed&most=100"), 250, "ms")


def measure_rest(process: subprocess.Popen[str], base: str, token: str, seconds: float) -> None:
    """Ten open streams and nothing that happens: the server's share of a core, and whether its memory grows."""
    headers = {"authorization": f"Bearer {token}"}
    streams = [
        urllib.request.urlopen(urllib.request.Request(f"{base}/api/events", headers=headers))  # noqa: S310
        for _ in range(10)
    ]

    def used() -> tuple[float, int]:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * 4096

    time.sleep(1)
    before = used()
    time.sleep(seconds)
    after = used()
    for stream in streams:
        stream.close()
    row("server at rest, 10 streams", (after[0] - before[0]) / seconds * 100, 2, "% of core")
    row("memory that it gained meanwhile", (after[1] - before[1]) / 1e6, 2, "MB")


async def opened(browser: Any, base: str, token: str, path: str) -> tuple[Any, float]:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    began = time.perf_counter()
    await page.goto(f"{base}{path}#token={token}")
    await page.locator(".facts, .list, .empty").first.wait_for()
    return page, time.perf_counter() - began


async def measure_big(browser: Any, base: str, token: str, seconds: float) -> None:
    page, _ = await opened(browser, base, token, "/runs")
    row("frames of a page at rest, for comparison", await page.evaluate(FRAMES, seconds), 0, "frames/s", least=True)
    await page.context.close()
    page, _ = await opened(browser, base, token, f"/runs/{BIG}?task=-&view=graph")
    await page.locator(".legend").wait_for()
    layout = await page.evaluate(LAYOUT)
    elements = await page.locator("*").count()
    row("2,000 tasks: layout, best of five", layout, 0.3, "s")
    began = time.perf_counter()
    await page.reload()
    await page.locator(".legend").wait_for()
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    row("2,000 tasks: painted after a reload", time.perf_counter() - began, 1.5, "s")
    row("2,000 tasks: elements", elements, 1000, "")
    stage = page.locator(".stage")
    box = await stage.bounding_box()
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
        row(f"2,000 tasks: panning, {what}", await counting, 30, "frames/s", least=True)
    await page.context.close()


async def measure_live(browser: Any, base: str, token: str, journal: Path, shape: tuple[int, int], bound: int) -> None:
    """Another process finishes 100 tasks a second: frames, how late the page is, what it missed, how it is stopped."""
    tasks, seconds = shape[0] * shape[1], 6.0
    run = f"{LIVE}{tasks}"
    arguments = [str(journal), run, str(shape[0]), str(shape[1]), str(seconds)]
    command = [sys.executable, "-m", "bench.web_runs", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as writer:  # noqa: ASYNC220 - it starts at once
        assert writer.stdin is not None
        assert writer.stdout is not None
        await asyncio.to_thread(writer.stdout.readline)
        page, _ = await opened(browser, base, token, f"/runs/{run}?task=-&view=graph")
        await page.locator(".legend").wait_for()
        await page.evaluate(SEEN)
        writer.stdin.write("go\n")
        writer.stdin.flush()
        await asyncio.sleep(0.5)
        rate = await page.evaluate(FRAMES, seconds - 1.5)
        said = json.loads(await asyncio.to_thread(writer.stdout.readline))
        await asyncio.sleep(1)
        row(f"{CHANGES} changes a second, {tasks:,} tasks", rate, bound, "frames/s", least=True)
        at = dict(said["written"])
        first: dict[int, float] = {}
        for done, when in await page.evaluate("window.seen"):
            if first and done < max(first):  # from here on, tasks begin again
                break
            first[done] = when
        late = [when - at[done] for done, when in first.items() if done in at]
        if len(late) > 10:
            row("an event of another process on the page, 95 %", statistics.quantiles(late, n=20)[-1], 200, "ms")
        shown = asked(base, token, f"/runs/{run}")["last_seq"]
        row("events that were lost", said["last"] - shown, 0, "")
        writer.stdin.write("stop\n")
        writer.stdin.flush()
        began = time.time()
        await page.get_by_role("button", name="Stop").click()
        heard = await asyncio.to_thread(writer.stdout.readline)
        row("a wish to stop reaches another process", float(heard or began + 20) - began, 2, "s")
        await page.context.close()


async def in_browser(browser_path: str, base: str, token: str, journal: Path, seconds: float) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        await measure_big(browser, base, token, seconds)
        for shape, bound in (((20, 100), 50), ((5, 8), 30)):
            await measure_live(browser, base, token, journal, shape, bound)
        await browser.close()


async def measure_start(browser_path: str, workspace: Path) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        began = time.perf_counter()
        with serving(workspace) as (_, base, token):
            page, _ = await opened(browser, base, token, "/runs")
            row("page usable after `weft serve`", time.perf_counter() - began, 2, "s")
            began = time.perf_counter()
            await page.get_by_role("link", name="14 tasks").first.click()
            await page.locator(".card").first.wait_for()
            row("a run of 14 tasks painted", time.perf_counter() - began, 0.5, "s")
        await browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the page of weft serve.")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    browser = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    size = sum(len(zlib.compress(path.read_bytes())) for path in STATIC.rglob("*") if path.is_file())
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; rates need a quiet one")
    row("static files in the wheel, compressed", size / 1000, 250, "kB")
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        journal = workspace / ".agents" / "journal.sqlite"
        journal.parent.mkdir()
        store = SqliteStore(journal)
        write_ended(store, "20260101T000000000-f0f0f0", layered(7, 2))
        if browser is None:
            print("no Chromium: what the page itself needs is not measured")
        else:
            asyncio.run(measure_start(browser, workspace))
        write_ended(store, BIG, layered(20, 100))
        write_many(store, given.runs)
        store.close()
        with serving(workspace) as (process, base, token):
            measure_lists(base, token, given.runs)
            measure_rest(process, base, token, given.seconds * 2)
            if browser is not None:
                asyncio.run(in_browser(browser, base, token, journal, given.seconds))
    print("memory over an hour, axe and console errors: see the tests; a killed server: tests/weft/web")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
