"""Shared fixtures for tests of the page's server."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from goalwright.interfaces.web import app, page_script
from goalwright.interfaces.web.pages import Pages

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def page_read_once() -> Iterator[None]:
    """Bundle the page's modules once instead of 0.1 s for each of hundreds of servers."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page_script, "joined", cache(page_script.joined))
        patched.setattr(app, "Pages", cache(Pages))
        yield
