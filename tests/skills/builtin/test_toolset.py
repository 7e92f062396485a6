"""The table of built-in tools, and the tools of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_skills.builtin import readable_roots, toolset
from goalwright_skills.builtin.tool_context import ToolContext
from goalwright_skills.builtin.toolset import TOOLS, BuiltinTool
from goalwright_skills.discovery import needs
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.tools.effects import READ_ONLY, effects_of

DOCS = Path(__file__).parents[3] / "docs" / "tools.md"


@pytest.fixture
def planner_context(tmp_path: Path) -> ToolContext:
    """A context without a task, so that nothing can be written or run."""
    registry = Registry(tmp_path)
    return ToolContext(registry, readable_roots.of(registry), skills_in_use=tuple, trusted=lambda _: False)


@pytest.mark.parametrize("row", TOOLS, ids=lambda row: str(row.name))
def test_every_tool_can_be_made_for_a_planner(row: BuiltinTool, planner_context: ToolContext) -> None:
    tool = toolset.make(row.name, planner_context)

    assert tool is not None
    assert tool.name == row.name
    assert tool.description
    assert tool.parameters["type"] == "object"
    assert tool.parameters["additionalProperties"] is False
    assert all(schema["description"] for schema in tool.parameters["properties"].values())
    assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
    assert callable(getattr(tool, "effects", None)), "approval policies need its effects"


@pytest.mark.parametrize("row", TOOLS, ids=lambda row: str(row.name))
def test_every_tool_is_in_the_docs(row: BuiltinTool) -> None:
    assert f"`{row.name}(" in DOCS.read_text(encoding="utf-8")


def test_every_capability_of_a_tool_has_a_setting() -> None:
    assert {row.gives for row in TOOLS if row.gives} == needs.SETTINGS.keys()


def test_grep_is_read_only(planner_context: ToolContext) -> None:
    tool = toolset.make("Grep", planner_context)

    assert tool is not None
    assert effects_of(tool, {"pattern": "x"}) == READ_ONLY


def test_unknown_tool_name_returns_none(planner_context: ToolContext) -> None:
    assert toolset.make("Telepathy", planner_context) is None


@pytest.mark.parametrize(
    ("name", "tools"),
    [("Read", ("ReadFile",)), ("grep", ("Grep",)), ("Bash", ("run_script", "shell_run")), ("NotebookEdit", ())],
)
def test_aliases_of_other_agents_name_tools(name: str, tools: tuple[str, ...]) -> None:
    assert toolset.tools_named(name) == tools


def test_short_names_add_optional_tools() -> None:
    assert toolset.expanded(["python"]) == (*toolset.STANDARD, "python_run")
    assert toolset.missing(["Grep", "python_run"], toolset.STANDARD) == ("python_run",)
