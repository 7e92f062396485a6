"""The table of built-in tools, and which of them a run has."""

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
    """What a planner's tools are made with: no task, so nothing can be written or run."""
    registry = Registry(tmp_path)
    return ToolContext(registry, readable_roots.of(registry), skills_in_use=tuple, trusted=lambda _: False)


@pytest.mark.parametrize("row", TOOLS, ids=lambda row: str(row.name))
def test_a_line_of_the_table_leads_to_a_tool_that_can_be_offered(
    row: BuiltinTool, planner_context: ToolContext
) -> None:
    tool = toolset.make(row.name, planner_context)

    assert tool is not None
    assert tool.name == row.name
    assert tool.description
    assert tool.parameters["type"] == "object"
    assert tool.parameters["additionalProperties"] is False
    assert all(schema["description"] for schema in tool.parameters["properties"].values())
    assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
    assert callable(getattr(tool, "effects", None)), "a policy must know what it can change"


@pytest.mark.parametrize("row", TOOLS, ids=lambda row: str(row.name))
def test_every_tool_is_in_the_docs(row: BuiltinTool) -> None:
    assert f"`{row.name}(" in DOCS.read_text(encoding="utf-8")


def test_every_capability_of_a_tool_has_a_setting() -> None:
    assert {row.gives for row in TOOLS if row.gives} == needs.SETTINGS.keys()


def test_a_tool_that_only_reads_says_so(planner_context: ToolContext) -> None:
    tool = toolset.make("Grep", planner_context)

    assert tool is not None
    assert effects_of(tool, {"pattern": "x"}) == READ_ONLY


def test_a_name_that_this_version_does_not_have_is_no_tool(planner_context: ToolContext) -> None:
    assert toolset.make("Telepathy", planner_context) is None


@pytest.mark.parametrize(
    ("name", "tools"),
    [("Read", ("ReadFile",)), ("grep", ("Grep",)), ("Bash", ("run_script", "shell_run")), ("NotebookEdit", ())],
)
def test_skills_call_tools_by_the_names_of_other_agents(name: str, tools: tuple[str, ...]) -> None:
    assert toolset.called(name) == tools


def test_optional_tools_join_the_standard_set_by_their_short_names() -> None:
    assert toolset.expanded(["python"]) == (*toolset.STANDARD, "python_run")
    assert toolset.missing(["Grep", "python_run"], toolset.STANDARD) == ("python_run",)
