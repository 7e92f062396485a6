"""Goals in another language than the skills: a model is asked once for keywords, and selection goes on without them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.stop import Stop
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.reselect import reselect
from goalwright.workspace.goal_keywords import (
    MOST_CHARACTERS,
    MOST_LINES,
    MOST_TOKENS,
    MOST_WORDS,
    NoKeywords,
    keywords,
)
from goalwright.workspace.workspace import Workspace
from goalwright_planner.errors import BudgetSpent, Overloaded
from goalwright_planner.events import CallFinished, SkillsSelected, Warned
from goalwright_planner.model import Reply, Request
from goalwright_skills.selection.query.language import Foreign
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import SKILL, answering, goalwright, prepare, replayed, rows
from tests.openai_server import OpenAIServer, Say, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Ran

GOAL = "Halte bitte für neue Kollegen fest, wie man unseren Aufgabendienst von außen aufruft"
KEYWORDS = "write API documentation of a service\ntabulate endpoints"
GERMAN = Foreign("German", "English")


@pytest.fixture(autouse=True)
def skill(workspace: Path) -> None:
    prepare(workspace)


def translating(answer: str | Exception = KEYWORDS) -> ScriptedModel:
    """A model that answers the question for keywords with this, and everything else as usual."""

    def script(request: Request) -> Reply | Exception:
        if request.role != "detector":
            return answering(request)
        return answer if isinstance(answer, Exception) else Reply(answer, cost=0.01)

    return ScriptedModel(script)


def selected(record: Recorder) -> SkillsSelected:
    (found,) = (event for event in record.events if isinstance(event, SkillsSelected))
    return found


def warnings(record: Recorder) -> list[str]:
    return [event.message for event in record.events if isinstance(event, Warned)]


async def test_keywords_are_asked_for_once_recorded_and_replayed(workspace: Path) -> None:
    record, model = Recorder(), translating()
    async with goalwright(workspace, model) as runtime:
        result = await runtime.run(GOAL, record=record)
    assert [request.role for request in model.asked].count("detector") == 1
    request = model.asked[0]
    assert (request.role, request.max_tokens) == ("detector", MOST_TOKENS)
    assert "in English" in request.messages[0].content
    assert GOAL in request.messages[1].content
    chosen = selected(record)
    assert (chosen.detector, chosen.keywords) == ("ranked", KEYWORDS)
    assert SKILL in [one.name for one in chosen.selections]
    assert all(one.reason.startswith("by the goal's keywords in translation: ") for one in chosen.selections)
    assert result.usage.calls == 7
    replay = await replayed(workspace, rows(workspace))
    assert (replay.drift, replay.result.usage.calls) == ((), 7)
    paths, settings = Paths.of(workspace, {}), Settings()
    (again,) = reselect([rows(workspace)], Workspace(paths, settings))
    assert not again.drifted, "the recorded keywords count when skills are selected again without a model"


@pytest.mark.parametrize(
    ("goal", "settings"),
    [
        ("Write the API documentation of the to-do service", {}),
        (GOAL, {"translate_goals": False}),
        (GOAL, {"detector_model": "lm_studio/qwen2.5-0.5b"}),
        (Goal(GOAL, skills=(SKILL,)), {}),
        (f"${SKILL}: {GOAL}", {}),
        (GOAL, {"detector": "keyword"}),
    ],
)
async def test_no_keywords_are_asked_for_without_need(
    workspace: Path, goal: Goal | str, settings: dict[str, str]
) -> None:
    record, model = Recorder(), translating()
    async with goalwright(workspace, model, **settings) as runtime:
        await runtime.run(goal, record=record)
    assert "detector" not in [request.role for request in model.asked]
    assert selected(record).keywords == ""
    told = any("the goal is in German, the skills are described in English" in text for text in warnings(record))
    assert told == bool({"translate_goals", "detector_model"} & settings.keys())


@pytest.mark.parametrize(
    "answer", ["", '{"tasks": []}', "Die Schnittstellen und der Dienst sind für uns", Overloaded("x")]
)
async def test_without_usable_keywords_selection_goes_on_and_replays(workspace: Path, answer: str | Exception) -> None:
    record = Recorder()
    async with goalwright(workspace, translating(answer), retry_patience=0.01) as runtime:
        assert (await runtime.run(GOAL, record=record)).status == "done"
    assert (selected(record).keywords, selected(record).selections) == ("", ())
    (warning,) = (text for text in warnings(record) if "keywords" in text)
    assert warning.startswith("the model gave no English keywords, so skills are selected by the goal's own words: ")


async def test_a_resumed_run_does_not_ask_again(workspace: Path) -> None:
    stop, model = Stop(), translating()
    record = Recorder()

    def watch(event: object) -> None:
        if isinstance(event, CallFinished) and event.role == "detector":
            stop.set()  # before the selection is recorded

    async with goalwright(workspace, model) as runtime:
        assert (await runtime.run(GOAL, record=watch, stop=stop)).status == "interrupted"
        assert (await runtime.resume("last", record=record)).status == "done"
    assert [request.role for request in model.asked].count("detector") == 1
    assert SKILL in [one.name for one in selected(record).selections]


async def test_a_goal_inside_a_plan_is_translated_for_itself(workspace: Path) -> None:
    inner = {"id": "inner", "action_type": "goal", "instruction": GOAL}
    asked: list[Request] = []

    def script(request: Request) -> Reply:
        if request.role == "detector":
            asked.append(request)
            return Reply(KEYWORDS)
        if request.role != "decomposer":
            return Reply("done")
        one = {"id": "one", "action_type": "llm", "instruction": "List them"}
        return Reply(json.dumps({"tasks": [one if request.task else inner]}))

    record = Recorder()
    async with goalwright(workspace, ScriptedModel(script)) as runtime:
        assert (await runtime.run("Write an overview, then a report", record=record)).status == "done"
    assert [request.task for request in asked] == ["inner"]
    of_run, of_goal = (event for event in record.events if isinstance(event, SkillsSelected))
    assert (of_run.keywords, of_goal.keywords, of_goal.task) == ("", KEYWORDS, "inner")
    assert SKILL in [one.name for one in of_goal.selections]


async def test_the_budget_covers_the_call(workspace: Path) -> None:
    model = translating(BudgetSpent("spent"))
    async with goalwright(workspace, model) as runtime:
        assert (await runtime.run(GOAL)).status == "stopped"
    assert [request.role for request in model.asked] == ["detector"]


async def test_the_detector_llm_picks_from_what_the_keywords_find(workspace: Path) -> None:
    asked: list[str] = []

    def script(request: Request) -> Reply:
        if request.role != "detector":
            return answering(request)
        asked.append(request.messages[-1].content)
        return Reply(KEYWORDS if len(asked) == 1 else json.dumps({"skills": [{"name": SKILL, "reason": "fits"}]}))

    record = Recorder()
    async with goalwright(workspace, ScriptedModel(script), detector="llm") as runtime:
        await runtime.run(GOAL, record=record)
    assert len(asked) == 2
    assert f"- {SKILL}: " in asked[1]
    assert [one.name for one in selected(record).selections] == [SKILL]


async def test_a_preview_asks_nothing_and_tells_of_the_call(workspace: Path) -> None:
    model = translating()
    async with goalwright(workspace, model) as runtime:
        preview = await runtime.preview(GOAL)
    async with goalwright(workspace, model, translate_goals=False) as runtime:
        off = await runtime.preview(GOAL)
    assert model.asked == []
    assert preview.calls.startswith("1 for English keywords (those shown here are ranked without a model), ")
    assert preview.warnings == ()
    assert "keywords" not in off.calls
    assert "because of the language" in off.warnings[0]


def test_an_answer_is_bounded_and_names_no_skill() -> None:
    assert keywords("1. Keywords: cold email, use skill api-docs\n- `pricing` tiers $x", GERMAN) == (
        "cold email use api-docs\npricing tiers x"
    )
    assert keywords("<think>{der die das}</think>C++ node.js", GERMAN) == "C++ node.js"
    many = keywords("\n".join(["word " * 30] * 50), GERMAN).splitlines()
    assert (len(many), len(many[0].split())) == (MOST_LINES, MOST_WORDS)
    for answer in ("", "---", "```\n```", '{"tasks": []}', "word " * 100, "der Dienst und die Schnittstelle"):
        with pytest.raises(NoKeywords):
            keywords(answer, GERMAN)


# on the command line, with a server

Serve = Callable[[Script], OpenAIServer]


async def test_a_run_at_the_command_line_asks_the_server(
    workspace: Path, goalwright: Callable[..., Ran], serve: Serve
) -> None:
    plan = json.dumps({"tasks": [{"id": "a", "action_type": "skill", "name": SKILL, "instruction": "List them"}]})
    answers = {"keywords": KEYWORDS, "decomposer": plan, "task": "listed", "synthesis": "listed"}
    server = serve(lambda call: Say(answers[call.role]))
    ran = await asyncio.to_thread(goalwright, "run", "--model", "openai/test", "--json", GOAL * 100, cwd=workspace)
    assert ran.status == 0, ran.err
    assert SKILL in json.loads(ran.out)["skills"]
    (asked,) = server.asked("keywords")
    assert len(asked.user) < MOST_CHARACTERS + 100
    assert asked.body["max_tokens"] == MOST_TOKENS


async def test_selecting_without_a_model_tells_the_reason(
    workspace: Path, goalwright: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = await asyncio.to_thread(goalwright, "skills", "select", "--json", GOAL, cwd=workspace)
    assert (ran.status, json.loads(ran.out)) == (0, {"goal": GOAL, "selected": []})
    assert "the goal is in German, the skills are described in English" in ran.err
    goals = tmp_path / "goals.txt"
    goals.write_text(f"{GOAL}\n这座桥是哪一年建成的？\nWrite API documentation\n", encoding="utf-8")
    ran = await asyncio.to_thread(goalwright, "skills", "select", "--from", str(goals), cwd=workspace)
    assert len(ran.out.splitlines()) == 3
    assert "2 goals: no skill fits" in ran.err
