"""The checks of `goalwright doctor`, and which of them prevent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.doctor.checks import Check, run_checks
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import Resolved, resolve
from goalwright.settings.settings import Settings
from goalwright.workspace.workspace import Workspace
from goalwright_skills.builtin.web.search_provider import SearchProvider
from tests.needs import needs_bubblewrap

if TYPE_CHECKING:
    from pathlib import Path


def checks(workspace: Path, settings: Settings, env: dict[str, str]) -> list[Check]:
    paths = Paths.of(workspace, env)
    return run_checks(paths, Resolved(settings, {}), Workspace(paths, settings), env)


def test_only_problems_with_requirements_prevent_runs() -> None:
    assert Check("model", False, "no model is set").prevents_runs
    assert Check("store", False, "read-only").prevents_runs
    assert not Check("model", None, "it may need a region").prevents_runs
    assert not Check("model", True, "openai/x").prevents_runs
    assert not Check("skills", False, "none").prevents_runs


def test_unknown_model_prevents_runs_and_has_a_remedy(workspace: Path) -> None:
    (problem,) = [check for check in checks(workspace, Settings(model="local/nope"), {}) if check.prevents_runs]
    assert problem.topic == "model"
    assert "unknown local model 'nope'" in problem.found
    assert problem.remedy


def test_local_model_that_is_not_downloaded_does_not_prevent_runs(workspace: Path) -> None:
    roles = Settings(decomposer="local", task="local", synthesis="local")
    assert [check for check in checks(workspace, roles, {}) if check.prevents_runs] == []


def test_broken_skills_and_keys_are_reported(workspace: Path) -> None:
    (workspace / "skills" / "broken").mkdir()
    (workspace / "skills" / "broken" / "SKILL.md").write_text("no frontmatter", encoding="utf-8")
    found = checks(workspace, Settings(model="local"), {"OPENAI_API_KEY": "sk-very-secret"})
    assert Check("skills", False, "broken: 1", "`goalwright skills list --all` shows why") in found
    assert Check("keys", True, "OPENAI_API_KEY") in found
    assert "sk-very-secret" not in str(found)


@needs_bubblewrap
def test_allowed_hosts_are_listed(workspace: Path) -> None:
    found = checks(workspace, Settings(model="local", allow_network_hosts=("pypi.org",)), {})
    assert Check("network", True, "commands may reach pypi.org") in found
    assert [one for one in checks(workspace, Settings(model="local"), {}) if one.topic == "network"] == []


def test_search_provider_and_its_key_are_reported(workspace: Path) -> None:
    brave = Settings(model="local", search=SearchProvider("brave", "https://search.example"))
    missing = Check(
        "search", False, "brave at https://search.example, no key is set", "set BRAVE_API_KEY in the environment"
    )
    assert missing in checks(workspace, brave, {})
    found = checks(workspace, brave, {"BRAVE_API_KEY": "brave-very-secret"})
    assert Check("search", True, "brave at https://search.example") in found
    assert "brave-very-secret" not in str(found)
    assert [one for one in checks(workspace, Settings(model="local"), {}) if one.topic == "search"] == []


def test_settings_have_their_names_in_files(workspace: Path) -> None:
    (workspace / "goalwright.toml").write_text('[skills]\noff = ["a", "b"]\n', encoding="utf-8")
    where = Paths.of(workspace, {})
    resolved = resolve({}, {}, workspace, where.user_config, trusted=True)
    found = [check.found for check in run_checks(where, resolved, Workspace(where, resolved.settings), {})]
    assert f"[skills] off = a, b (from {workspace / 'goalwright.toml'})" in found
