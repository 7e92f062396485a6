"""Parts of a goal that a plan lost are put back."""

from __future__ import annotations

import pytest

from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.validate import problems
from goalwright_planner.small_models.completion import completed
from goalwright_planner.small_models.coverage import missing
from goalwright_planner.small_models.rules import PlannedGoal

GOAL = "Write a haiku about rain, list ten primes, then put both on a page in British English"


def plan(*tasks: Task) -> Plan:
    return Plan(tasks)


def task(number: int, instruction: str, *depends_on: str, name: str | None = None) -> Task:
    return Task(f"t{number}", "skill" if name else "llm", name=name, instruction=instruction, depends_on=depends_on)


def whole(plan_before: Plan, goal: str, most: int = 20) -> tuple[Plan, str]:
    """Return the completed plan, which is valid and lost nothing, and its repairs."""
    after, repairs = completed(plan_before, PlannedGoal(goal), most)
    assert problems(after.to_dict(), Known(["poetry"])) == []
    assert missing(goal, [row.instruction for row in after.tasks]) == []
    return after, " ".join(repairs)


def test_complete_plan_is_not_changed() -> None:
    before = plan(
        task(1, "Write a haiku about the rain"),
        task(2, "Give a list of ten prime numbers"),
        task(3, "Put both on one page, in British English", "t1", "t2"),
    )
    after, repairs = completed(before, PlannedGoal(GOAL), 20)
    assert after is before
    assert repairs == ()


def test_single_task_that_lost_a_part_is_split_into_parts() -> None:
    after, repairs = whole(plan(task(1, "Write a haiku")), "a haiku and a prime function")
    assert [row.instruction for row in after.tasks] == ["A haiku.", "A prime function."]
    assert repairs == ("the plan left out 'prime function': it has one task for each part of the goal now")


def test_single_task_gets_whole_goal_if_goal_lists_no_parts() -> None:
    goal = "Write a story about a cat, a dog and a mouse"
    after, repairs = whole(plan(task(1, "Write a story about a cat", name="poetry")), goal)
    assert [(row.name, row.instruction) for row in after.tasks] == [("poetry", goal)]
    assert "'dog', 'mouse': its instruction is the whole goal now" in repairs


def test_lost_part_becomes_a_task() -> None:
    before = plan(task(1, "Write a haiku about rain"), task(2, "Put it on a page in British English", "t1"))
    after, repairs = whole(before, GOAL)
    assert [(row.id, row.instruction, row.depends_on) for row in after.tasks][2:] == [("t3", "List ten primes.", ())]
    assert after.tasks[0] == before.tasks[0]
    assert after.tasks[1].depends_on == ("t1", "t3")
    assert repairs == (
        "the plan left out 'ten primes': it was put back into t3 "
        "the plan did not say that t2 needs the result of t3: it does now"
    )


def test_lost_part_depends_on_tasks_of_the_parts_it_builds_on() -> None:
    goal = "Write a poem about rain, write a song about snow, then translate both into French"
    before = plan(task(1, "Write a poem about rain"), task(2, "Write a song about snow"))
    after, _ = whole(before, goal)
    assert (after.tasks[2].instruction, after.tasks[2].depends_on) == ("Translate both into French.", ("t1", "t2"))


def test_lost_detail_is_added_to_nearest_task() -> None:
    before = plan(
        task(1, "Write a haiku about rain"), task(2, "List primes"), task(3, "Put both on a page", "t1", "t2")
    )
    after, repairs = whole(before, GOAL)
    assert after.tasks[1].instruction == "List primes (List ten primes.)"
    assert after.tasks[2].instruction == "Put both on a page (Put both on a page in British English.)"
    assert repairs.endswith("it was put back into t2, t3")


def test_plan_that_lost_most_of_the_goal_is_replaced() -> None:
    goal = "Erkläre Rekursion, Monaden und Funktoren an Beispielen aus Haskell"
    after, repairs = whole(plan(task(1, "Explain recursion"), task(2, "Explain monads")), goal)
    assert len(after.tasks) in (1, 3)
    assert "left out" in repairs


def test_plan_that_would_exceed_max_tasks_becomes_one_task() -> None:
    before = plan(task(1, "Write a haiku about rain"), task(2, "Put it on a page in British English", "t1"))
    after, _ = whole(before, GOAL, most=2)
    assert [row.instruction for row in after.tasks] == [GOAL]


def test_arguments_count_and_questions_are_not_changed() -> None:
    call = Task("t1", "tool", name="sheet_read", arguments={"path": "pay.xlsx"})
    done = plan(call, task(2, "Sum up the pay", "t1"))
    assert completed(done, PlannedGoal("Sum up pay.xlsx"), 20) == (done, ())
    question = Plan((), clarification="Which?")
    assert completed(question, PlannedGoal(GOAL), 20) == (question, ())


@pytest.mark.parametrize("before", ["Write a haiku", "x", "List ten primes, then put both on a page", GOAL])
@pytest.mark.parametrize("second", ["", "Explain", "Translate into British"])
def test_completed_plan_has_every_word_of_the_goal(before: str, second: str) -> None:
    tasks = [task(1, before), *([task(2, second, "t1")] if second else [])]
    whole(plan(*tasks), GOAL)


def test_task_depends_on_the_task_that_its_part_refers_to() -> None:
    before = plan(task(1, "Draft a welcome email"), task(2, "Write a subject line"), task(3, "Draft two tweets"))
    after, repairs = whole(before, "Draft a welcome email, a subject line for it, and two tweets")
    assert [row.depends_on for row in after.tasks] == [(), ("t1",), ()]
    assert repairs == "the plan did not say that t2 needs the result of t1: it does now"


def test_tasks_in_another_order_are_not_changed() -> None:
    before = plan(task(1, "Draft a welcome email", "t2"), task(2, "Write a subject line"))
    assert completed(before, PlannedGoal("Draft a welcome email, and a subject line for it"), 20) == (before, ())


def test_detail_of_several_parts_is_added_to_each_of_their_tasks() -> None:
    before = plan(task(1, "Describe tea"), task(2, "Describe coffee"), task(3, "Recommend tea or coffee", "t1", "t2"))
    goal = "Describe tea in two sentences, describe coffee in two sentences, then recommend tea or coffee"
    after, repairs = whole(before, goal)
    assert ["two sentences" in row.instruction for row in after.tasks] == [True, True, False]
    assert repairs == "the plan left out 'two sentences': it was put back into t1, t2"


def test_detail_of_each_part_is_added_to_all_first_tasks() -> None:
    before = plan(task(1, "Describe tea"), task(2, "Describe coffee"), task(3, "Compare tea and coffee", "t1", "t2"))
    after, _ = whole(before, "Compare tea and coffee, two sentences each")
    assert ["two sentences each" in row.instruction for row in after.tasks] == [True, True, False]


def test_plan_for_goal_with_listed_data_is_kept() -> None:
    rows = "; ".join(f"colour{number} costs{number} euros" for number in range(40))
    goal = f"Find the cheapest colour and write a letter to order it. The prices: {rows}"
    before = plan(task(1, "Find the cheapest colour"), task(2, "Write a letter that orders it", "t1"))
    assert completed(before, PlannedGoal(goal), 20) == (before, ())


def test_plan_for_goal_with_available_actions_is_kept() -> None:
    goal = (
        "You are in a workshop with a bench 1, a shelf 2 and a tap 1.\n\nYour task is to: put a clean brush there. "
        "The actions you can take:\n1. go to {place}\n2. take {thing} from {place}\n3. wash {thing} at {place}"
    )
    before = plan(
        task(1, "take brush from shelf 2"), task(2, "wash brush at tap 1", "t1"), task(3, "put it down", "t2")
    )
    assert completed(before, PlannedGoal(goal), 20) == (before, ())
