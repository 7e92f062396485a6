"""The precedence and types of settings, and their faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.settings.resolve import Resolved, resolve
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


def resolved(
    tmp_path: Path,
    *,
    flags: dict[str, Any] | None = None,
    env: dict[str, str] | None = None,
    project: str = "",
    user: str = "",
    trusted: bool = False,
) -> Resolved:
    (tmp_path / "goalwright.toml").write_text(project, encoding="utf-8")
    config = tmp_path / "config.toml"
    config.write_text(user, encoding="utf-8")
    return resolve(flags or {}, env or {}, tmp_path, config, trusted=trusted)


def test_flag_over_environment_over_workspace_over_user(tmp_path: Path) -> None:
    found = resolved(
        tmp_path,
        flags={"max_tasks": 4},
        env={"GOALWRIGHT_MAX_TASKS": "3", "GOALWRIGHT_TIMEOUT": "30"},
        project="max_tasks = 2\ntimeout = 20\nmax_cost = 2",
        user="max_tasks = 1\ntimeout = 10\nmax_cost = 1\ntool_calls = 1",
        trusted=True,
    )
    settings = found.settings
    assert (settings.max_tasks, settings.timeout, settings.max_cost, settings.tool_calls) == (4, 30.0, 2.0, 1)
    assert found.origins["max_tasks"] == "flag"
    assert found.origins["timeout"] == "environment"
    assert found.origins["tool_calls"].endswith("config.toml")


@pytest.mark.parametrize("named", ["runs/own.sqlite", "sqlite:///runs/own.sqlite"])
def test_relative_journal_in_a_file_is_relative_to_the_workspace(tmp_path: Path, named: str) -> None:
    there = f"sqlite:///{tmp_path}/runs/own.sqlite"
    text = f'journal = "{named}"'
    assert resolved(tmp_path, project=text, trusted=True).settings.journal == there
    assert resolved(tmp_path, user=text).settings.journal == there
    assert resolved(tmp_path, project=text).settings.journal is None
    assert resolved(tmp_path, env={"GOALWRIGHT_JOURNAL": named}).settings.journal == named
    assert resolved(tmp_path, project='journal = "x"', flags={"journal": named}, trusted=True).settings.journal == named


def test_each_type_is_parsed_from_text_and_toml(tmp_path: Path) -> None:
    env = {"GOALWRIGHT_FALLBACK": "a, b,", "GOALWRIGHT_STRICT_SKILLS": "Yes", "GOALWRIGHT_MODEL": ""}
    settings = resolved(tmp_path, env=env, project='model = "m"\n[models]\ntask = "t"').settings
    assert (settings.fallback, settings.strict_skills, settings.model, settings.task) == (("a", "b"), True, "m", "t")
    assert resolved(tmp_path, project='fallback = ["x"]\nstrict_skills = false').settings.fallback == ("x",)


def test_every_fault_in_every_source_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        resolved(
            tmp_path,
            env={"GOALWRIGHT_STRICT_SKILLS": "perhaps", "GOALWRIGHT_MAX_COST": "cheap"},
            project="max_task = 3\nfallback = 5\nmodel = 7\nmax_tokens = -1\nnonsense_key = 1\ntool_calls = true",
        )
    for text in (
        "'max_task' is not a setting; did you mean 'max_tasks'?",
        "'fallback' must be a list of strings",
        "'model' must be a string",
        "'max_tokens' must be a whole number above 0",
        "'nonsense_key' is not a setting; settings are",
        "'strict_skills' must be true or false",
        "'max_cost' must be a number above 0",
        "'tool_calls' must be a whole number",
    ):
        assert text in caught.value.message


def test_only_some_limits_may_be_zero(tmp_path: Path) -> None:
    found = resolved(tmp_path, project="max_replans = 0", env={"GOALWRIGHT_MAX_DEPTH": "0"}).settings
    assert (found.max_replans, found.max_depth) == (0, 0)
    with pytest.raises(SetupError) as caught:
        resolved(tmp_path, project="max_replans = -1\nmax_items = 0\nmax_grown = 0")
    for text in (
        "'max_replans' must be a whole number of 0 or more, not -1",
        "'max_items' must be a whole number above 0, not 0",
        "'max_grown' must be a whole number above 0, not 0",
    ):
        assert text in caught.value.message


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "2.5", "1e400"])
def test_fractional_number_is_refused_for_an_integer(tmp_path: Path, number: str) -> None:
    with pytest.raises(SetupError, match="'max_tasks' must be a whole number above 0, not "):
        resolved(tmp_path, project=f"max_tasks = {number}")
    assert resolved(tmp_path, project="max_tasks = 3.0").settings.max_tasks == 3


def test_invalid_toml_is_reported_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"goalwright\.toml cannot be read: "):
        resolved(tmp_path, project="model = ")


def test_guarded_settings_need_a_trusted_workspace(tmp_path: Path) -> None:
    project = 'api_base = "http://elsewhere"\nunsafe_tools = true\nmodel = "m"'
    found = resolved(tmp_path, project=project)
    assert (found.settings.api_base, found.settings.unsafe_tools, found.settings.model) == (None, False, "m")
    assert len(found.warnings) == 2
    trusted = resolved(tmp_path, project=project, trusted=True)
    assert trusted.settings.api_base == "http://elsewhere"
    assert trusted.warnings == ()
    assert resolved(tmp_path, user='api_base = "http://mine"').settings.api_base == "http://mine"


def test_misspelt_variable_is_warned_about(tmp_path: Path) -> None:
    env = {
        "GOALWRIGHT_MODLE": "x",
        "GOALWRIGHT_MODELS_DIR": "/m",
        "GOALWRIGHT_TOOL": "a_b",
        "GOALWRIGHT_VENV": "v",
        "GOALWRIGHT_MODEL": "openai/x",
    }
    assert resolved(tmp_path, env=env).warnings == (
        "GOALWRIGHT_MODLE is ignored: it is not a setting; did you mean GOALWRIGHT_MODEL?",
    )


def test_the_lists_of_skills_of_both_files_count_and_a_variable_replaces_them(tmp_path: Path) -> None:
    user = '[skills]\npin = ["a", "b"]\nrequire = ["r"]'
    project = '[skills]\npin = ["b", "c"]\noff = "x, y"'
    settings = resolved(tmp_path, user=user, project=project).settings
    assert (settings.skills_pin, settings.skills_require, settings.skills_off) == (("a", "b", "c"), ("r",), ("x", "y"))
    env = {"GOALWRIGHT_SKILLS_PIN": "z", "GOALWRIGHT_SKILLS_REQUIRE": ","}
    settings = resolved(tmp_path, user=user, project=project, env=env).settings
    assert (settings.skills_pin, settings.skills_require) == (("z",), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("pins = []", "unknown setting 'pins' in [skills]; did you mean 'pin'?"),
        ("skills_pin = []", "unknown setting 'skills_pin' in [skills]; did you mean 'pin'?"),
        ("zzz = []", "unknown setting 'zzz' in [skills]; its settings are: pin, require, manual, off"),
        ("pin = [1]", "goalwright.toml: [skills] pin must be a list of strings"),
        (f"off = {[f'x{n}' for n in range(1_001)]}", "[skills] off has 1,001 names, more than 1,000"),
    ],
)
def test_invalid_list_of_skills_is_a_fault(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(SetupError, match=r"goalwright\.toml") as caught:
        resolved(tmp_path, project=f"[skills]\n{text}")
    assert fault in caught.value.message


def test_duplicate_list_of_skills_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        resolved(tmp_path, project='skills_pin = ["a"]\n[skills]\npin = ["b"]\noff = ["c"]')
    assert "'skills_pin' and [skills] pin are one setting; keep the one in [skills]" in caught.value.message
