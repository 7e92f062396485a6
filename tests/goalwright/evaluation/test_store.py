"""Evaluations on disk: a damaged report is named, not printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.evaluation.store import EvaluationFolder, find
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

VARIANT = {"name": "all", "pass_rate": 1.0, "low": 0.5, "high": 1.0, "cost_usd": None, "seconds": 1.0, "calls": 2.0}
GOOD: dict[str, Any] = {
    "eval_id": "e",
    "cases": 1,
    "variants": [VARIANT],
    "differences": [],
    "rows": [],
    "judge": None,
    "stopped": None,
    "warnings": [],
}


def test_report_round_trip(tmp_path: Path) -> None:
    EvaluationFolder(tmp_path, "e").end(GOOD)
    assert find(tmp_path, "last").report() == GOOD


def test_evaluation_without_files_is_not_the_last_one(tmp_path: Path) -> None:
    EvaluationFolder(tmp_path, "e").end(GOOD)
    EvaluationFolder(tmp_path, "f").path.mkdir()
    assert find(tmp_path, "last").id == "e"
    EvaluationFolder(tmp_path, "g").begin({"sources": "cases.jsonl"})
    assert find(tmp_path, "last").id == "g"


@pytest.mark.parametrize(
    "change",
    [
        {"rows": None},
        {"variants": []},
        {"variants": [VARIANT | {"pass_rate": "NaN"}]},
        {"rows": [{"case": "a"}]},
        {"differences": [[]]},
        {"cases": "many"},
        {"warnings": [1]},
    ],
)
def test_malformed_report_is_damaged(change: dict[str, Any], tmp_path: Path) -> None:
    EvaluationFolder(tmp_path, "e").end(GOOD | change)
    with pytest.raises(InputError, match="is damaged"):
        find(tmp_path, "e").report()
