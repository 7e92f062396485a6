"""Fixtures for tests of every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.urls import url_of
from tests.executor.stores.runs import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A journal of each kind of store."""
    if request.param == "sqlite":
        made = Place(url_of(tmp_path / "journal.sqlite"))
    else:
        made = Place(request.getfixturevalue("postgres").new_url())
    yield made
    made.close()
