"""A goal from start to end, against a real server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from goalwright.runs.goal import Goal
from goalwright.runs.run_goal import run_goal
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stop import Stop
from goalwright.settings.settings import Settings
from goalwright_executor.model_loop.model_loop import NOTE
from goalwright_planner.errors import KeyRefused, RequestRefused, TemplateError, UnknownModel
from goalwright_planner.events import (
    CallRetried,
    Event,
    PlanRefused,
    PromptMade,
    RunFinished,
    SkillLoaded,
    SkillsSelected,
    TextStreamed,
    Warned,
)
from goalwright_planner.prompting.prompts import SEED
from goalwright_skills.errors import InputError
from tests.conftest import trust
from tests.fakes import Recorder
from tests.openai_server import Answer, Call, Drop, Fail, OpenAIServer, Say, Script, in_turn, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.journal.journal import Journal

Serve = Callable[[Script], OpenAIServer]
MODEL = "openai/test-model"
GOAL = "Look at the endpoints of the to-do service"


def task(task_id: str, *before: str, **more: Any) -> dict[str, Any]:
    row = {"id": task_id, "action_type": "llm", "instruction": f"do {task_id}", "depends_on": list(before)}
    return row | more


SKILL = task("survey", action_type="skill", name="cataloging-apis", arguments="the public ones")
PLAN = {"tasks": [SKILL, task("brief", "survey", instruction="Brief: <<survey.output>>")], "synthesis": "briefly"}
TWO = {"tasks": [task("a"), task("b")], "synthesis": "both"}


def quick(**more: Any) -> Settings:
    return replace(Settings(model=MODEL, retry_patience=30.0), **more)


async def run(workspace: Path, goal: Goal | str = GOAL, **more: Any) -> tuple[Any, Recorder]:
    record = Recorder()
    async with Goalwright(workspace, quick(**more)) as goalwright:
        return await goalwright.run(goal, record=record), record


async def test_the_skill_is_selected_listed_planned_with_and_followed(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(PLAN))
    result, record = await run(workspace)

    assert result.status == "done"
    assert result.answer == "the answer"
    assert result.skills[0] == "cataloging-apis"
    planning, survey, brief, synthesis = server.calls
    assert "<name>cataloging-apis</name>" in planning.system
    folder = workspace / "skills" / "cataloging-apis"
    assert survey.system.startswith(f"Base directory for this skill: {folder}")
    assert "Keep {{braces}} and <<marks>> as they are. Focus on: the public ones" in survey.system
    assert GOAL in survey.user
    assert instruction(survey) == "do survey"
    assert instruction(brief) == "Brief: did: do survey"
    assert "do survey" not in brief.user.replace("did: do survey", "")
    assert "did: Brief: did: do survey" in synthesis.user
    selected = record.of(SkillsSelected)
    assert len(selected) == 1
    assert [event.name for event in record.events if isinstance(event, SkillLoaded)] == ["cataloging-apis"]


async def test_the_result_has_every_field_of_the_contract(workspace: Path, serve: Serve) -> None:
    serve(scripted(PLAN))
    document = (await run(workspace))[0].to_dict()
    assert list(document) == [
        "run_id", "status", "goal", "answer", "error", "question", "skills", "skills_used", "warnings",
        "tasks", "usage", "model", "recipe", "conversation", "cost_usd", "artifacts", "waiting", "journal",
    ]  # fmt: skip
    assert list(document["tasks"][0]) == [
        "id", "action_type", "name", "status", "attempts", "seconds", "output", "error",
    ]  # fmt: skip
    tokens = {"prompt_tokens": 40, "completion_tokens": 20, "cached_tokens": 0}
    assert document["usage"] == {"calls": 4, **tokens, "estimated_calls": 0}
    assert document["cost_usd"] is None
    json.dumps(document)


async def test_known_prices_are_added(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO))
    result, _ = await run(workspace, model="openai/gpt-4o")
    assert result.cost_usd is not None
    assert result.cost_usd == pytest.approx(4 * (10 * 2.5e-6 + 5 * 10e-6))


async def test_independent_tasks_overlap(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(TWO, task=lambda _: Say("ok", after=0.3)))
    await run(workspace)
    first, second = server.asked("task")
    assert abs(first.at - second.at) < 0.3


async def test_a_failing_task_fails_alone_and_the_answer_says_what_is_missing(workspace: Path, serve: Serve) -> None:
    plan = {"tasks": [task("good"), task("bad", title="The hard part"), task("after", "bad")], "synthesis": "join"}

    def some(call: Call) -> Answer:
        return Fail(400, "too hard for me") if instruction(call) == "do bad" else Say("fine")

    server = serve(scripted(plan, task=some))
    result, _ = await run(workspace)
    assert result.status == "partial"
    states = {one.id: one.status for one in result.tasks}
    assert states == {"good": "done", "bad": "failed", "after": "skipped"}
    assert "too hard for me" in {one.id: one for one in result.tasks}["bad"].error
    assert result.answer.startswith("the answer")
    assert "The hard part" in result.answer
    assert len(server.asked("task")) == 2


async def test_a_run_in_which_everything_fails_has_failed(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(TWO, task=lambda _: Fail(400, "no")))
    result, _ = await run(workspace)
    assert (result.status, result.answer) == ("failed", None)
    assert server.asked("synthesis") == []


async def test_results_are_the_answer_if_synthesis_fails(workspace: Path, serve: Serve) -> None:
    def script(call: Call) -> Answer:
        return Fail(400, "no synthesis today") if call.role == "synthesis" else scripted(TWO)(call)

    serve(script)
    result, _ = await run(workspace)
    assert result.status == "partial"
    assert "did: do a" in result.answer
    assert "no synthesis today" in result.error


async def test_a_truncated_answer_is_marked(workspace: Path, serve: Serve) -> None:
    def script(call: Call) -> Answer:
        return Say(json.dumps(TWO)) if call.role == "decomposer" else Say("half ", finish="length")

    serve(script)
    result, record = await run(workspace)
    assert result.status == "done"
    assert result.answer == f"half half half half\n\n{NOTE}"
    assert all(one["output"].endswith(NOTE) for one in result.to_dict()["tasks"])
    said = [event.message for event in record.events if isinstance(event, Warned) and "cut off" in event.message]
    assert len(said) == 3


async def test_results_are_the_answer_if_synthesis_is_empty(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO, synthesis=""))
    result, _ = await run(workspace)
    assert result.status == "partial"
    assert "did: do a" in result.answer
    assert "gave no answer" in result.error


@pytest.mark.slow
async def test_transient_errors_are_retried_after_retry_after(workspace: Path, serve: Serve) -> None:
    faults: list[Answer] = [Fail(429, "slow down", {"Retry-After": "1"}), Fail(500), Drop(), Fail(503)]

    def flaky(call: Call) -> Answer:
        return faults.pop(0) if faults else Say("at last")

    server = serve(scripted({"tasks": [task("a")]}, task=flaky))
    result, record = await run(workspace)
    assert result.status == "done"
    assert result.answer == "at last"
    first, second = server.asked("task")[:2]
    assert second.at - first.at >= 1.0
    assert len(record.of(CallRetried)) == 4
    assert result.tasks[0].attempts == 5


@pytest.mark.parametrize(
    ("status", "error"), [(401, KeyRefused), (403, KeyRefused), (404, UnknownModel), (400, RequestRefused)]
)
async def test_a_refusal_while_planning_is_not_retried(
    workspace: Path, serve: Serve, status: int, error: type[Exception]
) -> None:
    server = serve(lambda _: Fail(status, "no"))
    record = Recorder()
    with pytest.raises(error):
        async with Goalwright(workspace, quick()) as goalwright:
            await goalwright.run(GOAL, record=record)
    assert len(server.calls) == 1
    assert isinstance(record.events[-1], RunFinished)


async def test_a_provider_that_stays_down_ends_in_a_failed_run(workspace: Path, serve: Serve) -> None:
    server = serve(lambda _: Fail(429, "later", {"Retry-After": "3600"}))
    result, _ = await run(workspace)
    assert result.status == "failed"
    assert "later" in result.error
    assert len(server.calls) == 1


async def test_the_fallback_model_continues(workspace: Path, serve: Serve) -> None:
    def script(call: Call) -> Answer:
        return Fail(404, "no such model") if call.body["model"] == "gone" else scripted(TWO)(call)

    server = serve(script)
    result, record = await run(workspace, model="openai/gone", fallback=(MODEL,))
    assert result.status == "done"
    assert {call.body["model"] for call in server.calls} == {"gone", "test-model"}
    assert any(
        "falling back to openai/test-model" in event.message for event in record.events if isinstance(event, Warned)
    )


async def test_each_role_may_have_its_own_model(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(TWO))
    await run(workspace, decomposer="openai/planner", synthesis="openai/writer")
    assert [call.body["model"] for call in server.calls] == ["planner", "test-model", "test-model", "writer"]


async def test_a_skill_may_ask_for_its_own_model(workspace: Path, serve: Serve) -> None:
    path = workspace / "skills" / "cataloging-apis" / "SKILL.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("\n---\n#", "\nmodel: openai/special\n---\n#"), encoding="utf-8"
    )
    server = serve(scripted({"tasks": [SKILL]}))
    await run(workspace)
    assert [call.body["model"] for call in server.calls] == ["test-model", "special"]


@pytest.mark.parametrize("model", ["oobabooga/{url}", "huggingface/{url}", "openai/{url}"])
async def test_a_skill_may_not_ask_for_an_address(workspace: Path, serve: Serve, model: str) -> None:
    server, stranger = serve(scripted({"tasks": [SKILL]})), serve(scripted({"tasks": [SKILL]}))
    serve(scripted({"tasks": [SKILL]}))
    path = workspace / "skills" / "cataloging-apis" / "SKILL.md"
    named = f"\nmodel: {model.format(url=stranger.base)}\n---\n#"
    path.write_text(path.read_text(encoding="utf-8").replace("\n---\n#", named), encoding="utf-8")
    assert (await run(workspace))[0].status == "done"
    assert not stranger.calls
    assert not server.calls


async def test_the_working_response_format_is_remembered(workspace: Path, serve: Serve) -> None:
    def script(call: Call) -> Answer:
        if "response_format" in call.body:
            return Fail(400, f"response_format {call.body['response_format']['type']} is not supported")
        return scripted(TWO)(call)

    server = serve(script)
    assert (await run(workspace))[0].status == "done"
    formats = [call.body.get("response_format", {}).get("type") for call in server.asked("decomposer")]
    assert formats == ["json_schema", "json_object", None]
    server.calls.clear()
    assert (await run(workspace))[0].status == "done"
    assert len(server.asked("decomposer")) == 1


async def test_a_model_without_tools_is_asked_in_the_prompt(workspace: Path, serve: Serve) -> None:
    (workspace / "notes.md").write_text("the secret is 42", encoding="utf-8")

    def script(call: Call) -> Answer:
        if call.body.get("tools"):
            return Fail(400, "this model does not support tools")
        if call.role != "task":
            return scripted({"tasks": [task("a")]})(call)
        if "Result of the tool" in call.user:
            return Say("it is 42" if "the secret is 42" in call.user else "I saw nothing")
        assert "ReadFile" in call.user
        assert "ReadFile" not in call.system
        return Say('{"tool": "ReadFile", "arguments": {"path": "notes.md"}}')

    serve(script)
    result, _ = await run(workspace)
    assert result.answer == "it is 42"


async def test_tools_are_called_in_a_loop(workspace: Path, serve: Serve) -> None:
    (workspace / "notes.md").write_text("the secret is 42", encoding="utf-8")

    def script(call: Call) -> Answer:
        if call.tool_results:
            skill, read = call.tool_results
            assert '<skill-loaded name="cataloging-apis">' in skill["text"]
            return Say(read["text"])
        return Say(tool_calls=(("Skill", {"name": "cataloging-apis"}), ("ReadFile", {"path": "notes.md"})))

    server = serve(scripted({"tasks": [task("a")]}, task=script))
    result, _ = await run(workspace)
    assert "the secret is 42" in result.answer
    offered = {tool["function"]["name"]: tool["function"] for tool in server.asked("task")[0].body["tools"]}
    assert {"Skill", "ReadFile", "ListFiles"} <= set(offered)
    assert "<name>cataloging-apis</name>" in offered["Skill"]["description"]


@pytest.mark.parametrize("limit", [{"max_tokens": 12_000}, {"max_cost": 0.1}])
async def test_a_budget_stops_the_run(workspace: Path, serve: Serve, limit: dict[str, Any]) -> None:
    def script(call: Call) -> Answer:
        return Say("done", tokens=(10, min(9_000, call.body["max_tokens"])))

    server = serve(scripted({"tasks": [task("a"), task("b", "a"), task("c", "b")]}, task=script))
    result, _ = await run(workspace, model="openai/gpt-4o", **limit)
    assert result.status == "stopped"
    assert "stopped at" in result.error
    assert 2 <= len(server.calls) <= 3
    assert result.tasks[0].status == "done"
    assert [one.status for one in result.tasks[1:]] in (["cancelled", "pending"], ["done", "cancelled"])


async def test_an_unknown_price_causes_a_warning(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO))
    result, record = await run(workspace, max_cost=1.0, allow_unknown_cost=True)
    assert (result.status, result.cost_usd) == ("done", None)
    assert any("price of openai/test-model is unknown" in e.message for e in record.events if isinstance(e, Warned))


@pytest.mark.slow
async def test_a_run_that_takes_too_long_is_stopped(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO))
    await run(workspace)  # where this is the first test, loading litellm would take all of the time
    serve(scripted(TWO, task=lambda _: Say("late", after=20)))
    result, _ = await run(workspace, timeout=5.0)
    assert result.status == "stopped"
    assert "after 5 s" in result.error
    assert {one.status for one in result.tasks} == {"cancelled"}


async def test_a_person_can_stop_a_run(workspace: Path, serve: Serve) -> None:
    stop = Stop()

    def slow(call: Call) -> Answer:
        return Say("quick") if instruction(call) == "do a" else Say("late", after=20)

    serve(scripted(TWO, task=slow))

    def watch(event: Event) -> None:
        if getattr(event, "task", None) == "a" and getattr(event, "status", None) == "done":
            stop.set()

    async with Goalwright(workspace, quick()) as goalwright:
        result = await goalwright.run(GOAL, record=watch, stop=stop)
    assert result.status == "interrupted"
    assert [one.status for one in result.tasks] == ["done", "cancelled"]


async def test_a_question_is_a_result_and_its_answer_reaches_the_planner(workspace: Path, serve: Serve) -> None:
    server = serve(lambda _: Say('{"tasks": [], "clarification": "Which service?"}'))
    result, _ = await run(workspace)
    assert (result.status, result.question) == ("waiting", "Which service?")
    await run(workspace, Goal(GOAL, answers=("the to-do one",)))
    assert "the to-do one" in server.calls[-1].user


async def test_a_broken_plan_is_asked_for_again(workspace: Path, serve: Serve) -> None:
    broken = Say(
        '```json\n{"tasks": [{"id": "a", "action_type": "skill", "name": "cataloging", "depends_on": ["x"]},]}\n```'
    )
    answers = [broken, Say(json.dumps({"tasks": [task("a")]}))]
    server = serve(lambda call: answers.pop(0) if call.role == "decomposer" else Say("ok"))
    result, record = await run(workspace)
    assert result.status == "done"
    assert len(record.of(PlanRefused)) == 1
    again = server.asked("decomposer")[1].user
    assert "there is no skill 'cataloging'; known are: cataloging-apis" in again
    assert "'a' depends on 'x'" in again


async def test_planning_fails_after_three_calls_with_the_faults(workspace: Path, serve: Serve) -> None:
    server = serve(in_turn(Say("no")))
    result, _ = await run(workspace)
    assert (result.status, len(server.calls)) == ("failed", 3)
    assert "prose without a JSON object" in result.error


async def test_long_results_are_shortened_and_can_be_read_in_full(workspace: Path, serve: Serve) -> None:
    plan = {"tasks": [task("long"), task("reads", "long")]}

    def script(call: Call) -> Answer:
        if instruction(call) == "do long":
            return Say("word " * 4_000 + "THE END")
        if call.tool_results:
            return Say(call.tool_results[0]["text"])
        path = call.user.partition("read the rest with ReadFile, path ")[2].partition("]")[0]
        return Say(tool_calls=(("ReadFile", {"path": path, "offset": 19_000}),))

    serve(scripted(plan, task=script))
    result, _ = await run(workspace, input_budget=2_000)
    assert "THE END" in result.answer


async def test_files_are_named_to_the_planner_and_can_be_read(workspace: Path, tmp_path: Path, serve: Serve) -> None:
    given = tmp_path / "elsewhere.md"
    given.write_text("from elsewhere", encoding="utf-8")

    def script(call: Call) -> Answer:
        if call.tool_results:
            return Say(call.tool_results[0]["text"])
        return Say(tool_calls=(("ReadFile", {"path": str(given)}),))

    server = serve(scripted({"tasks": [task("a")]}, task=script))
    result, _ = await run(workspace, Goal(GOAL, files=(given,)))
    assert str(given) in server.calls[0].user
    assert "from elsewhere" in result.answer


async def test_streamed_pieces_arrive_as_events_and_make_the_same_answer(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO, synthesis="one two three"))
    result, record = await run(workspace, Goal(GOAL, stream=True))
    pieces = [event.text for event in record.events if isinstance(event, TextStreamed)]
    assert result.error is None
    assert "".join(pieces) == result.answer == "one two three"
    assert result.usage.calls == 4
    assert result.usage.prompt_tokens == 40


async def test_run_goal_returns_the_same_result(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO))
    result = await run_goal(GOAL, model=MODEL, workspace=workspace, settings={"max_concurrency": 1})
    assert result.status == "done"


async def test_events_can_be_iterated_as_they_happen(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO))
    async with Goalwright(workspace, quick()) as goalwright, goalwright.events(GOAL) as events:
        kinds = [type(event).__name__ async for event in events]
    assert kinds[0] == "RunStarted"
    assert kinds[-1] == "RunFinished"


async def test_a_provider_key_selects_the_default_model(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(TWO))
    async with Goalwright(workspace, Settings()) as goalwright:
        result = await goalwright.run(GOAL)
    assert result.status == "done"
    assert {call.body["model"] for call in server.calls} == {"gpt-6.1-sol"}


async def test_a_requested_skill_comes_first_or_is_refused(workspace: Path, serve: Serve) -> None:
    serve(scripted(TWO))
    result, _ = await run(workspace, Goal("Bake bread", skills=("cataloging-apis",)))
    assert result.skills[0] == "cataloging-apis"
    with pytest.raises(InputError, match="there is no skill 'cataloging'"):
        await run(workspace, Goal("Bake bread", skills=("cataloging",)))


@pytest.mark.parametrize("text", ["", "  \n", "x" * 300_000])
def test_invalid_goals_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Goal(text)


async def test_a_preview_makes_no_call(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(TWO))
    async with Goalwright(workspace, quick()) as goalwright:
        preview = await goalwright.preview(GOAL)
    assert server.calls == []
    assert "cataloging-apis" in preview.messages[0].content
    assert preview.prompt_tokens > 100


@pytest.mark.changes_skills  # the fixture's replay knows nothing of these prompts
async def test_a_relative_seed_begins_at_the_workspace(workspace: Path, serve: Serve) -> None:
    server = serve(scripted({"tasks": [task("a")]}))
    (workspace / "prompts").mkdir()
    text = '<% extends "seed/task.j2" %><% block system %>MINE <<super()>><% endblock %>'
    (workspace / "prompts" / "task.j2").write_text(text, encoding="utf-8")
    await run(workspace, seed="prompts")
    assert server.asked("task")[0].system.startswith("MINE ")


async def test_no_default_model_is_needed_if_every_role_has_one(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(PLAN))
    settings = Settings(decomposer="openai/planner", task="openai/worker", synthesis="openai/writer")
    async with Goalwright(workspace, settings) as goalwright:
        assert goalwright.models.names == ("openai/planner", "openai/worker", "openai/writer")
        assert (await goalwright.run(GOAL)).status == "done"
    assert [call.body["model"] for call in server.calls] == ["planner", "worker", "worker", "writer"]
    assert goalwright.settings.model is None


@pytest.mark.parametrize("name", ["synthesis.j2", "task.j2"])
async def test_a_broken_template_stops_a_run_before_any_call(workspace: Path, serve: Serve, name: str) -> None:
    server = serve(scripted(PLAN))
    folder = workspace / ".agents" / "seed"
    folder.mkdir(parents=True)
    (folder / name).write_text(f'<% extends "seed/{name}" %><% block user %><<super()>><<goals>><% endblock %>')
    trust(workspace)
    async with Goalwright(workspace, quick()) as goalwright:
        with pytest.raises(TemplateError, match="line 1: there is no <<goals>>"):
            await goalwright.run(GOAL)
        assert not list(goalwright.journal.store.summaries())
    assert not server.calls


async def test_tasks_and_synthesis_give_their_templates_what_the_agents_name(workspace: Path, serve: Serve) -> None:
    serve(scripted(PLAN))
    _, record = await run(workspace)
    agents = yaml.safe_load((SEED / "agents.yaml").read_text(encoding="utf-8"))["agents"]
    made = [event for event in record.events if isinstance(event, PromptMade)]
    assert {event.role for event in made} == {"decomposer", "task", "synthesis"}
    for event in made:
        for agent in (event.role, f"{event.role}-small"):
            given = set(agents[agent]["blocks"]["user"]) - {"images", "tool_lines", "material"}  # there are none
            assert given == set(event.variables)


async def test_threads_open_one_journal(workspace: Path) -> None:
    together = threading.Barrier(4)

    def journal() -> Journal:
        together.wait(120)
        return runtime.journal

    async with Goalwright(workspace, quick()) as runtime:
        opened = await asyncio.gather(*(asyncio.to_thread(journal) for _ in range(4)))
    assert len(set(map(id, opened))) == 1
