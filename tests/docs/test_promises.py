"""The tests that docs/costs.md names exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROWS = [
    line
    for line in (ROOT / "docs" / "costs.md")
    .read_text(encoding="utf-8")
    .partition("## What is promised")[2]
    .splitlines()
    if line.startswith("| ") and "tested by" not in line
]


@pytest.mark.parametrize("row", ROWS, ids=[row.split("|")[1].strip() for row in ROWS])
def test_the_named_tests_exist(row: str) -> None:
    named = NAMED.findall(row)
    assert named
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in tests, f"{path} has no {name}"


def test_the_table_has_promises() -> None:
    assert len(ROWS) > 10
