"""A run whose skills are not indexed yet: it selects by names and descriptions, says so once, and records it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.events import SkillsSelected, Warned
from goalwright_skills.selection import pools
from goalwright_skills.selection.index import background
from tests.conftest import add_skill
from tests.goalwright.runs.test_selected_skills import WITH, run
from tests.openai_server import Call, OpenAIServer, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.openai_server import Answer


async def test_unindexed_skills_are_reported_once(
    workspace: Path, serve: Callable[[Callable[[Call], Answer]], OpenAIServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "AT_ONCE", 1)
    monkeypatch.setattr(pools, "FEW", 0)
    monkeypatch.setattr(background, "start", lambda folder, skills: 0)
    add_skill(workspace, "beehives", "---\nname: beehives\ndescription: Harvests honey.\n---\nx")
    serve(scripted(WITH))
    result, record = await run(workspace)
    (selected,) = record.of(SkillsSelected)
    assert "cataloging-apis" in [one.name for one in selected.selections]
    assert selected.unindexed == selected.available
    (told,) = [event.message for event in record.of(Warned) if "not indexed yet" in event.message]
    assert told.startswith(f"{selected.available} of {selected.available} skills are not indexed yet")
    assert told in result.warnings
