"""Goals as programs give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright import Goal, Goalwright, InputError

if TYPE_CHECKING:
    from pathlib import Path


def test_lists_and_string_paths_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("notes")
    goal = Goal("Sum up", skills=["one"], files=[str(tmp_path / "notes.md")], answers=["yes"])  # type: ignore[arg-type]
    assert (goal.skills, goal.files, goal.answers) == (("one",), (tmp_path / "notes.md",), ("yes",))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"skills": "code-review"}, "skills='code-review' must be a list"),
        ({"files": "notes.md"}, "files='notes.md' must be a list"),
        ({"answers": "yes"}, "answers='yes' must be a list"),
    ],
)
def test_a_string_in_place_of_a_list_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        Goal("Sum up", **given)
    assert raised.value.hint.startswith("write ")


@pytest.mark.parametrize("goal", [None, 7, b"Sum up"])
async def test_a_goal_must_be_a_string(workspace: Path, goal: Any) -> None:
    async with Goalwright(workspace, {"model": "openai/test-model"}) as goalwright:
        with pytest.raises(InputError, match="the goal is not a string"):
            await goalwright.run(goal)
