"""What `from goalwright import …` gives, and how it says that something was given wrongly."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import goalwright
from goalwright import Goalwright, GoalwrightError, InputError, Settings, run_goal, run_goal_sync

ROOT = Path(goalwright.__file__).parent.parent


def test_every_public_name_is_there_and_loaded_when_it_is_first_used() -> None:
    assert all(getattr(goalwright, name) is not None for name in goalwright.__all__)
    assert set(goalwright.__all__) <= set(dir(goalwright))
    missing = "Goalwrights"
    with pytest.raises(AttributeError, match="no attribute 'Goalwrights'"):
        getattr(goalwright, missing)
    code = "import sys, goalwright; print(len([name for name in sys.modules if name.split('.')[0] in %r]))"
    packages = ("goalwright_planner", "goalwright_executor", "goalwright_skills", "litellm", "networkx", "jinja2")
    done = subprocess.run([sys.executable, "-c", code % (packages,)], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n", "importing goalwright loads nothing of these"


def test_the_stub_names_what_the_package_has_and_where_it_has_it() -> None:
    stub = ast.parse((ROOT / "goalwright" / "__init__.pyi").read_text(encoding="utf-8"))
    homes = {
        alias.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    (listed,) = (node.value for node in stub.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(listed)) == sorted(goalwright.__all__)
    assert homes == {**goalwright._HOMES, "__version__": "goalwright.version"}  # type: ignore[attr-defined]


def test_the_documentation_lists_every_public_name_and_no_other() -> None:
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"\n## Public names\n(.*?)(?=\n## |\Z)", text, re.DOTALL)
    listed = re.findall(r"`(\w+)`", "".join(line for line in section.splitlines(True) if line.startswith("|")))
    assert sorted(listed) == sorted(set(goalwright.__all__) - {"__version__"})


@pytest.mark.parametrize(
    "module",
    [
        "goalwright_planner.model",
        "goalwright_planner.events",
        "goalwright_planner.errors",
        "goalwright_skills.errors",
        "goalwright_executor.stores.errors",
    ],
)
def test_every_public_class_of_these_modules_is_public(module: str) -> None:
    found = import_module(module)
    classes = {name for name, one in vars(found).items() if isinstance(one, type) and one.__module__.startswith(module)}
    assert {name for name in classes if not name.startswith("_")} <= set(goalwright.__all__)


def test_the_documentation_imports_public_names_alone() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            inner = re.findall(
                r"^\s*(?:from|import) (goalwright_(?:planner|executor|skills)\b[\w.]*)", code, re.MULTILINE
            )
            assert not [name for name in inner if name != "goalwright_skills.tools.tool"], page


def test_a_runtime_takes_settings_as_a_mapping_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOALWRIGHT_MAX_TASKS", "7")
    (tmp_path / "goalwright.toml").write_text('model = "openai/file"\n')
    found = Goalwright(tmp_path, {"model": "openai/x"}).settings
    assert (found.model, found.max_tasks) == ("openai/x", 7)
    assert Goalwright(tmp_path).settings.model == "openai/file"
    assert Goalwright(tmp_path, Settings(model="m")).settings == Settings(model="m")


@pytest.mark.parametrize("given", [{"modle": "x"}, {"max_tokens": -1}, {"max_tokens": -1, "modle": "x"}])
async def test_a_wrong_setting_is_told_in_a_programs_words(tmp_path: Path, given: dict[str, object]) -> None:
    with pytest.raises(GoalwrightError) as made:
        Goalwright(tmp_path, given)
    with pytest.raises(GoalwrightError) as ran:
        await run_goal("g", workspace=tmp_path, settings=given, model="openai/x")
    for error in (made.value, ran.value):
        said = f"{error.message} {error.hint}"
        assert all(repr(name) in error.message for name in given)
        assert "flag" not in said
        assert "--" not in said


def test_wrong_settings_and_wrong_files_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "goalwright.toml").write_text("max_tasks = 0\n")
    with pytest.raises(
        GoalwrightError, match=r"goalwright.toml: 'max_tasks' must be .*; 'max_tokens' must be"
    ) as caught:
        Goalwright(tmp_path, {"max_tokens": -1})
    assert "flag" not in caught.value.message


@pytest.mark.filterwarnings("error")
async def test_in_an_event_loop_the_call_without_one_names_the_other(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="while an event loop runs") as refused:
        run_goal_sync("g", workspace=tmp_path, model="openai/x")
    assert "await run_goal" in refused.value.hint
