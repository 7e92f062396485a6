"""docs/events.md has every recorded event with its fields."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from goalwright_planner import events

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")
# Values inside events, and events that are not recorded.
OTHERS = {
    "ConversationTurn", "EarlierOutput", "EarlierRun", "EarlierTurn", "TurnResult", "SkillPrint", "FilePart", "Event",
    "Recorded", "RecipeUse", "TextStreamed", "CallProgressed", "ToolOutput", "ToolReported",
}  # fmt: skip
RECORDED = [
    kind
    for name, kind in vars(events).items()
    if isinstance(kind, type) and kind.__module__.startswith("goalwright_planner.events.") and name not in OTHERS
]


def row_of(kind: type) -> str:
    """Return the table row of an event."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    return next((line for line in PAGE.splitlines() if re.match(rf"\| [`\w, ]*`{name}`", line)), "")


@pytest.mark.parametrize("kind", RECORDED, ids=lambda kind: str(kind.__name__))
def test_every_event_is_documented_with_its_fields(kind: type) -> None:
    row = row_of(kind)

    assert row
    assert [name for name in kind.__annotations__ if name != "run_id" and f"`{name}`" not in row] == []
