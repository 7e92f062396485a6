"""A writer with a store that can be made to fail, and a log of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.log import Log
from goalwright_executor.journal.writer import Writer
from tests.executor.journal.faulty_store import FaultyStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> FaultyStore:
    return FaultyStore(tmp_path / "j.sqlite")


@pytest.fixture
def writer(store: FaultyStore) -> Iterator[Writer]:
    writer = Writer(store)
    yield writer
    writer.close()
    store.close()


@pytest.fixture
def log(writer: Writer) -> Log:
    return Log(writer, "r", Capture())
