"""Tests here start the command line, again and again: all but those of `weft run` are left to the whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

DAILY = "test_run_command.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them slow."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name != DAILY:
            item.add_marker(pytest.mark.slow)
