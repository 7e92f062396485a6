"""How plans are held against the gold graphs of public sets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from goalwright_planner.model import Message, Reply, Usage
from goalwright_planner.plan.plan import Plan
from goalwright_skills.errors import SetupError

from plan_quality.goals import PlanGoal, f1, interval, sample
from plan_quality.kept_answers import KeptAnswers
from plan_quality.nestful import Calls, Nestful
from plan_quality.plan_over_graph import PlanOverGraph, Step, makespan, shortest
from plan_quality.taskbench import TaskBench
from plan_quality.worfbench import WorFBench

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

QUESTION: dict[str, Any] = {
    "rules": [
        {"source": ["N1"], "target": ["N2"], "time": 3},
        {"source": ["N1"], "target": ["N3"], "time": 5},
        {"source": ["N2", "N3"], "target": ["N4"], "time": 1},
        {"source": ["N1"], "target": ["N4"], "time": 9},
    ],
    "initial_source": ["N1"],
    "target": "N4",
}


def goal(gold: Any = None, **more: Any) -> PlanGoal:
    return PlanGoal("g", "do it", gold, (), **more)


def plan(*tasks: dict[str, Any]) -> Plan:
    return Plan.from_dict({"tasks": list(tasks), "synthesis": None, "clarification": None})


def by_letters(texts: Sequence[str]) -> list[Sequence[float]]:
    """Texts are alike if they begin with the same letter."""
    return [[float(text[:1] == letter) for letter in "abcdef"] for text in texts]


def test_f1_counts_equal_things_as_often_as_they_occur() -> None:
    assert f1(["a", "a", "b"], ["a", "b"]) == pytest.approx(0.8)
    assert f1([], []) == 1.0
    assert f1(["a"], ["b"]) == 0.0


def test_a_sample_is_the_same_each_time_and_of_one_half() -> None:
    goals = [PlanGoal(str(number), "", None, ()) for number in range(40)]
    assert sample(goals, 5, "report") == sample(goals, 5, "report")
    assert not {one.id for one in sample(goals, 40, "tune")} & {one.id for one in sample(goals, 40, "report")}


def test_an_interval_holds_the_mean() -> None:
    low, high = interval([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    assert low < 4 / 6 < high


def test_skills_and_their_order_are_held_against_tools_and_links() -> None:
    bench = TaskBench("tmdb")
    skills = {"search-people": "", "person-credits": ""}
    gold_text = {
        "task_nodes": [{"task": "Search People"}, {"task": "person_credits"}],
        "task_links": [{"source": "Search People", "target": "person_credits"}],
    }
    gold = bench.of_answer(f"```json\n{json.dumps(gold_text)}\n```", goal())
    made = plan(
        {"id": "t1", "action_type": "skill", "name": "search-people", "instruction": "x"},
        {"id": "t2", "action_type": "llm", "instruction": "x", "depends_on": ["t1"]},
        {"id": "t3", "action_type": "skill", "name": "person-credits", "instruction": "x", "depends_on": ["t1"]},
    )
    assert bench.score(bench.of_plan(made, goal(skills=skills)), goal(gold)) == (1.0, 1.0)
    with pytest.raises(ValueError, match="substring"):
        bench.of_answer("no plan", goal())


def test_subtasks_are_matched_by_meaning_and_edges_by_the_subtasks_they_join() -> None:
    bench = WorFBench(by_letters)
    gold = bench.of_answer("Node:\n1: apple\n2: bread\n3: cake\nEdges: (START,1) (1,2) (2,3) (3,END)", goal())
    assert bench.score(gold, goal(gold)) == (1.0, 1.0, 1.0)
    swapped = bench.of_answer("Node:\n1: c\n2: b\n3: a\nEdges: (3,2) (2,1) (1,END)", goal())
    chain, mapped, published = bench.score(swapped, goal(gold))
    assert chain == pytest.approx(1 / 3)
    assert mapped == 1.0
    assert published < mapped
    with pytest.raises(ValueError, match="no nodes"):
        bench.of_answer("I cannot", goal())


def test_references_to_earlier_results_are_compared_in_both_forms() -> None:
    bench = Nestful()
    theirs = [
        {"name": "find", "arguments": {"q": "x"}, "label": "var1"},
        {"name": "book", "arguments": {"id": "$var1.id$", "day": "$var1$"}, "label": "var2"},
        {"name": "var_result", "arguments": {"all": "$var2$"}},
    ]
    gold = bench.of_answer(json.dumps(theirs), goal())
    assert gold == Calls(
        ("find", "book"),
        (("find", "q"), ("book", "id"), ("book", "day")),
        (("find", "book", "id"), ("find", "book", "day")),
    )
    made = plan(
        {"id": "a", "action_type": "tool", "name": "find", "arguments": {"q": "x"}},
        {
            "id": "b",
            "action_type": "tool",
            "name": "book",
            "arguments": {"id": "<<a.output.id>>", "day": "<<a.output>>"},
            "depends_on": ["a"],
        },
    )
    assert bench.score(bench.of_plan(made, goal()), goal(gold)) == (1.0, 1.0, 1.0)


def test_a_path_counts_if_every_rule_has_what_it_needs() -> None:
    def step(source: str, target: str, *after: int) -> Step:
        return Step(frozenset(source.split()), frozenset([target]), frozenset(after))

    assert shortest(QUESTION) == 6
    both = [step("N1", "N2"), step("N1", "N3"), step("N2 N3", "N4", 0, 1)]
    assert makespan(both, QUESTION) == 6
    assert makespan([step("N1", "N4")], QUESTION) == 9
    assert makespan([step("N1", "N2"), step("N2 N3", "N4", 0)], QUESTION) is None
    assert makespan([step("N1", "N2")], QUESTION) is None
    assert makespan([step("N1", "N2", 1), step("N1", "N4", 0)], QUESTION) is None


def test_the_rules_that_a_plan_names_are_read_from_its_instructions() -> None:
    bench = PlanOverGraph()
    made = plan(
        {"id": "t1", "action_type": "llm", "instruction": "N1 -> N2"},
        {"id": "t2", "action_type": "llm", "instruction": "N1 -> N3"},
        {"id": "t3", "action_type": "llm", "instruction": "N2 + N3 -> N4", "depends_on": ["t1", "t2"]},
    )
    asked = goal({"question": QUESTION})
    assert bench.score(bench.of_plan(made, asked), asked) == (1.0, 1.0)


class Answers:
    """A model that counts how often it is asked."""

    name = "counted"

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        self.asked += 1
        return Reply(messages[-1].content.upper(), usage=Usage(1, 7, 3), finish="stop")


async def test_answers_are_kept_and_need_no_model_again(tmp_path: Path) -> None:
    file, model = tmp_path / "answers.jsonl", Answers()
    kept = KeptAnswers(model, file)
    asked = (Message("user", "plan it"),)
    assert [(await kept.answer(asked)).text for _ in range(2)] == ["PLAN IT", "PLAN IT"]
    assert (model.asked, kept.usage) == (1, Usage(2, 14, 6))
    again = KeptAnswers(None, file)
    assert (await again.answer(asked)).text == "PLAN IT"
    with pytest.raises(SetupError, match=r"answers\.jsonl has no answer"):
        await again.answer(asked, {"type": "object"})
