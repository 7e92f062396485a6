"""Selection by a model from a shortlist, recorded with the run; the ranking decides if the call fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.stop import Stop
from goalwright.settings.resolve import resolve
from goalwright.settings.settings import Settings
from goalwright.workspace.llm_detector import PICKED, SHORTLIST, BlockingModel, LlmDetector
from goalwright_planner.errors import BudgetSpent, Overloaded
from goalwright_planner.events import CallFinished, SkillsSelected, Warned
from goalwright_planner.model import Reply, Request
from goalwright_planner.prompting.profile import profiles
from goalwright_planner.prompting.prompts import Prompts
from goalwright_skills.selection.ranked import RankedDetector
from tests.conftest import add_skill
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import GOAL, answering, goalwright, prepare, replayed, rows
from tests.openai_server import Fail, OpenAIServer, Say, Script
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill
    from tests.nursery import Ran

Serve = Callable[[Script], OpenAIServer]
PICK = json.dumps({"skills": [{"name": "cataloging-apis", "reason": "it catalogues  endpoints"}]})


def picking(answer: str | Exception = PICK) -> Callable[[Request], Reply | Exception]:
    """A model that answers the detector with this, and everyone else as usual."""

    def script(request: Request) -> Reply | Exception:
        if request.role != "detector":
            return answering(request)
        return answer if isinstance(answer, Exception) else Reply(answer, cost=0.01)

    return script


@pytest.fixture
def workspace(workspace: Path) -> Path:
    """The workspace with what the recorded plan uses."""
    prepare(workspace)
    return workspace


# the detector itself


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for number in range(30):
        put(
            tmp_path / "skills" / f"report-{number}", f"report-{number}", f"Writes report number {number}. " + "x" * 900
        )
    put(tmp_path / "skills" / "poems", "poems", "Writes verse.")
    return registry(tmp_path).list_skills()


class Asked:
    """Answers requests from a thread's view, and remembers them."""

    def __init__(self, answer: str | Exception, finish: str = "stop") -> None:
        self.answer, self.finish = answer, finish
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(self.answer, finish=self.finish)


def llm_detector(answer: str | Exception, finish: str = "stop") -> tuple[LlmDetector, Asked]:
    asked = Asked(answer, finish)
    return LlmDetector(RankedDetector(), Prompts(), asked), asked


def test_the_model_picks_from_a_bounded_shortlist_in_its_own_order(pool: list[Skill]) -> None:
    first, *_, last = (one.name for one in RankedDetector().rank("Write report number 2", pool, SHORTLIST))
    rows = [{"name": last, "reason": "a"}, first, {"name": "made-up"}]
    chooser, asked = llm_detector(json.dumps({"skills": rows}))
    found = chooser.detect("Write report number 2", pool)
    assert [one.name for one in found] == [last, first]
    assert [one.reason for one in found] == ["the model picked it: a", "the model picked it"]
    assert all(PICKED <= one.score <= 1 for one in found)
    (request,) = asked.requests
    assert request.role == "detector"
    assert request.messages[1].content.count("\n- report-") == SHORTLIST
    assert len(request.messages[1].content) < SHORTLIST * 450
    assert request.schema is not None
    assert chooser.warnings == []


def test_a_small_model_picks_names_from_a_few_in_a_short_prompt(pool: list[Skill]) -> None:
    shown = RankedDetector().rank("Write report number 2", pool, 6)[-1].name
    asked = Asked(json.dumps({"skills": [shown]}))
    chooser = LlmDetector(RankedDetector(), Prompts(), asked, profiles()["small"])
    found = chooser.detect("Write report number 2", pool)
    assert [(one.name, one.reason) for one in found] == [(shown, "the model picked it")]
    (request,) = asked.requests
    (message,) = request.messages
    assert message.content.count("\n- report-") == 6
    assert len(message.content) < 1_600
    assert request.schema is not None
    assert request.schema["properties"]["skills"]["items"]["type"] == "string"


def test_the_model_may_pick_nothing(pool: list[Skill]) -> None:
    chooser, _ = llm_detector('{"skills": []}')
    assert chooser.detect("Write report number 2", pool) == []
    assert chooser.warnings == []


def test_a_skill_that_the_goal_names_is_selected_whatever_the_model_says(pool: list[Skill]) -> None:
    shown = RankedDetector().rank("Write report number 3", pool, 3)[-1].name
    chooser, _ = llm_detector(json.dumps({"skills": [{"name": shown, "reason": "r"}]}))
    found = chooser.detect("Write report number 3, use skill poems", pool)
    assert [(one.name, one.score >= 0.5) for one in found] == [("poems", True), (shown, True)]


def test_no_model_is_asked_without_skills() -> None:
    chooser, asked = llm_detector(PICK)
    assert chooser.detect("Write report number 2", []) == []
    assert asked.requests == []


def test_the_same_goal_is_asked_once_for_selection_and_ranking(pool: list[Skill]) -> None:
    last = RankedDetector().rank("Write report number 2", pool, SHORTLIST)[-1].name
    chooser, asked = llm_detector(json.dumps({"skills": [last]}))
    chooser.detect("Write report number 2", pool)
    ranked = chooser.rank("Write report number 2", pool, 3)
    assert ranked[0].name == last
    assert len({one.name for one in ranked}) == 3
    assert len(asked.requests) == 1
    chooser.detect("Write report number 5", pool)
    assert len(asked.requests) == 2


@pytest.mark.parametrize(
    ("answer", "finish", "says"),
    [
        ("I would take the first one.", "stop", "prose"),
        ("", "stop", "empty"),
        ('{"skills": "report-2"}', "stop", "no list 'skills'"),
        ('{"skills": ["made-up", 7, null, {"name": ["x"]}]}', "stop", "names no skill of the shortlist"),
        ('{"skills": ["report-2"', "length", "cut off"),
        (Overloaded("busy"), "stop", "busy"),
    ],
)
def test_the_ranking_decides_if_the_answer_is_invalid(
    pool: list[Skill], answer: str | Exception, finish: str, says: str
) -> None:
    chooser, _ = llm_detector(answer, finish)
    assert chooser.detect("Write report number 2", pool) == RankedDetector().detect("Write report number 2", pool)
    (warning,) = chooser.warnings
    assert says in warning
    assert "the ranking decides" in warning


def test_a_spent_budget_raises(pool: list[Skill]) -> None:
    chooser, _ = llm_detector(BudgetSpent("spent"))
    with pytest.raises(BudgetSpent):
        chooser.detect("Write report number 2", pool)


# in a run


async def test_a_run_selects_by_its_model_and_replays_strictly(workspace: Path) -> None:
    record, model = Recorder(), ScriptedModel(picking())
    async with goalwright(workspace, model, detector="llm") as runtime:
        result = await runtime.run(GOAL, record=record)
    (chosen,) = (event for event in record.events if isinstance(event, SkillsSelected))
    assert chosen.detector == "llm"
    assert [one.name for one in chosen.selections] == ["cataloging-apis"]
    assert chosen.selections[0].reason == "the model picked it: it catalogues endpoints"
    assert [request.role for request in model.asked][:2] == ["detector", "decomposer"]
    assert result.usage.calls == 7
    assert result.cost_usd == pytest.approx(0.07)
    replay = await replayed(workspace, rows(workspace))
    assert replay.drift == ()
    assert replay.result.usage.calls == 7


@pytest.mark.slow
async def test_a_truncated_record_replays_partially(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(picking()), detector="llm") as runtime:
        await runtime.run(GOAL)
    recorded = rows(workspace)
    for length in range(1, len(recorded)):
        assert (await replayed(workspace, recorded[:length])).drift == (), f"of the first {length} rows"


@pytest.mark.changes_skills
async def test_a_changed_skill_is_drift_in_the_detectors_prompt(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(picking()), detector="llm") as runtime:
        await runtime.run(GOAL)
    path = workspace / "skills" / "cataloging-apis" / "SKILL.md"
    path.write_text(path.read_text(encoding="utf-8").replace("Catalogs", "Lists"), encoding="utf-8")
    drift = (await replayed(workspace, rows(workspace))).drift
    assert drift[0].where == "detector, call 1"


async def test_a_failed_call_warns_and_replays(workspace: Path) -> None:
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(picking("no idea")), detector="llm") as runtime:
        assert (await runtime.run(GOAL, record=record)).status == "done"
    assert any("the ranking decides" in event.message for event in record.events if isinstance(event, Warned))
    (chosen,) = (event for event in record.events if isinstance(event, SkillsSelected))
    assert "cataloging-apis" in [one.name for one in chosen.selections]


async def test_a_resumed_run_does_not_select_again(workspace: Path) -> None:
    stop, model = Stop(), ScriptedModel(picking())
    async with goalwright(workspace, model, detector="llm") as runtime:

        def watch(event: object) -> None:
            if isinstance(event, CallFinished) and event.role == "decomposer":
                stop.set()

        assert (await runtime.run(GOAL, record=watch, stop=stop)).status == "interrupted"
        assert (await runtime.resume("last")).status == "done"
    assert [request.role for request in model.asked].count("detector") == 1


async def test_the_budget_covers_the_detectors_call(workspace: Path) -> None:
    model = ScriptedModel(picking())
    async with goalwright(workspace, model, detector="llm", max_cost=0.12) as runtime:
        result = await runtime.run(GOAL)
    assert result.status == "stopped"
    assert [request.role for request in model.asked] == ["detector"]


async def test_detectors_of_two_goals_run_concurrently(workspace: Path) -> None:
    class Together(ScriptedModel):
        """Answers the detector only once two goals have asked."""

        both = asyncio.Barrier(2)

        async def complete(self, request: Request) -> Reply:
            if request.role == "detector":
                await asyncio.wait_for(self.both.wait(), 60)
            return await super().complete(request)

    async with goalwright(workspace, Together(picking()), detector="llm") as runtime:
        results = await asyncio.gather(runtime.run(GOAL), runtime.run(GOAL))
    assert [result.skills for result in results] == [("cataloging-apis",)] * 2


async def test_stopping_a_run_cancels_the_detectors_call(workspace: Path) -> None:
    asked, ended, stop = asyncio.Event(), asyncio.Event(), Stop()

    class Endless:
        name = "endless"

        async def complete(self, request: Request) -> Reply:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return Reply("")

    from goalwright.runs.runtime import Goalwright

    async with Goalwright(workspace, Settings(model="x", detector="llm"), open_model=lambda _: Endless()) as runtime:
        work = asyncio.ensure_future(runtime.run(GOAL, stop=stop))
        await asked.wait()
        stop.set()
        assert (await work).status == "interrupted"
    await asyncio.wait_for(ended.wait(), 30)


async def test_a_closed_model_asks_nothing() -> None:
    model = ScriptedModel(picking())
    with BlockingModel(model) as line:
        pass
    with pytest.raises(asyncio.CancelledError):
        await line._ask(Request(()))
    assert model.asked == []


async def test_a_preview_asks_nothing(workspace: Path) -> None:
    model = ScriptedModel(picking())
    async with goalwright(workspace, model, detector="llm") as runtime:
        preview = await runtime.preview(Goal(GOAL))
    assert model.asked == []
    assert "cataloging-apis" in [one.name for one in preview.selections]
    assert "1 to select skills" in preview.calls


async def test_the_detector_may_have_its_own_model(workspace: Path) -> None:
    opened: list[str] = []
    model = ScriptedModel(picking())

    def open_model(name: str) -> ScriptedModel:
        opened.append(name)
        return replace(model, name=name)

    from goalwright.runs.runtime import Goalwright

    settings = Settings(model="large", detector="llm", detector_model="small")
    async with Goalwright(workspace, settings, open_model=open_model) as runtime:
        assert runtime.models.names == ("small", "large")
        assert (await runtime.run(GOAL)).status == "done"
    assert opened == ["small", "large"]


def test_among_models_detector_means_the_detectors_model(tmp_path: Path) -> None:
    (tmp_path / "goalwright.toml").write_text('detector = "llm"\n[models]\ndetector = "small"\n', encoding="utf-8")
    settings = resolve({}, {}, tmp_path, tmp_path / "none.toml").settings
    assert (settings.detector, settings.detector_model) == ("llm", "small")


# on the command line


def select(goalwright: Callable[..., Ran], workspace: Path, *arguments: str) -> Ran:
    return goalwright("skills", "select", "--detector", "llm", "--model", "openai/test", *arguments, cwd=workspace)


def test_the_command_line_selects_without_a_run(
    workspace: Path, goalwright: Callable[..., Ran], serve: Serve, tmp_path: Path
) -> None:
    server = serve(lambda _: Say(PICK))
    ran = select(goalwright, workspace, "--json", GOAL)
    assert ran.status == 0, ran.err
    (chosen,) = json.loads(ran.out)["selected"]
    assert (chosen["name"], chosen["reason"]) == ("cataloging-apis", "the model picked it: it catalogues endpoints")
    goals = tmp_path / "goals.txt"
    goals.write_text(f"{GOAL}\nWrite API documentation\n", encoding="utf-8")
    ran = select(goalwright, workspace, "--top", "2", "--from", str(goals))
    lines: list[dict[str, Any]] = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["selected"][0]["name"] for line in lines] == ["cataloging-apis"] * 2
    assert len(server.calls) == 3
    assert not (workspace / ".agents").exists()


def test_the_command_line_falls_back_with_a_warning(
    workspace: Path, goalwright: Callable[..., Ran], serve: Serve
) -> None:
    serve(lambda _: Fail(400, "no such luck"))
    ran = select(goalwright, workspace, GOAL)
    assert ran.status == 0
    assert "cataloging-apis" in ran.out
    assert "the ranking decides" in ran.err


def test_a_missing_model_is_explained(workspace: Path, goalwright: Callable[..., Ran]) -> None:
    ran = goalwright("skills", "select", "--detector", "llm", GOAL, cwd=workspace)
    assert (ran.status, ran.out) == (4, "")
    assert (
        "no model is configured" in ran.err or "goalwright models pull" in ran.err
    )  # the latter with goalwright[local] installed


async def test_reselection_needs_a_detector_without_a_model(workspace: Path, goalwright: Callable[..., Ran]) -> None:
    add_skill(workspace, "poems", "---\nname: poems\ndescription: Writes verse.\n---\nx")
    from tests.goalwright import recorded

    verse = json.dumps({"skills": [{"name": "poems", "reason": "verse"}]})
    async with recorded.goalwright(workspace, ScriptedModel(picking(verse)), detector="llm") as runtime:
        await runtime.run(GOAL)
    refused = await asyncio.to_thread(goalwright, "replay", "--select", cwd=workspace)
    assert (refused.status, "a model selected their skills" in refused.err) == (2, True)
    ran = await asyncio.to_thread(goalwright, "replay", "--select", "--check", "--detector", "ranked", cwd=workspace)
    assert ran.status == 3, "the other detector selects others"
    assert "- poems" in ran.out
    async with recorded.goalwright(workspace, ScriptedModel(picking(verse))) as runtime:
        await runtime.run(GOAL)
    mixed = await asyncio.to_thread(goalwright, "replay", "--select", "--check", cwd=workspace)
    assert (mixed.status, "1 run, 0 selected differently" in mixed.out) == (0, True)
    assert "1 run left out" in mixed.err
