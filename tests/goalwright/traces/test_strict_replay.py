"""Strict replay: no calls, and everything that would differ today is reported."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.reselect import Reselection, reselect
from goalwright.workspace.workspace import Workspace
from goalwright_executor.journal import trace_file
from goalwright_executor.stores.row import Row
from goalwright_planner.errors import RequestRefused
from goalwright_planner.model import Reply
from goalwright_skills.errors import InputError
from goalwright_skills.selection import pools, ranked
from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.index import background
from tests.conftest import add_skill
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import GOAL, SKILL, TEXT, answering, failing, goalwright, prepare, replayed, rows
from tests.skills.encoder_table import table_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.model import Request

pytestmark = pytest.mark.changes_skills


@pytest.fixture
def skill(workspace: Path) -> Path:
    return prepare(workspace)


@pytest.fixture
async def recorded(workspace: Path, skill: Path) -> list[Row]:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        assert (await runtime.run(GOAL)).status == "done"
    return rows(workspace)


async def test_a_run_replays_without_drift_with_the_same_result(workspace: Path, recorded: list[Row]) -> None:
    replay = await replayed(workspace, recorded)
    assert replay.drift == ()
    assert replay.result.answer == "the answer"
    assert replay.result.usage.calls == 6
    assert [task.status for task in replay.result.tasks] == ["done"] * 3
    assert set(replay.to_dict()) - set(replay.result.to_dict()) == {"drift"}


async def test_run_resumed_with_another_kind_of_model_replays_without_drift(workspace: Path, skill: Path) -> None:
    """The survey is done by a large model, the rest by a small one, which has other prompts and no tools."""
    script = failing("notes", error=RequestRefused("no"))
    async with goalwright(workspace, ScriptedModel(script)) as runtime:
        assert (await runtime.run(GOAL)).status == "partial"
    small = Settings(model="ollama/qwen3:1.7b")
    async with Goalwright(workspace, small, open_model=lambda _: ScriptedModel(answer_without_tools)) as runtime:
        assert (await runtime.resume("last")).status == "done"
    replay = await replayed(workspace, rows(workspace))
    assert replay.drift == ()
    assert (replay.result.status, replay.result.answer) == ("done", "the answer")


def answer_without_tools(request: Request) -> Reply:
    """What a model without tools answers."""
    return Reply(f"{request.task} is done" if request.role == "task" else "the answer")


async def test_files_that_tools_read_may_change(workspace: Path, recorded: list[Row]) -> None:
    (workspace / "notes.md").unlink()
    assert (await replayed(workspace, recorded)).drift == ()


async def test_an_exported_trace_replays_in_another_checkout(
    workspace: Path, recorded: list[Row], tmp_path: Path
) -> None:
    text = "\n".join(trace_file.lines(recorded))
    assert str(workspace) not in text
    other = tmp_path / "elsewhere" / "checkout"
    shutil.copytree(workspace / "skills", other / "skills")
    file = tmp_path / "run.jsonl"
    file.write_text(text, encoding="utf-8")
    replay = await replayed(other, list(trace_file.read(file)))
    assert replay.drift == ()
    assert replay.result.answer == "the answer"
    assert not (other / ".agents").exists()


async def test_a_changed_skill_body_is_drift_that_names_skill_and_line(
    workspace: Path, recorded: list[Row], skill: Path
) -> None:
    skill.write_text(skill.read_text(encoding="utf-8").replace("every endpoint", "each endpoint"), encoding="utf-8")
    replay = await replayed(workspace, recorded)
    first = replay.drift[0]
    assert first.where == "task survey"
    assert "skill 'tabulating-endpoints'" in first.what
    assert "each endpoint" in first.what
    assert replay.result.answer == "the answer"


async def test_a_changed_description_is_drift_of_the_listing_alone(
    workspace: Path, recorded: list[Row], skill: Path
) -> None:
    skill.write_text(skill.read_text(encoding="utf-8").replace("Tabulates", "Specifies"), encoding="utf-8")
    replay = await replayed(workspace, recorded)
    (drift,) = replay.drift
    assert (drift.where, "'tabulating-endpoints'" in drift.what) == ("listing", True)
    assert replay.result.answer == "the answer"


async def test_a_new_skill_that_is_selected_is_drift(workspace: Path, recorded: list[Row]) -> None:
    add_skill(workspace, "api-docs", f"---\nname: api-docs\ndescription: {GOAL}\n---\nx")
    drift = (await replayed(workspace, recorded)).drift
    assert any(one.where == "selection" and "api-docs" in one.what for one in drift)
    assert any("skill 'api-docs' is new in the listing" in one.what for one in drift)


async def test_changed_encoder_is_drift_and_the_replay_finishes(
    workspace: Path, recorded: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.bin"
    rows = [b"\xff\x80" * 64, b"\x80\xff" * 64]
    other.write_bytes(table_bytes("other", ["endpoint", "service"], [1.0, 1.0], rows))
    monkeypatch.setattr(ranked, "shipped_table", lambda: Table.open(other))
    add_skill(workspace, "api-docs", f"---\nname: api-docs\ndescription: {GOAL}\n---\nx")
    replay = await replayed(workspace, recorded)
    (first, *_) = (one.what for one in replay.drift if one.where == "selection")
    assert "goalwright-static-1-" in first
    assert "→ other-" in first
    assert replay.result.answer == "the answer"


async def test_unindexed_skills_are_named_in_drift(
    workspace: Path, recorded: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_skill(workspace, "api-docs", f"---\nname: api-docs\ndescription: {GOAL}\n---\nx")
    monkeypatch.setattr(pools, "AT_ONCE", 1)
    monkeypatch.setattr(pools, "FEW", 0)
    monkeypatch.setattr(background, "start", lambda folder, skills: 0)
    replay = await replayed(workspace, recorded)
    (first, *_) = (one.what for one in replay.drift if one.where == "selection")
    assert "skills not indexed yet: 0 → " in first
    assert replay.result.answer == "the answer"


async def test_removed_skill_is_drift_and_its_task_ends_as_recorded(
    workspace: Path, recorded: list[Row], skill: Path
) -> None:
    shutil.rmtree(skill.parent)
    replay = await replayed(workspace, recorded)
    assert any("skill 'tabulating-endpoints' is no longer in the listing" in one.what for one in replay.drift)
    assert any(one.what.startswith("task 'survey' was done, is failed") for one in replay.drift)
    assert {task.id: task.status for task in replay.result.tasks} == dict.fromkeys(("survey", "notes", "brief"), "done")
    assert (replay.result.status, replay.result.answer) == ("done", "the answer")


@pytest.mark.parametrize("now", ["gone", "not for people to call"])
async def test_removed_requested_skill_is_drift_and_the_replay_finishes(workspace: Path, skill: Path, now: str) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        assert (await runtime.run(Goal(GOAL, skills=(SKILL,)))).status == "done"
    if now == "gone":
        shutil.rmtree(skill.parent)
    else:
        skill.write_text(TEXT.replace("\n---\n#", "\nuser-invocable: false\n---\n#"), encoding="utf-8")
    replay = await replayed(workspace, rows(workspace))
    assert (replay.result.status, replay.result.answer) == ("done", "the answer")
    if now == "gone":
        assert ("selection", f"skill {SKILL!r} is no longer selected") in [
            (one.where, one.what) for one in replay.drift
        ]


async def test_uninstalled_detector_is_drift_and_the_replay_finishes(workspace: Path, recorded: list[Row]) -> None:
    first = recorded[0]
    settings = first.body["settings"] | {"detector": "ours"}
    replay = await replayed(workspace, [first._replace(body=first.body | {"settings": settings}), *recorded[1:]])
    assert [one.where for one in replay.drift] == ["selection"]
    assert "there is no detector 'ours'" in replay.drift[0].what
    assert (replay.result.status, replay.result.answer) == ("done", "the answer")


async def test_skill_replaced_by_a_file_can_be_missing(workspace: Path, skill: Path, tmp_path: Path) -> None:
    draft = tmp_path / "SKILL.md"
    draft.write_text(TEXT.replace("in a table", "in two tables"), encoding="utf-8")
    model = ScriptedModel(answering)
    async with Goalwright(workspace, Settings(model="m"), open_model=lambda _: model, use={SKILL: draft}) as runtime:
        assert (await runtime.run(GOAL)).status == "done"
    shutil.rmtree(skill.parent)
    replay = await replayed(workspace, rows(workspace))
    assert replay.drift[0].what.startswith(f"skill {SKILL!r}, which ")
    assert (replay.result.status, replay.result.answer) == ("done", "the answer")


async def test_a_changed_prompt_template_is_drift(workspace: Path, recorded: list[Row]) -> None:
    seed = workspace / ".agents" / "seed"
    seed.mkdir(parents=True)
    own = '<% extends "seed/synthesis.j2" %><% block system %>Be brief.<% endblock %>'
    (seed / "synthesis.j2").write_text(own, encoding="utf-8")
    (drift,) = (await replayed(workspace, recorded)).drift
    assert drift.where == "synthesis, call 1"
    assert "Be brief." in drift.what


async def test_a_changed_reply_shows_in_plan_and_answer(workspace: Path, recorded: list[Row]) -> None:
    def changed(row: Row) -> Row:
        body = json.loads(json.dumps(row.body).replace("the answer", "another answer"))
        return Row(row.run_id, row.seq, row.at, row.type, body if row.type == "call_finished" else row.body)

    (drift,) = (await replayed(workspace, [changed(row) for row in recorded])).drift
    assert drift.where == "answer"
    assert "from the prompt of synthesis" in drift.what
    assert "another answer" in drift.what


async def test_a_changed_plan_is_reported_task_by_task(workspace: Path, recorded: list[Row]) -> None:
    def changed(row: Row) -> Row:
        if row.type != "call_finished" or row.body["role"] != "decomposer":
            return row
        plan = json.loads(row.body["reply"]["text"])
        plan["tasks"][1]["id"] = "papers"
        plan["tasks"][2] |= {"depends_on": ["survey", "papers"], "instruction": "Shorter: <<survey.output>>"}
        plan["synthesis"] = "long"
        return row._replace(body=row.body | {"reply": row.body["reply"] | {"text": json.dumps(plan)}})

    replay = await replayed(workspace, [changed(row) for row in recorded])
    planned = [one.what for one in replay.drift if one.where == "plan"]
    assert "task 'notes' is no longer in the plan" in planned
    assert "task 'papers' is new in the plan" in planned
    assert any(what.startswith("task 'brief' is planned differently: ") for what in planned)
    assert any(what.startswith("prompt of synthesis: the plan's synthesis: ") for what in planned)


async def test_missing_plan_is_drift_of_planning(workspace: Path, recorded: list[Row]) -> None:
    def changed(row: Row) -> Row:
        planning = row.type == "call_finished" and row.body["role"] == "decomposer"
        return row._replace(body=row.body | {"reply": row.body["reply"] | {"text": "no"}}) if planning else row

    replay = await replayed(workspace, [changed(row) for row in recorded])
    (drift,) = replay.drift
    assert drift.what.startswith("prompt of planning: answer 1 was accepted, and is refused now: ")
    assert (replay.result.status, replay.result.answer) == ("done", "the answer")


async def test_a_workspace_whose_name_a_listing_escapes_replays_elsewhere(tmp_path: Path) -> None:
    there, here = tmp_path / "R&D <new>", tmp_path / "plain"
    there.mkdir()
    prepare(there)
    async with goalwright(there, ScriptedModel(answering)) as runtime:
        await runtime.run(GOAL)
    recorded = rows(there)
    text = "\n".join(trace_file.lines(recorded))
    assert "R&D" not in text
    assert "R&amp;D" not in text
    assert (await replayed(there, recorded)).drift == ()
    shutil.copytree(there / "skills", here / "skills")
    assert (await replayed(here, recorded)).drift == ()


async def test_a_failed_run_fails_again_in_the_same_way(workspace: Path, skill: Path) -> None:
    assert skill.exists()
    async with goalwright(
        workspace, ScriptedModel(failing("survey", error=RequestRefused("no", hint="ask less")))
    ) as runtime:
        first = await runtime.run(GOAL)
    replay = await replayed(workspace, rows(workspace))
    assert replay.drift == ()
    assert (replay.result.status, replay.result.error) == (first.status, first.error)


@pytest.mark.slow
async def test_truncated_record_replays_up_to_its_end(workspace: Path, recorded: list[Row]) -> None:
    for length in range(1, len(recorded)):
        replay = await replayed(workspace, recorded[:length])
        assert replay.drift == (), f"of the first {length} rows"


async def test_an_empty_record_is_refused(workspace: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        await replayed(workspace, [])


# --select


def reselected(workspace: Path, recorded: list[Row]) -> list[dict[str, object]]:
    today = Workspace(Paths.of(workspace, {}), Settings())
    picked = [row for row in recorded if row.type in ("run_started", "skills_selected")]
    return [one.to_dict() | {"drifted": one.drifted} for one in reselect([picked], today)]


def test_selecting_again_reports_what_is_added_and_dropped(workspace: Path, recorded: list[Row], skill: Path) -> None:
    (same,) = reselected(workspace, recorded)
    assert same["then"] == same["now"]
    assert SKILL in same["then"]  # type: ignore[operator]
    assert (same["added"], same["dropped"], same["drifted"]) == ([], [], False)
    shutil.rmtree(skill.parent)
    add_skill(workspace, "api-docs", f"---\nname: api-docs\ndescription: {GOAL}\n---\nx")
    (other,) = reselected(workspace, recorded)
    assert (other["added"], other["dropped"], other["drifted"]) == (["api-docs"], [SKILL], True)


async def test_a_goal_that_names_a_path_of_the_workspace_selects_the_same_again(tmp_path: Path) -> None:
    """By the words of the path here, not by those of the name that the record has for it."""
    workspace = tmp_path / "quarterly-budget"
    workspace.mkdir()
    prepare(workspace)
    described = {
        "quarterly-budget": "Plans the quarterly budget of a department.",
        "workspace-cleanup": "Clean up a workspace, tidy its files and folders.",
    }
    for name, text in described.items():
        add_skill(workspace, name, f"---\nname: {name}\ndescription: {text}\n---\nx")
    goal = f"Tidy the files in {workspace}/notes"
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(goal)
    (same,) = reselected(workspace, rows(workspace))
    assert (same["goal"], same["drifted"]) == (goal, False)
    assert "quarterly-budget" in same["then"]  # type: ignore[operator]


def test_selections_by_models_and_server_prompts_are_skipped(workspace: Path, recorded: list[Row]) -> None:
    picked = [row for row in recorded if row.type in ("run_started", "skills_selected")]
    chosen = picked[-1].body
    prompt = {"name": "mcp:notes:summary", "score": 1.0, "reason": "asked for by name", "certain": True}
    with_prompt = picked[-1]._replace(body=chosen | {"selections": [*chosen["selections"], prompt]})
    by_model = picked[-1]._replace(body=chosen | {"detector": "llm"})
    today, left_out = Workspace(Paths.of(workspace, {}), Settings()), list[str]()
    (one,) = reselect([[picked[0], by_model], [picked[0], with_prompt]], today, left_out=left_out)
    assert (one.drifted, left_out) == (False, [recorded[0].run_id])
    with pytest.raises(InputError, match="asks a model"):
        list(reselect([[picked[0], by_model]], today))


def test_changed_score_is_reported_without_drift() -> None:
    then, now = (Selection("a", 0.5, ""), Selection("b", 0.4, "")), (Selection("a", 0.7, ""), Selection("b", 0.4, ""))
    one = Reselection("r", "g", then, now)
    assert not one.drifted
    assert one.to_dict()["scores"] == [{"name": "a", "then": 0.5, "now": 0.7}]
    assert Reselection("r", "g", then, then[::-1]).drifted
