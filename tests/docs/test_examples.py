"""The examples run as their README says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.settings.find_workspace import find
from tests.openai_server import OpenAIServer, Script, scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.nursery import Nursery, Ran

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
ROWS = re.findall(r"^\| \[(\w+)\]\(\w+\) \| [^|]+ \| `([^`]+)` \|$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
WITHOUT_EXCEL = (
    "sys.modules |= {'openpyxl': None}; sys.modules.pop('goalwright_skills.builtin.excel.sheet_tools', None); "
)
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
PLAN = {"tasks": [{"id": "one", "action_type": "llm", "instruction": "Do it"}]}


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of an example, as a user would have it."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))

    return copy


def test_every_example_is_a_workspace() -> None:
    assert [find(one, ROOT.parent) for one in EXAMPLES.iterdir() if one.is_dir()] == [
        one for one in EXAMPLES.iterdir() if one.is_dir()
    ]


def test_every_folder_is_in_the_table() -> None:
    assert sorted(name for name, _ in ROWS) == sorted(one.name for one in EXAMPLES.iterdir() if one.is_dir())
    assert len(ROWS) >= 6


@pytest.mark.parametrize(("name", "command"), [row for row in ROWS if row[1].startswith("goalwright ")])
def test_commands_of_the_table_work(
    name: str,
    command: str,
    example: Callable[[str], Path],
    serve: Callable[[Script], OpenAIServer],
    goalwright: Callable[..., Ran],
) -> None:
    serve(scripted(PLAN))
    folder = example(name)
    ran = goalwright(*shlex.split(command)[1:], cwd=folder, env=MODEL)
    assert ran.status == 0, ran.err
    assert ran.out.strip()


def test_example_skill_is_selected_and_example_tool_passes_the_check(
    example: Callable[[str], Path], goalwright: Callable[..., Ran]
) -> None:
    chosen = goalwright("skills", "select", "--json", "Write the release notes from CHANGES.md", cwd=example("skill"))
    assert json.loads(chosen.out)["selected"][0]["name"] == "release-notes"
    checked = goalwright("skills", "check", "--trust", cwd=example("tool"))
    assert checked.status == 0, checked.out


def test_library_example_offers_its_own_tool(
    example: Callable[[str], Path], serve: Callable[[Script], OpenAIServer], nursery: Nursery
) -> None:
    server = serve(scripted(PLAN))
    ran = nursery.run_python(
        ["-c", (EXAMPLES / "library" / "own_tools.py").read_text()], {**os.environ, **MODEL}, example("library")
    )
    assert ran.status == 0, ran.err
    assert "- one: done" in ran.out
    asked = server.asked("decomposer")[0]
    assert "orders_find" in asked.system + asked.user


@pytest.mark.parametrize("extra", ["", WITHOUT_EXCEL], ids=["with excel", "without excel"])
def test_recorded_run_passes_as_a_test_without_a_model(
    extra: str, example: Callable[[str], Path], nursery: Nursery
) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts="]
    code = f"import sys; {extra}import pytest; sys.exit(pytest.main({options}))"
    ran = nursery.run_python(["-c", code], dict(os.environ), example("replay"))
    assert ran.status == 0, ran.out
    assert "1 passed" in ran.out
