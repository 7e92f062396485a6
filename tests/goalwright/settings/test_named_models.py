from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.choice import ModelChoice
from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import Resolved, resolve
from goalwright.settings.settings import InvalidSettings, Settings
from goalwright.settings.untrusted import check_recorded
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


def resolved(folder: Path, text: str = "", user: str = "", **more: Any) -> Resolved:
    (folder / "goalwright.toml").write_text(text)
    (folder / "config.toml").write_text(user)
    flags, env = more.get("flags", {}), more.get("env", {})
    return resolve(flags, env, folder, folder / "config.toml", trusted=more.get("trusted", True))


def test_other_keys_of_models_are_named_models(tmp_path: Path) -> None:
    text = '[models]\ndecomposer = "p"\nchecker = "c"\ndetector = "d"\nfast = "openai/quick"\nstrong = "openai/o3"\n'
    found = resolved(tmp_path, text).settings
    assert found.models == {"fast": "openai/quick", "strong": "openai/o3"}
    assert (found.decomposer, found.checker, found.detector_model) == ("p", "c", "d")
    assert found.model_called("fast") == "openai/quick"
    assert records.plain(found)["models"] == found.models
    assert records.settings_of(records.plain(found), Settings(), {}) == found


def test_names_of_the_user_and_of_the_workspace_add_up(tmp_path: Path) -> None:
    found = resolved(tmp_path, '[models]\nfast = "w"\n', '[models]\nfast = "u"\nstrong = "u"\n')
    assert found.settings.models == {"fast": "w", "strong": "u"}
    given = resolved(tmp_path, env={"GOALWRIGHT_MODELS": "fast=openai/quick, strong=openai/o3"})
    assert given.settings.models == {"fast": "openai/quick", "strong": "openai/o3"}
    passed = resolved(tmp_path, '[models]\nfast = "w"\n', flags={"models": {"tiny": "x"}})
    assert passed.settings.models == {"fast": "w", "tiny": "x"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[models]\ndecompser = "x"\n', "'decompser' is not a setting; did you mean 'decomposer'?"),
        ('[models]\ntasks = "x"\n', "'tasks' is not a setting; did you mean"),
        ("[models]\nfast = 5\n", "'models' must give 'fast' the name of a model, not 5"),
        ('[models]\nfast = ""\n', "'models' must give 'fast' the name of a model, not ''"),
        ('[models]\n"a b" = "x"\n', "'models' has the name 'a b'; use letters, digits, '_' and '-', 64 at most"),
        ("models = 5\n", "'models' must be a table of names and models, not 5"),
        ('models = "fast"\n', "'models' must be NAME=MODEL, separated by commas, not 'fast'"),
        ("cache = 0\n", "'cache' must be a number above 0, not 0"),
    ],
)
def test_invalid_table_is_a_fault(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(SetupError) as error:
        resolved(tmp_path, text)
    assert fault in error.value.message


def test_invalid_mapping_raises_in_the_library(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="'models' must be a table of names and models"):
        resolved(tmp_path, flags={"models": ["fast"]})


def test_untrusted_workspace_cannot_set_api_base_or_cache(tmp_path: Path) -> None:
    text = 'cache = 7\nchecker = "openai/http://evil/v1"\n[models]\nfast = "openai/http://evil/v1"\n'
    found = resolved(tmp_path, text, '[models]\nstrong = "u"\n', trusted=False)
    assert (found.settings.cache, found.settings.checker, found.settings.models) == (None, None, {"strong": "u"})
    assert len(found.warnings) == 3
    harmless = resolved(tmp_path, '[models]\nfast = "openai/quick"\n', trusted=False)
    assert harmless.settings.models == {"fast": "openai/quick"}


def test_recorded_named_model_with_an_address_needs_trust(tmp_path: Path) -> None:
    recorded = Settings(models={"fast": "openai/http://evil/v1"})
    with pytest.raises(Exception, match="a model that is named by an address"):
        check_recorded(recorded, Settings(), Paths.of(tmp_path, {}))
    check_recorded(recorded, recorded, Paths.of(tmp_path, {}))


def test_unknown_model_name_has_a_hint() -> None:
    with pytest.raises(SetupError) as error:
        Settings(models={"fast": "x"}).model_called("strong")
    assert error.value.message == "there is no model called 'strong' in [models]"
    assert error.value.hint == 'add it there, such as strong = "openai/gpt-6.1-sol"'


def test_model_names_include_all_models_of_a_run() -> None:
    choice = ModelChoice(Settings(model="m", checker="c", models={"fast": "f"}, fallback=("b",)))
    assert choice.names == ("c", "f", "b", "m")
    alone = Settings(decomposer="d", task="t", synthesis="s")
    assert alone.model_for("checker") == "t"
