"""A new tool works and passes the check, in every runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.check import review
from goalwright_skills.errors import InputError
from goalwright_skills.manage.new_tool import new
from tests.needs import needs_go, needs_node
from tests.skills.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.programs.manifest import Runtime


@pytest.mark.slow
@pytest.mark.parametrize(
    "runtime", ["python", pytest.param("node", marks=needs_node), pytest.param("go", marks=needs_go), "binary"]
)
async def test_a_new_tool_passes_the_check(tmp_path: Path, runtime: Runtime, request: pytest.FixtureRequest) -> None:
    if runtime == "go":
        request.getfixturevalue("warm_go")
    bench = Workbench(tmp_path)
    files = new("word-count", runtime, bench.workspace / "skills")
    assert all(path.is_file() for path in files)
    (report,) = await review(files[0].parent, bench.host())
    assert [str(finding) for finding in report.problems] == []


@pytest.mark.parametrize(
    ("name", "folder", "tool"),
    [
        ("greet", "greet", "greet_run"),
        ("web-page", "web-page", "web_page_run"),
        ("greet_say", "greet", "greet_say"),
    ],
)
def test_the_name_is_the_folders_or_the_tools(tmp_path: Path, name: str, folder: str, tool: str) -> None:
    new(name, "python", tmp_path)
    assert f"name: {tool}\n" in (tmp_path / folder / "skill.yaml").read_text()


@pytest.mark.parametrize("name", ["Greet", "a b", "../x", "", "-x", "x" * 70])
def test_an_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not a valid tool name"):
        new(name, "python", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new("greet", "python", tmp_path)
    with pytest.raises(InputError, match="already exists"):
        new("greet", "node", tmp_path)
