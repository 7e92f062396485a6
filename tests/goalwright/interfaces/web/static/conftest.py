"""A browser for the tests of the page; a test fails if its page logs an error."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_asyncio
from playwright.async_api import async_playwright, expect

from tests.needs import chromium, need

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from playwright.async_api import Browser, ConsoleMessage, Page

    OpenPage = Callable[..., Awaitable[Page]]

expect.set_options(timeout=60_000)  # machines that tests run on are shared and noisy
# Each browser window loads two pages for its address bar's popup, which takes longer than our page.
# This list replaces Playwright's own, so it repeats the features that matter here.
WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "AimEnabled", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "PreconnectToSearch"),
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "NetworkTimeServiceQuerying", "OptimizationHints"),
)
AXE = Path(str(files("axe_playwright_python") / "axe.min.js"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The system's Chromium, started once."""
    need("chromium")
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=chromium(),
            # One renderer process for all pages: a new one takes a quarter of a page's CPU time.
            args=["--no-sandbox", "--renderer-process-limit=1", f"--disable-features={','.join(WITHOUT)}"],
        )
        yield started
        await started.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """Opens pages; the test fails if one of them logs an error, throws, or shows a dialog of the browser."""
    problems: list[str] = []
    contexts = []

    async def opened(
        address: str,
        *,
        size: tuple[int, int] = (1280, 800),
        theme: str = "light",
        troubled: bool = False,
        axe: bool = False,
    ) -> Page:
        context = await browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        if axe:
            await context.add_init_script(path=AXE)
        page = await context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on("console", lambda said: _note(problems, said, troubled=troubled))
        await page.goto(address)
        return page

    yield opened
    for context in contexts:
        await context.close()
    assert problems == []


def _note(problems: list[str], said: ConsoleMessage, *, troubled: bool) -> None:
    """Whether an error counts: not if the server ended before the page or the test provokes it."""
    if said.type in ("error", "warning") and "net::ERR_" not in said.text and not troubled:
        problems.append(f"{said.text} ({said.location})")
