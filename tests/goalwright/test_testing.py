"""Recorded runs as test fixtures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from goalwright.testing import Recorded, Unrecorded
from goalwright_executor.journal import trace_file
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import GOAL, answering, goalwright, prepare, rows

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "runs-and-replay.md"
pytest_plugins = ["pytester"]
pytestmark = pytest.mark.changes_skills


@pytest.fixture(autouse=True)
def without_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a second to import in each pytest that is started here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
async def exported(workspace: Path, tmp_path: Path) -> Path:
    prepare(workspace)
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(GOAL)
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(trace_file.lines(rows(workspace))), encoding="utf-8")
    return file


async def test_a_goal_runs_with_the_recorded_replies(workspace: Path, exported: Path) -> None:
    recorded = Recorded.of(exported, workspace=workspace)
    result = await recorded.run(recorded.goal)
    assert (result.status, result.answer) == ("done", "the answer")
    assert recorded.unrecorded == []
    assert (await recorded.run(GOAL)).answer == "the answer"


async def test_an_unrecorded_request_stops_the_run_and_its_difference_is_shown(workspace: Path, exported: Path) -> None:
    recorded = Recorded.of(exported, workspace=workspace)
    with pytest.raises(Unrecorded, match="no reply is recorded for a request of the decomposer; the nearest"):
        await recorded.run("Something else entirely")
    assert len(recorded.unrecorded) == 1


@pytest.mark.slow
def test_the_plugin_fails_a_test_with_unrecorded_requests(
    pytester: pytest.Pytester, workspace: Path, exported: Path
) -> None:
    pytester.makeconftest('pytest_plugins = ["goalwright.testing"]')
    pytester.makepyfile(
        f"""
        import asyncio, contextlib

        def test_good(goalwright_recorded):
            recorded = goalwright_recorded({str(exported)!r}, workspace={str(workspace)!r})
            assert asyncio.run(recorded.run(recorded.goal)).answer == "the answer"

        def test_bad(goalwright_recorded):
            recorded = goalwright_recorded({str(exported)!r}, workspace={str(workspace)!r})
            with contextlib.suppress(Exception):
                asyncio.run(recorded.run("Something else"))
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*no reply is recorded for a request of the decomposer; the nearest*"])


@pytest.mark.slow
def test_a_missing_reply_fails_a_test_once_and_without_frames_of_goalwright(
    pytester: pytest.Pytester, workspace: Path, exported: Path
) -> None:
    pytester.makeconftest('pytest_plugins = ["goalwright.testing"]')
    pytester.makepyfile(
        f"""
        import asyncio

        def test_other_goal(goalwright_recorded):
            recorded = goalwright_recorded({str(exported)!r}, workspace={str(workspace)!r})
            asyncio.run(recorded.run("Something else"))
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *Unrecorded: no reply is recorded for a request of the decomposer; the nearest*"])
    result.stdout.no_fnmatch_line("*memo.py:*")


@pytest.mark.slow
def test_the_documented_example_works(pytester: pytest.Pytester, workspace: Path, exported: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)
    code = example.replace("tests/runs/report.jsonl", str(exported)).replace("# Report", "the answer")
    pytester.makeconftest('pytest_plugins = ["goalwright.testing"]')
    pytester.makepyfile(code.replace('workspace="."', f"workspace={str(workspace)!r}"))
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
