"""Results with a form, results that are checked, and models by name: from start to end, against a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.approvals import Answer as Allowed
from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.prompt import messages
from goalwright_planner.events import (
    CallFinished,
    CallStarted,
    PlanRefused,
    ResultChecked,
    TaskFinished,
    Warned,
)
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.prompting.profile import profile_of
from goalwright_planner.prompting.prompts import Prompts
from tests.conftest import add_skill
from tests.fakes import Recorder
from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, in_turn, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result

Serve = Callable[[Script], OpenAIServer]
MODEL = "openai/test-model"
SMALL = "lm_studio/qwen2.5:0.5b"
GOAL = "Write about a city"
CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
    "required": ["city", "rows"],
}
ULM = {"rows": [{"name": "Münster"}, {"name": "<<facts.output>>"}], "city": "Ulm"}
FACTS = {"id": "facts", "action_type": "llm", "instruction": "Find a city", "output_schema": CITY}
ABOUT = {
    "id": "about",
    "action_type": "llm",
    "instruction": "Write of <<facts.output.city>>, <<facts.output.rows[1].name>>: <<facts.output.rows>>",
    "depends_on": ["facts"],
}
PLAN = {"tasks": [FACTS, ABOUT]}
CHECKED = {"id": "a", "action_type": "llm", "instruction": "Name a city", "check": {"ask": "It is a city.", "tries": 2}}


def settings(**more: Any) -> Settings:
    return replace(Settings(model=MODEL, retry_patience=30.0), **more)


async def run(workspace: Path, goal: Goal | str = GOAL, **more: Any) -> tuple[Result, Recorder]:
    record = Recorder()
    async with Goalwright(workspace, settings(**more)) as goalwright:
        return await goalwright.run(goal, record=record), record


async def planned(workspace: Path, plan: dict[str, Any], **more: Any) -> tuple[Result, Recorder]:
    return await run(workspace, Goal(GOAL, plan=Plan.from_dict(plan)), **more)


async def resume(workspace: Path, run_id: str) -> Result:
    async with Goalwright(workspace, settings()) as goalwright:
        return await goalwright.resume(run_id)


def answers(**texts: str | list[str]) -> Script:
    """A task's answers in turn, by the first words of its instruction; everything else is told what it said."""
    left = {words: in_turn(*map(Say, [text] if isinstance(text, str) else text)) for words, text in texts.items()}

    def script(call: Call) -> Answer:
        for words, answer in left.items():
            if instruction(call).startswith(words.replace("_", " ")):
                return answer(call)
        return Say(f"did: {instruction(call)}")

    return script


def judging(*verdicts: bool, task: Script | None = None, plan: dict[str, Any] | None = None) -> Script:
    """Tasks, and a checker that says so in turn."""
    told = in_turn(*(Say(json.dumps({"holds": holds, "why": f"reason {n}"})) for n, holds in enumerate(verdicts, 1)))
    others = scripted(plan or {}, task=task)
    return lambda call: told(call) if call.role == "checker" else others(call)


async def test_instructions_refer_to_fields_of_results(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(PLAN, task=answers(Find=json.dumps(ULM, indent=2))))
    result, _ = await run(workspace)
    facts, about = server.asked("task")
    assert result.status == "done"
    assert result.tasks[0].output == ('{"city":"Ulm","rows":[{"name":"Münster"},{"name":"<<facts.output>>"}]}')
    assert instruction(about) == ('Write of Ulm, <<facts.output>>: [{"name":"Münster"},{"name":"<<facts.output>>"}]')
    assert json.dumps(CITY, indent=1) in facts.user
    assert "JSON Schema" not in about.user
    assert "response_format" not in facts.body, "it has tools"
    assert '<result task="facts"' in about.user, "a dependency's result is there as a whole too"


async def test_the_plan_is_asked_for_with_these_keys_and_refused_with_all_faults(workspace: Path, serve: Serve) -> None:
    wrong = {"tasks": [FACTS | {"output_schema": CITY | {"format": "x"}}, ABOUT | {"model": "fast"}]}
    server = serve(scripted(PLAN, task=answers(Find=json.dumps(ULM))))
    right = server.script
    told = in_turn(Say(json.dumps(wrong)), Say(json.dumps(PLAN)))
    server.script = lambda call: told(call) if call.role == "decomposer" else right(call)
    result, record = await run(workspace)
    assert result.status == "done"
    (refused,) = record.of(PlanRefused)
    assert isinstance(refused, PlanRefused)
    assert [fault.partition(",")[0] for fault in refused.faults] == [
        "task 'facts': 'output_schema' has the keyword 'format'",
        "task 'about': 'model' is 'fast'",
    ]
    first, second = server.asked("decomposer")
    properties = first.body["response_format"]["json_schema"]["schema"]["properties"]["tasks"]["items"]["properties"]
    assert {"output_schema", "check", "model"} <= properties.keys()
    assert '"output_schema": its form, if later tasks' in first.system
    assert '- "model":' not in first.system, "there are no names to choose from"
    assert all(fault in second.user for fault in refused.faults)


async def test_an_answer_that_does_not_fit_is_asked_for_twice_more_and_then_the_task_fails(
    workspace: Path, serve: Serve
) -> None:
    server = serve(scripted(PLAN, task=answers(Find=["prose", '{"city": 5}', '{"rows": 1}', json.dumps(ULM)])))
    result, _ = await run(workspace)
    first, second, third = server.asked("task")
    assert "the answer is not JSON" in second.user
    assert "- the answer lacks the field 'rows'\n- city must be a string, not a number" in third.user
    assert (result.status, [task.status for task in result.tasks]) == ("failed", ["failed", "skipped"])
    assert result.tasks[0].error == (
        "none of 3 answers has the form asked for; the last: the answer lacks the field 'city'; "
        "rows must be an array, not a number"
    )
    assert instruction(first) == "Find a city"
    resumed = await resume(workspace, result.run_id)
    assert resumed.status == "done", "the last answer is asked for again"
    assert len(server.asked("task")) == 5


async def test_the_provider_enforces_the_schema_without_tools(
    workspace: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(scripted({}, task=lambda _: Say('{"result": ["x"]}')))
    server.script = lambda _: Say('{"result": ["x"]}')
    monkeypatch.setenv("LM_STUDIO_API_BASE", server.base)
    monkeypatch.setenv("LM_STUDIO_API_KEY", "none")
    words = {"type": "array", "items": {"type": "string"}}
    result, _ = await planned(workspace, {"tasks": [FACTS | {"output_schema": words}]}, model=SMALL)
    assert (result.status, result.answer) == ("done", '["x"]')
    (call,) = server.calls
    assert "tools" not in call.body
    assert call.body["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"result": words},
        "required": ["result"],
    }


def test_small_planners_are_not_offered_these_keys() -> None:
    brief = Brief(GOAL, "", "", "today", Known(models=("quickest",)), profile=profile_of(SMALL))
    asked = "".join(message.content for message in messages(brief, Prompts()))
    assert GOAL in asked
    assert not any(word in asked for word in ("output_schema", '"check"', "quickest"))


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ('Here it is:\n```json\n{"city": "Ulm", "rows": [1, {"name": "x"}]}\n```', ("done", None)),
        ("Ulm is a city.", ("failed", "<<facts.output.city>> cannot be read: it is not JSON")),
    ],
)
async def test_fields_of_json_can_be_used_without_a_form(
    workspace: Path, serve: Serve, said: str, end: tuple[str, str | None]
) -> None:
    facts = {key: value for key, value in FACTS.items() if key != "output_schema"}
    server = serve(scripted({"tasks": [facts, ABOUT]}, task=answers(Find=said)))
    result, record = await run(workspace, max_replans=0)
    about = result.tasks[1]
    assert (record.of(PlanRefused), about.status) == ([], end[0])
    if end[1] is None:
        assert instruction(server.asked("task")[1]) == 'Write of Ulm, x: [1,{"name":"x"}]'
    else:
        assert (about.error or "").startswith(end[1])


async def test_a_missing_field_fails_the_task_that_refers_to_it(workspace: Path, serve: Serve) -> None:
    loose = CITY | {"required": ["rows"]}
    plan = {"tasks": [FACTS | {"output_schema": loose}, ABOUT]}
    serve(scripted(plan, task=answers(Find='{"rows": []}')))
    result, _ = await run(workspace)
    assert result.status == "partial"
    assert result.tasks[1].error == (
        "<<facts.output.city>> cannot be read: it has no field 'city'; its fields are: rows"
    )


@pytest.mark.parametrize("cut", [False, True])
async def test_long_fields_are_shortened_with_the_results(workspace: Path, serve: Serve, cut: bool) -> None:
    long = {"city": "Ulm " * 3_000, "rows": []}
    plan = {"tasks": [FACTS, ABOUT | {"instruction": "Write of <<facts.output.city>>"}]}
    server = serve(scripted(plan, task=answers(Find=json.dumps(long))))
    result, _ = await run(workspace, input_budget=4_000 if cut else 60_000)
    assert result.status == "done"
    assert ("shortened: 12,000 characters in all" in instruction(server.asked("task")[1])) is cut


async def test_a_result_that_passes_its_check_is_kept(workspace: Path, serve: Serve) -> None:
    server = serve(judging(True, plan={"tasks": [CHECKED]}, task=lambda _: Say("Ulm")))
    result, record = await run(workspace)
    assert (result.status, result.answer) == ("done", "Ulm")
    assert record.of(ResultChecked) == [ResultChecked("a", 1, True, "reason 1")]
    (check,) = server.asked("checker")
    assert "<result>\nUlm\n</result>" in check.user
    assert "<criterion>\nIt is a city.\n</criterion>" in check.user
    assert "<instruction>\nName a city\n</instruction>" in check.user
    schema = check.body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["holds", "why"]
    assert result.usage.calls == 3


async def test_a_result_that_fails_its_check_is_redone_with_the_reason(workspace: Path, serve: Serve) -> None:
    server = serve(judging(False, False, True, plan={"tasks": [CHECKED]}, task=answers(Name=["Rhine", "Elbe", "Ulm"])))
    result, record = await run(workspace)
    assert (result.status, result.answer) == ("done", "Ulm")
    assert record.of(ResultChecked) == [ResultChecked("a", n, n == 3, f"reason {n}") for n in (1, 2, 3)]
    first, second, third = server.asked("task")
    assert "reason" not in first.user
    assert "<why>\nreason 1\n</why>" in second.user
    assert "<rejected>\nRhine\n</rejected>" in second.user
    assert "<why>\nreason 2\n</why>" in third.user
    assert all(instruction(call) == "Name a city" for call in (first, second, third))


async def test_a_result_that_never_passes_fails_the_task(workspace: Path, serve: Serve) -> None:
    other = {"id": "b", "action_type": "llm", "instruction": "Something else"}
    plan = {"tasks": [CHECKED, other], "synthesis": "both"}
    task = answers(Name=["Rhine", "Elbe", "Main", "Ulm"])
    server = serve(judging(False, False, False, True, plan=plan, task=task))
    result, _ = await run(workspace)
    assert (result.status, [one.status for one in result.tasks]) == ("partial", ["failed", "done"])
    assert result.tasks[0].error == "its result does not pass the check, done 3 times: reason 3"
    assert len(server.asked("checker")) == 3
    assert result.answer is not None
    assert "reason 3" in result.answer, "the answer says what is missing"
    resumed = await resume(workspace, result.run_id)
    assert (resumed.status, resumed.tasks[0].output) == ("done", "Ulm")
    assert (len(server.asked("task")), len(server.asked("checker"))) == (5, 4)
    assert "<why>\nreason 2\n</why>" in server.asked("task")[-1].user


async def test_a_check_that_cannot_be_made_fails_the_task(workspace: Path, serve: Serve) -> None:
    others = scripted({"tasks": [CHECKED]}, task=lambda _: Say("Ulm"))
    server = serve(lambda call: Say("yes, sure") if call.role == "checker" else others(call))
    result, _ = await run(workspace)
    assert result.status == "failed"
    assert "none of 3 answers has the form asked for" in (result.tasks[0].error or "")
    server.script = lambda call: Fail(400, "no") if call.role == "checker" else others(call)
    resumed = await resume(workspace, result.run_id)
    assert (resumed.status, len(server.asked("task"))) == ("failed", 1)
    server.script = lambda call: Say('{"holds": true, "why": ""}') if call.role == "checker" else others(call)
    resumed = await resume(workspace, result.run_id)
    assert (resumed.status, resumed.answer, len(server.asked("task"))) == ("done", "Ulm", 1)


async def test_a_check_refers_to_earlier_results_and_sees_json(workspace: Path, serve: Serve) -> None:
    check = {"ask": "It names <<facts.output.city>> and no river.", "tries": 0}
    later = ABOUT | {"check": check, "output_schema": {"type": "object"}}
    task = answers(Find=json.dumps(ULM), Write='```json\n{"b": 1, "a": 2}\n```')
    server = serve(judging(True, plan={"tasks": [FACTS, later]}, task=task))
    result, _ = await run(workspace)
    assert result.answer == '{"a":2,"b":1}'
    (asked,) = server.asked("checker")
    assert "It names Ulm and no river." in asked.user
    assert '<result>\n{"a":2,"b":1}\n</result>' in asked.user


async def test_items_have_a_form_and_a_check_each_and_together_they_are_a_list(workspace: Path, serve: Serve) -> None:
    each = {
        "id": "each",
        "action_type": "llm",
        "instruction": "Describe <<item.name>>",
        "for_each": [{"name": "Ulm"}, {"name": "Rhine"}, {"name": "Bonn"}],
        "output_schema": {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]},
        "check": {"ask": "<<item.name>> is a city.", "tries": 0},
    }
    last = {
        "id": "last",
        "action_type": "llm",
        "instruction": "Last: <<each.output[2].of>>, <<each.output>>",
        "depends_on": ["each"],
        "when": '<<each.output[0].of>> == "Ulm"',
    }

    def task(call: Call) -> Answer:
        told = instruction(call)
        return Say(json.dumps({"of": told.removeprefix("Describe ")}) if told.startswith("Describe") else told)

    others = scripted({"tasks": [each, last]}, task=task)

    def script(call: Call) -> Answer:
        if call.role != "checker":
            return others(call)
        return Say(json.dumps({"holds": "Rhine is a city" not in call.user, "why": "it is a river"}))

    serve(script)
    result, record = await run(workspace)
    assert result.status == "partial"
    by_id = {one.id: one for one in result.tasks}
    assert by_id["each"].output == '[{"of":"Ulm"},null,{"of":"Bonn"}]'
    assert by_id["each[2]"].error == "its result does not pass the check, done once: it is a river"
    assert by_id["last"].output == 'Last: Bonn, [{"of":"Ulm"},null,{"of":"Bonn"}]'
    assert sorted(event.task for event in record.events if isinstance(event, ResultChecked)) == [
        "each[1]", "each[2]", "each[3]",
    ]  # fmt: skip


async def test_an_item_is_approved_once_across_attempts(workspace: Path, serve: Serve) -> None:
    each = {
        "id": "each",
        "action_type": "llm",
        "instruction": "Name a city on the <<item>>",
        "for_each": "<<facts.output.rows>>",
        "needs_approval": True,
        "output_schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "check": {"ask": "It is on the <<item.name>>.", "tries": 1},
        "depends_on": ["facts"],
    }
    rivers = {"city": "", "rows": [{"name": "Rhine"}, {"name": "Elbe"}]}

    def task(call: Call) -> Answer:
        if instruction(call).startswith("Find"):
            return Say(json.dumps(rivers))
        return Say(
            json.dumps({"name": "Bonn" if "Rhine" in instruction(call) or "<why>" not in call.user else "Meißen"})
        )

    others = scripted({"tasks": [FACTS, each]}, task=task)

    def script(call: Call) -> Answer:
        if call.role != "checker":
            return others(call)
        return Say(json.dumps({"holds": ("Bonn" in call.user) == ("Rhine." in call.user), "why": "it is elsewhere"}))

    server = serve(script)
    waiting, _ = await run(workspace)
    assert (waiting.status, len(waiting.waiting), len(server.asked("task"))) == ("waiting", 2, 1)
    async with Goalwright(workspace, settings()) as goalwright:
        allow = {request.id: Allowed("allow") for request in waiting.waiting}
        result = await goalwright.resume(waiting.run_id, answers=allow)
    by_id = {one.id: one for one in result.tasks}
    assert (result.status, by_id["each"].output) == ("done", '[{"name":"Bonn"},{"name":"Meißen"}]')
    assert (len(server.asked("task")), len(server.asked("checker"))) == (4, 3)


async def test_a_check_states_how_much_it_saw(workspace: Path, serve: Serve) -> None:
    server = serve(judging(True, plan={"tasks": [CHECKED]}, task=lambda _: Say("Ulm " * 500)))
    _, record = await run(workspace, input_budget=1_000)
    (asked,) = server.asked("checker")
    assert "[… 999 more characters are not shown]" in asked.user
    said = [event.message for event in record.events if isinstance(event, Warned)]
    assert "the check of task a does not see the last 999 characters of its result" in " ".join(said)


async def test_tasks_and_checks_choose_models_by_name(workspace: Path, serve: Serve) -> None:
    checked = CHECKED | {"model": "strong", "check": {"ask": "It is a city.", "model": "fast"}}
    other = {"id": "b", "action_type": "llm", "instruction": "Other", "check": {"ask": "x"}}
    server = serve(judging(True, plan={"tasks": [checked, other], "synthesis": "s"}, task=lambda _: Say("Ulm")))
    names = {"fast": "openai/quick", "strong": "openai/thorough"}
    result, record = await run(workspace, models=names, checker="openai/judge")
    assert result.status == "done"
    asked = {(call.role, call.task): call.model for call in record.events if isinstance(call, CallStarted)}
    assert asked == {
        ("decomposer", None): MODEL,
        ("task", "a"): "openai/thorough",
        ("checker", "a"): "openai/quick",
        ("task", "b"): MODEL,
        ("checker", "b"): "openai/judge",
        ("synthesis", None): MODEL,
    }
    assert '- "model": fast or strong, if' in server.asked("decomposer")[0].system


async def test_a_task_model_overrides_the_skill_model(workspace: Path, serve: Serve) -> None:
    add_skill(workspace, "writing", "---\nname: writing\ndescription: Write.\nmodel: openai/own\n---\nWrite well.\n")
    skill = {"id": "a", "action_type": "skill", "name": "writing", "instruction": "Write", "depends_on": []}
    server = serve(scripted({}, task=lambda _: Say("done")))
    server.script = lambda _: Say("done")
    await planned(workspace, {"tasks": [skill, skill | {"id": "b", "model": "fast"}]}, models={"fast": "openai/quick"})
    assert {call.body["model"] for call in server.calls} == {"own", "quick", "test-model"}


async def test_an_unknown_model_name_fails_the_task(workspace: Path, serve: Serve) -> None:
    serve(scripted({}, task=lambda _: Say("x")))
    result, _ = await planned(workspace, {"tasks": [CHECKED | {"model": "fast"}]})
    assert result.status == "failed"
    assert result.tasks[0].error == "there is no model called 'fast' in [models]"


async def test_a_budget_holds_for_checks_too_and_a_resumed_run_pays_for_nothing_twice(
    workspace: Path, serve: Serve
) -> None:
    server = serve(judging(True, plan={"tasks": [CHECKED]}, task=lambda _: Say("Ulm", tokens=(90_000, 900))))
    result, _ = await run(workspace, max_tokens=200_000)
    spent = result.usage.tokens
    assert result.status == "done"
    calls = len(server.calls)
    stopped, _ = await run(workspace, max_tokens=spent - 15)
    assert stopped.status == "stopped"
    assert [call.role for call in server.calls[calls:]] == ["decomposer", "task"]
    resumed = await resume(workspace, stopped.run_id)
    assert (resumed.status, [call.role for call in server.calls[calls + 2 :]]) == ("done", ["checker"])


async def test_check_events_are_recorded_once(workspace: Path, serve: Serve) -> None:
    serve(judging(False, True, plan={"tasks": [CHECKED]}, task=answers(Name=["Rhine", "Ulm"])))
    _, record = await run(workspace)
    kinds = (CallFinished, ResultChecked, TaskFinished)
    assert [type(event).__name__ for event in record.events if isinstance(event, kinds)] == [
        "CallFinished",  # the plan
        "CallFinished", "CallFinished", "ResultChecked",
        "CallFinished", "CallFinished", "ResultChecked",
        "TaskFinished",
    ]  # fmt: skip
