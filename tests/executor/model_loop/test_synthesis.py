"""The answer of a plan, and its list of missing results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.model_loop.model_loop import NOTE
from goalwright_executor.model_loop.synthesis import Synthesis
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.memo import Memo
from goalwright_executor.results.outcome import Done, Failed, Outcome, Skipped
from goalwright_planner.errors import ModelError
from goalwright_planner.events import Warned
from goalwright_planner.model import Reply
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.prompting.prompts import Prompts
from tests.fakes import Recorder, saying

if TYPE_CHECKING:
    from pathlib import Path

CHAIN = (Task("a", "llm", title="First"), Task("b", "llm", title="Second", depends_on=("a",)))
FORK = (*CHAIN, Task("c", "llm", depends_on=("a",)))


def synthesis(tmp_path: Path, plan: Plan) -> Synthesis:
    return Synthesis("the goal", plan, Prompts(), Artifacts.of(tmp_path, "r"), Memo(Recorder()))


async def test_single_final_result_is_the_answer_without_a_call(tmp_path: Path) -> None:
    model = saying("unused")
    answer = await synthesis(tmp_path, Plan(CHAIN)).answer({"a": Done("A"), "b": Done("B")}, model)
    assert answer == "B"
    assert model.asked == []


async def test_final_results_are_combined_in_one_call(tmp_path: Path) -> None:
    model = saying("together")
    plan = Plan(FORK, synthesis="as a table")
    answer = await synthesis(tmp_path, plan).answer(
        {"a": Done("A-text"), "b": Done("B-text"), "c": Done("C-text")}, model
    )
    assert answer == "together"
    (request,) = model.asked
    user = request.messages[-1].content
    assert request.role == "synthesis"
    assert all(text in user for text in ("the goal", "B-text", "C-text", "as a table"))
    assert "A-text" not in user


async def test_missing_results_are_listed_below_the_answer(tmp_path: Path) -> None:
    outcomes: dict[str, Outcome] = {"a": Done("A-text"), "b": Failed("no luck"), "c": Done("C-text")}
    model = saying("partly")
    answer = await synthesis(tmp_path, Plan(FORK)).answer(outcomes, model)
    assert answer.startswith("partly")
    assert "Second (b): no luck" in answer
    assert "no luck" in model.asked[0].messages[-1].content
    assert "A-text" not in model.asked[0].messages[-1].content


async def test_failed_final_task_is_replaced_by_last_upstream_results(tmp_path: Path) -> None:
    model = saying("unused")
    answer = await synthesis(tmp_path, Plan(CHAIN)).answer({"a": Done("A"), "b": Failed("x")}, model)
    assert answer.startswith("A\n")
    assert "Second (b): x" in answer
    assert model.asked == []


def test_results_are_the_answer_of_last_resort(tmp_path: Path) -> None:
    made = synthesis(tmp_path, Plan(FORK))
    text = made.without_model({"a": Done("A"), "b": Done("B"), "c": Done("C")})
    assert text == "## Second\n\nB\n\n## c\n\nC"
    assert made.missing({"a": Done("A"), "b": Skipped("why")}) == ["Second (b): why", "c: it did not begin"]


async def test_truncated_answer_is_continued_and_marked_if_it_stays_truncated(tmp_path: Path) -> None:
    done = {"a": Done("A"), "b": Done("B"), "c": Done("C")}
    model = saying(Reply("one, ", finish="length"), "two")
    assert await synthesis(tmp_path, Plan(FORK)).answer(done, model) == "one, two"
    assert [message.role for message in model.asked[1].messages[-2:]] == ["assistant", "user"]
    record = Recorder()
    never = replace(synthesis(tmp_path, Plan(FORK)), memo=Memo(record), continuations=1)
    assert await never.answer(done, saying(Reply("more ", finish="length"))) == f"more more\n\n{NOTE}"
    assert [event.message for event in record.events if isinstance(event, Warned)]
    code = Reply("So:\n```python\nprint(", finish="length")
    within = replace(synthesis(tmp_path, Plan(FORK)), continuations=0)
    assert await within.answer(done, saying(code)) == f"So:\n```python\nprint(\n```\n\n{NOTE}"


async def test_empty_answer_fails(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="gave no answer"):
        await synthesis(tmp_path, Plan(FORK)).answer({"a": Done("A"), "b": Done("B"), "c": Done("C")}, saying(" "))
