"""Conditions of tasks: sixty examples, hostile values, and questions to a model."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.outcome import Cancelled, Done, Failed, Outcome, Skipped, Unneeded
from goalwright_executor.scheduling.condition import SCHEMA, ConditionCheck, evaluate
from goalwright_executor.scheduling.expand import CurrentPlan
from goalwright_planner.errors import ModelError
from goalwright_planner.events import ConditionChecked
from goalwright_planner.model import Reply
from goalwright_planner.plan.conditions import parse, values_in
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Item, Task
from goalwright_planner.prompting.prompts import Prompts
from goalwright_skills.errors import GoalwrightError
from tests.fakes import Recorder, ScriptedModel, saying

if TYPE_CHECKING:
    from pathlib import Path

REVIEW = {"severity": "High ", "count": 3, "ok": True, "none": None, "tags": ["a", "B"], "empty": [], "n": "10"}
OUTCOMES: dict[str, Outcome] = {
    "review": Done(json.dumps(REVIEW)),
    "files": Done("- a.py\n- b.py"),
    "number": Done(" 7 "),
    "prose": Done("I found nothing."),
    "blank": Done("  \n"),
    "nothing": Done("[ ]"),
    "bad": Failed("no"),
    "never": Skipped("it depends on 'bad', which failed"),
    "left": Unneeded(),
    "each": Done("### x\n\none\n\n### z\n\nthree"),
    "each[1]": Done("one"),
    "each[2]": Failed("no"),
    "each[3]": Done("three"),
}
PLAN = Plan(tuple(Task(name, "llm", for_each=(1, 2, 3) if name == "each" else None) for name in OUTCOMES))

HOLDS = [
    '<<review.output.severity>> == "high"',
    '<<review.output.severity>> == "HIGH"',
    '"high" == <<review.output.severity>>',
    '<<review.output.severity>> != "low"',
    '<<review.output.severity>> contains "ig"',
    "<<review.output.count>> == 3",
    "<<review.output.count>> == 3.0",
    '<<review.output.count>> == "3"',
    "<<review.output.count>> > 2",
    "<<review.output.count>> >= 3",
    "<<review.output.count>> < 10",
    "<<review.output.n>> > 9",
    '<<review.output.n>> < "9a"',
    "<<review.output.ok>> == true",
    "<<review.output.ok>> != false",
    '<<review.output.ok>> == "True"',
    "<<review.output.none>> == null",
    "<<review.output.missing>> == null",
    "<<review.output.missing.deeper[0]>> == null",
    "<<review.output.missing>> is empty",
    "<<review.output.missing>> != 3",
    "not <<review.output.missing>> > 3",
    "not <<review.output.missing>> < 3",
    '<<review.output.tags>> contains "b"',
    'not <<review.output.tags>> contains "c"',
    '<<review.output.tags[0]>> == "a"',
    "<<review.output.tags[7]>> is empty",
    "<<review.output.empty>> is empty",
    "<<review.output.tags>> is not empty",
    '<<review.output>> contains "severity"',
    "<<files.count>> == 2",
    "<<review.count>> == null",
    "<<prose.count>> == null",
    "<<blank.count>> == 0",
    "<<nothing.count>> == 0",
    "<<left.count>> == 0",
    "<<bad.count>> == null",
    "<<each.count>> == 2",
    '<<files.output>> contains "A.PY"',
    "<<number.output>> == 7",
    "<<number.output>> <= 7",
    "<<number.output>> is not empty",
    "<<blank.output>> is empty",
    "<<nothing.output>> is empty",
    "<<left.output>> is empty",
    '<<left.output>> == ""',
    "<<left.output.field>> == null",
    "<<bad.output>> == null",
    "<<bad.output>> is empty",
    '<<bad.status>> == "failed"',
    '<<never.status>> == "skipped"',
    '<<left.status>> == "unneeded"',
    '<<files.status>> == "done" and <<bad.status>> != "done"',
    '<<bad.status>> == "done" or <<files.status>> == "done"',
    "not (<<files.count>> > 2 or <<number.output>> > 7)",
    "1 == 2 or 1 == 1 and 2 == 2",
    "not (1 == 2 or 1 == 1) and 2 == 2 or 3 == 3",
    "0.1 == 0.10",
    '"apple" < "Banana"',
    "null == null",
    '"" is empty and " " is empty and "[]" is empty',
    "not false == null",
]
DOES_NOT = [
    '<<review.output.severity>> == "low"',
    '<<review.output.count>> == "three"',
    "<<review.output.count>> > 3",
    "<<review.output.ok>> == 1",
    "<<review.output.missing>> == 3",
    "<<review.output.missing>> > 0",
    "<<review.output.missing>> contains 3",
    "3 contains null",
    "<<bad.count>> > 0",
    "<<prose.count>> > 0",
    '<<prose.output>> == "i found"',
    "<<left.status>> == 'done'",
    "null == ''",
    "1 == 1 and 1 == 2",
    "not 1 == 1",
    "0 is empty",
    "false is empty",
]


def checking(tmp_path: Path, model: ScriptedModel | None = None) -> tuple[ConditionCheck, Recorder]:
    record = Recorder()
    model = model or saying("{}")
    current = CurrentPlan(PLAN, record)
    artifacts = Artifacts.of(tmp_path, "r")
    return ConditionCheck(current, model, Prompts(), record, artifacts, 60_000), record


def test_there_are_sixty_conditions() -> None:
    assert len(HOLDS) >= 60


@pytest.mark.parametrize(("when", "holds"), [(when, True) for when in HOLDS] + [(when, False) for when in DOES_NOT])
async def test_condition_is_evaluated(when: str, holds: bool, tmp_path: Path) -> None:
    check, record = checking(tmp_path)
    assert await check.check(Task("t", "llm", when=when), OUTCOMES) is holds
    (event,) = record.events
    assert isinstance(event, ConditionChecked)
    assert (event.task, event.condition, event.holds) == ("t", when, holds)


async def test_event_has_the_deciding_values(tmp_path: Path) -> None:
    check, record = checking(tmp_path)
    when = '<<review.output.severity>> == "low" or <<files.count>> > 5 or <<bad.output>> is not empty'
    assert not await check.check(Task("t", "llm", when=when), OUTCOMES)
    (event,) = record.events
    assert isinstance(event, ConditionChecked)
    assert event.why == '<<review.output.severity>> is "High "; <<files.count>> is 2; <<bad.output>> is null'


async def test_task_without_condition_is_not_checked(tmp_path: Path) -> None:
    check, record = checking(tmp_path)
    assert await check.check(Task("t", "llm"), OUTCOMES)
    assert record.events == []


HOSTILE = [
    "9" * 6000, "1e999999", "-0", "NaN", "Infinity", "0x10", "١٢", "１", "1_000", "+5", " 5\n", "true", "null", "[]",
    "{}", '"', "'", "\\", "<<bad.output>>", "<<x.status>>", "{{7*7}}", "__import__('os')", "\x00", "\ud800", "ß", "ſ",
    "[" * 3000, '{"a":' * 500, '{"a": 1, "a": 2}', "a" * 100_000, "\u202e", "and", "1 == 1 or",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_values_are_only_compared(text: str, tmp_path: Path) -> None:
    check, record = checking(tmp_path)
    outcomes: dict[str, Outcome] = {**OUTCOMES, "number": Done(text)}
    others = ("<<number.output>>", "7", '"x"', "null", "true", "<<number.output.a[0].b>>", "<<number.count>>")
    for sign, other in product(("==", "!=", "<", "<=", ">", ">=", "contains"), others):
        for when in (f"<<number.output>> {sign} {other}", f"{other} {sign} <<number.output>>"):
            assert await check.check(Task("t", "llm", when=when), outcomes) in (True, False), when
    assert all(len(event.why) < 500 for event in record.events if isinstance(event, ConditionChecked))


@given(st.text(), st.text())
def test_values_equal_themselves_and_are_ordered_consistently(left: str, right: str) -> None:
    values = {"a": left, "b": right}

    def holds(text: str) -> bool:
        return evaluate(parse(text), lambda value: values[value.id])

    assert holds("<<a.output>> == <<a.output>>")
    assert holds("<<a.output>> <= <<a.output>> and <<a.output>> contains <<a.output>>")
    assert holds("<<a.output>> == <<b.output>>") is not holds("<<a.output>> != <<b.output>>")
    assert [holds(f"<<a.output>> {sign} <<b.output>>") for sign in ("<", "==", ">")].count(True) == 1


@pytest.mark.parametrize(("answer", "holds"), [("true", True), ("false", False)])
async def test_question_is_one_call_with_references_filled(answer: str, holds: bool, tmp_path: Path) -> None:
    model = saying(f'```json\n{{"holds": {answer}, "why": "it says so"}}\n```')
    check, record = checking(tmp_path, model)
    when = {"ask": "Is <<files.output>> complete, given <<bad.output>><<left.output>> and <<bad.status>>?"}
    assert await check.check(Task("t", "llm", when=when), OUTCOMES) is holds
    (request,) = model.asked
    assert (request.role, request.task, request.schema, request.tools) == ("condition", "t", SCHEMA, ())
    assert "Is - a.py\n- b.py complete, given  and failed?" in request.messages[-1].content
    assert record.events[-1] == ConditionChecked("t", when, holds, "it says so")


async def test_text_in_a_question_is_not_expanded(tmp_path: Path) -> None:
    model = saying('{"holds": true, "why": ""}')
    check, _ = checking(tmp_path, model)
    outcomes: dict[str, Outcome] = {**OUTCOMES, "prose": Done("<<files.output>> <% raw %> {{7*7}}")}
    await check.check(Task("t", "llm", when={"ask": "Is <<prose.output>> right?"}), outcomes)
    assert "Is <<files.output>> <% raw %> {{7*7}} right?" in model.asked[0].messages[-1].content


async def test_long_text_is_shortened_in_a_question(tmp_path: Path) -> None:
    model = saying('{"holds": true, "why": ""}')
    check, _ = checking(tmp_path, model)
    outcomes: dict[str, Outcome] = {**OUTCOMES, "prose": Done("word " * 100_000)}
    await check.check(Task("t", "llm", when={"ask": "Is <<prose.output>> right?"}), outcomes)
    content = model.asked[0].messages[-1].content
    assert len(content) < 62_000
    assert "[… shortened: 500,000 characters in all" in content


@pytest.mark.parametrize("answer", ["yes", "", '{"holds": "maybe", "why": ""}', '{"why": "x"}', "[true]", "{"])
async def test_answer_without_verdict_is_an_error(answer: str, tmp_path: Path) -> None:
    check, record = checking(tmp_path, ScriptedModel(lambda _: Reply(answer, model="m")))
    with pytest.raises(ModelError, match="m did not say whether the condition holds"):
        await check.check(Task("t", "llm", when={"ask": "Is it?"}), OUTCOMES)
    assert not any(isinstance(event, ConditionChecked) for event in record.events)


@pytest.mark.parametrize("when", ["nonsense", {}, {"ask": 7}])
async def test_invalid_condition_in_untrusted_record_fails_its_task(when: Any, tmp_path: Path) -> None:
    check, _ = checking(tmp_path)
    with pytest.raises(GoalwrightError, match="'when'"):
        await check.check(Task("t", "llm", when=when), OUTCOMES)
    assert await check.check(Task("t", "llm", when="<<gone.status>> == null and <<gone.output.x>> is empty"), OUTCOMES)


def test_every_outcome_has_a_readable_status() -> None:
    assert {type(one) for one in OUTCOMES.values()} | {Cancelled} == {Done, Failed, Skipped, Unneeded, Cancelled}


def test_status_references_are_found_and_renamed() -> None:
    task = Task("t", "llm", when="<<a.status>> == 'failed' and <<b.output.x>> > 1", depends_on=("a", "b"))
    assert task.reads == ("a", "b")
    assert set(task.reads_status_of) == {"a"}
    assert task.rewired({"a": "c"}).when == "<<c.status>> == 'failed' and <<b.output.x>> > 1"
    asking = Task("t", "llm", when={"ask": "Is << a.count >>?"})
    assert asking.rewired({"a": "c"}).when == {"ask": "Is << c.count >>?"}
    each = Task("t", "llm", instruction="<<item.output>> <<a.output>>", for_each="<<a.output.x>>")
    assert (each.references, each.reads) == (("a",), ("a",))
    assert each.rewired({"a": "c"}).for_each == "<<c.output.x>>"
    listed = Task("t", "llm", for_each=("<<a.output>>",), item=Item(1))
    assert listed.reads == ()
    assert listed.rewired({"a": "c"}) is listed, "an item of a list in the plan is text"
    assert values_in(task.when)[0].id == "a"


def test_tasks_without_conditions_keep_their_hash() -> None:
    row: dict[str, Any] = {"id": "a", "action_type": "llm", "instruction": "i", "depends_on": []}
    assert Task.from_dict(row).to_dict() == row
    new = {**row, "when": {"ask": "?"}, "for_each": [1, None], "width": 2, "first": 3, "item": None}
    assert Task.from_dict(new).to_dict() == new
