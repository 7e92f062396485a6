"""What `from weft import …` gives, and how it says that something was given wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import weft
from weft import Settings, Weft, WeftError, run_goal

if TYPE_CHECKING:
    from pathlib import Path


def test_the_public_names_are_these_and_each_is_there() -> None:
    assert weft.__all__ == ["Goal", "Result", "Settings", "Weft", "WeftError", "run_goal"]
    assert all(getattr(weft, name).__name__ == name for name in weft.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Wefts'"):
        _ = weft.Wefts


def test_a_runtime_takes_settings_as_a_mapping_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_MAX_TASKS", "7")
    (tmp_path / "weft.toml").write_text('model = "openai/file"\n')
    found = Weft(tmp_path, {"model": "openai/x"}).settings
    assert (found.model, found.max_tasks) == ("openai/x", 7)
    assert Weft(tmp_path).settings.model == "openai/file"
    assert Weft(tmp_path, Settings(model="m")).settings == Settings(model="m")


@pytest.mark.parametrize("given", [{"modle": "x"}, {"max_tokens": -1}, {"max_tokens": -1, "modle": "x"}])
async def test_a_wrong_setting_is_told_in_a_programs_words(tmp_path: Path, given: dict[str, object]) -> None:
    with pytest.raises(WeftError) as made:
        Weft(tmp_path, given)
    with pytest.raises(WeftError) as ran:
        await run_goal("g", workspace=tmp_path, settings=given, model="openai/x")
    for error in (made.value, ran.value):
        said = f"{error.message} {error.hint}"
        assert all(repr(name) in error.message for name in given)
        assert "flag" not in said
        assert "--" not in said


def test_wrong_settings_and_wrong_files_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "weft.toml").write_text("max_tasks = 0\n")
    with pytest.raises(WeftError, match=r"weft.toml: 'max_tasks' must be .*; 'max_tokens' must be") as caught:
        Weft(tmp_path, {"max_tokens": -1})
    assert "flag" not in caught.value.message
