"""The tests that docs/security.md names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs/security.md").read_text(encoding="utf-8"))


def test_the_table_names_tests() -> None:
    assert len(NAMED) >= 15


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_the_named_tests_exist(file: str, test: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^(?:async )?def {test or 'test_'}", text, re.MULTILINE)
