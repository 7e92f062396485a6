"""Between a run and its record: what is read back is as it is here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright_executor.approvals.policy import ApprovalRule
from goalwright_executor.capture.capture import Capture
from goalwright_planner.errors import ModelError
from goalwright_skills.errors import InputError
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import GOAL, failing, goalwright, prepare, store

SEED = Path(__file__).parents[4] / "seed"


async def test_a_resumed_run_uses_local_templates(workspace: Path) -> None:
    prepare(workspace)
    shutil.copytree(SEED, workspace / "prompts")
    script = failing("survey", error=ModelError("no"))
    async with goalwright(workspace, ScriptedModel(script), seed=str(workspace / "prompts")) as runtime:
        await runtime.run(GOAL)
    opened = store(workspace)
    begun = records.first_event(opened, "last", Paths.of(workspace, os.environ))
    opened.close()
    settings = records.settings_of(begun.settings, Settings(), {})
    assert settings == Settings(model="scripted", seed=str(workspace / "prompts"))


async def test_settings_of_the_last_resume_are_kept(workspace: Path) -> None:
    prepare(workspace)
    script = failing("survey", error=ModelError("no"))
    async with goalwright(workspace, ScriptedModel(script), max_cost=1.0) as runtime:
        run_id = (await runtime.run(GOAL)).run_id
    async with goalwright(workspace, ScriptedModel(script), max_cost=2.0, fallback=("other",)) as runtime:
        await runtime.resume(run_id)
    opened = store(workspace)
    begun = records.first_event(opened, run_id, Paths.of(workspace, os.environ))
    opened.close()
    assert (begun.goal, begun.run_id) == (GOAL, run_id)
    assert records.settings_of(begun.settings, Settings(), {}) == Settings(
        model="scripted", max_cost=2.0, fallback=("other",)
    )


@pytest.mark.parametrize("wrong", [{"max_concurrency": "x"}, {"fallback": "a"}, {"model": 7}, {"timeout": True}])
def test_invalid_recorded_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        records.settings_of({"model": "m", **wrong}, Settings(), {})


def test_unknown_recorded_settings_are_ignored() -> None:
    recorded = {"model": "m", "fallback": ["a"], "max_cost": 2, "mood": "calm"}
    assert records.settings_of(recorded, Settings(), {}) == Settings(model="m", fallback=("a",), max_cost=2)


@pytest.mark.parametrize(
    ("recorded", "now", "mode", "rules"),
    [
        ({}, Settings(approve="never"), "never", ()),
        ({"approve": "never"}, Settings(), "writes", ()),
        ({"approve": "all"}, Settings(), "all", ()),
        ({"approve": "all"}, Settings(approve="never"), "all", ()),
        (
            {"approvals": [{"tool": "a", "decision": "ask"}, {"tool": "b", "decision": "allow"}]},
            Settings(approvals=(ApprovalRule("a", "allow"),)),
            "writes",
            (ApprovalRule("a", "allow"), ApprovalRule("a", "ask", floor=True)),
        ),
    ],
)
def test_the_stricter_approval_policy_wins(
    recorded: dict[str, object], now: Settings, mode: str, rules: tuple[ApprovalRule, ...]
) -> None:
    settings = records.settings_of(recorded, now, {})
    assert (settings.approve, settings.approvals) == (mode, rules)
    again = records.settings_of(Capture().value(records.plain(settings)), now, {})
    assert (again.approve, again.approvals) == (mode, rules)


@pytest.mark.parametrize("wrong", [{"approve": 7}, {"approvals": "x"}, {"approvals": [{"tool": "a"}]}])
def test_an_invalid_recorded_policy_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        records.settings_of(wrong, Settings(), {})
