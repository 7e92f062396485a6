"""The tests of a real project, run by shell_run: what they write is seen as it comes, and replayed without them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.events import TaskFinished, ToolCalled, ToolOutput
from goalwright_planner.plan.plan import Plan
from tests.fakes import Recorder
from tests.needs import needs_bubblewrap

ROOT = Path(__file__).parents[3]
# This project's own: a part of it that is quick, and needs nothing else of it.
PARTS = ("skills/goalwright_skills/text", "tests/skills/text")
FILES = ("skills/goalwright_skills/__init__.py", "tests/__init__.py", "tests/skills/__init__.py")


@needs_bubblewrap
async def test_a_projects_tests_run_with_their_output_live(workspace: Path) -> None:
    for part in PARTS:
        shutil.copytree(ROOT / part, workspace / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, workspace / name)
    parts = " ".join(f"$GOALWRIGHT_WORKSPACE/{name}" for name in ("skills", "tests"))
    # Without plugins, which take seconds to import where nothing compiled is kept.
    variables = "PYTHONPATH=skills PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
    run = f"{variables} {sys.executable} -m pytest -v tests/skills/text/test_formatting.py"
    command = f"cd $(mktemp -d) && cp -r {parts} . && echo copied && sleep 1 && {run}"
    row = {
        "id": "test",
        "action_type": "tool",
        "name": "shell_run",
        "arguments": {"command": command, "timeout": 600},
    }
    record = Recorder()
    async with Goalwright(workspace, Settings(tools=("shell",))) as runtime:
        result = await runtime.run(Goal("Run the tests", plan=Plan.from_dict({"tasks": [row]})), record=record)
        assert result.status == "done", result.error
        stored = [row.type for row in runtime.journal.store.rows(result.run_id)]
    assert " PASSED " in str(result.answer)
    kinds = [type(event) for event in record.events]
    seen = [event for event in record.events if isinstance(event, ToolOutput)]
    assert len(seen) > 1, "it came in pieces"
    assert kinds.index(ToolOutput) < kinds.index(ToolCalled) < kinds.index(TaskFinished)
    assert {(event.task, event.name) for event in seen} == {("test", "shell_run")}
    assert "tests/skills/text/test_formatting.py::" in "".join(event.text for event in seen)
    assert "tool_output" not in stored, "the whole output is on record, its pieces are not"
