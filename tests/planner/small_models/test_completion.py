"""What a plan lost of the goal is put back."""

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


def task(number: int, instruction: str, *after: str, name: str | None = None) -> Task:
    return Task(f"t{number}", "skill" if name else "llm", name=name, instruction=instruction, depends_on=after)


def whole(one: Plan, goal: str, most: int = 20) -> tuple[Plan, str]:
    """The completed plan, which can run and lost nothing, and what it says was put back."""
    made, repairs = completed(one, PlannedGoal(goal), most)
    assert problems(made.to_dict(), Known(["poetry"])) == []
    assert missing(goal, [one.instruction for one in made.tasks]) == []
    return made, " ".join(repairs)


def test_a_plan_that_has_everything_is_left_alone() -> None:
    given = plan(
        task(1, "Write a haiku about the rain"),
        task(2, "Give a list of ten prime numbers"),
        task(3, "Put both on one page, in British English", "t1", "t2"),
    )
    made, repairs = completed(given, PlannedGoal(GOAL), 20)
    assert made is given
    assert repairs == ()


def test_the_only_task_of_a_plan_that_lost_a_part_is_divided_into_the_parts() -> None:
    made, said = whole(plan(task(1, "Write a haiku")), "a haiku and a prime function")
    assert [one.instruction for one in made.tasks] == ["A haiku.", "A prime function."]
    assert said == ("the plan left out 'prime function': it has one task for each part of the goal now")


def test_the_only_task_has_the_whole_goal_if_the_goal_lists_no_parts() -> None:
    goal = "Write a story about a cat, a dog and a mouse"
    made, said = whole(plan(task(1, "Write a story about a cat", name="poetry")), goal)
    assert [(one.name, one.instruction) for one in made.tasks] == [("poetry", goal)]
    assert "'dog', 'mouse': its instruction is the whole goal now" in said


def test_a_lost_part_becomes_a_task() -> None:
    given = plan(task(1, "Write a haiku about rain"), task(2, "Put it on a page in British English", "t1"))
    made, said = whole(given, GOAL)
    assert [(one.id, one.instruction, one.depends_on) for one in made.tasks][2:] == [("t3", "List ten primes.", ())]
    assert made.tasks[0] == given.tasks[0]
    assert made.tasks[1].depends_on == ("t1", "t3")
    assert said == (
        "the plan left out 'ten primes': it was put back into t3 "
        "the plan did not say that t2 needs the result of t3: it does now"
    )


def test_a_lost_part_depends_on_the_tasks_that_stand_for_what_it_builds_on() -> None:
    goal = "Write a poem about rain, write a song about snow, then translate both into French"
    given = plan(task(1, "Write a poem about rain"), task(2, "Write a song about snow"))
    made, _ = whole(given, goal)
    assert (made.tasks[2].instruction, made.tasks[2].depends_on) == ("Translate both into French.", ("t1", "t2"))


def test_a_lost_detail_goes_into_the_nearest_task() -> None:
    given = plan(task(1, "Write a haiku about rain"), task(2, "List primes"), task(3, "Put both on a page", "t1", "t2"))
    made, said = whole(given, GOAL)
    assert made.tasks[1].instruction == "List primes (List ten primes.)"
    assert made.tasks[2].instruction == "Put both on a page (Put both on a page in British English.)"
    assert said.endswith("it was put back into t2, t3")


def test_a_plan_that_lost_most_of_the_goal_is_made_again() -> None:
    goal = "Erkläre Rekursion, Monaden und Funktoren an Beispielen aus Haskell"
    made, said = whole(plan(task(1, "Explain recursion"), task(2, "Explain monads")), goal)
    assert len(made.tasks) in (1, 3)
    assert "left out" in said


def test_a_plan_that_would_get_too_long_is_the_whole_goal() -> None:
    given = plan(task(1, "Write a haiku about rain"), task(2, "Put it on a page in British English", "t1"))
    made, _ = whole(given, GOAL, most=2)
    assert [one.instruction for one in made.tasks] == [GOAL]


def test_arguments_count_and_questions_are_left_alone() -> None:
    call = Task("t1", "tool", name="sheet_read", arguments={"path": "pay.xlsx"})
    done = plan(call, task(2, "Sum up the pay", "t1"))
    assert completed(done, PlannedGoal("Sum up pay.xlsx"), 20) == (done, ())
    question = Plan((), clarification="Which?")
    assert completed(question, PlannedGoal(GOAL), 20) == (question, ())


@pytest.mark.parametrize("given", ["Write a haiku", "x", "List ten primes, then put both on a page", GOAL])
@pytest.mark.parametrize("second", ["", "Explain", "Translate into British"])
def test_no_word_of_the_goal_is_ever_lost(given: str, second: str) -> None:
    tasks = [task(1, given), *([task(2, second, "t1")] if second else [])]
    whole(plan(*tasks), GOAL)


def test_a_task_follows_what_its_part_of_the_goal_speaks_of() -> None:
    given = plan(task(1, "Draft a welcome email"), task(2, "Write a subject line"), task(3, "Draft two tweets"))
    made, said = whole(given, "Draft a welcome email, a subject line for it, and two tweets")
    assert [one.depends_on for one in made.tasks] == [(), ("t1",), ()]
    assert said == "the plan did not say that t2 needs the result of t1: it does now"


def test_tasks_that_the_plan_has_in_another_order_stay_as_they_are() -> None:
    given = plan(task(1, "Draft a welcome email", "t2"), task(2, "Write a subject line"))
    assert completed(given, PlannedGoal("Draft a welcome email, and a subject line for it"), 20) == (given, ())


def test_a_detail_of_several_parts_goes_into_each_of_their_tasks() -> None:
    given = plan(task(1, "Describe tea"), task(2, "Describe coffee"), task(3, "Recommend tea or coffee", "t1", "t2"))
    goal = "Describe tea in two sentences, describe coffee in two sentences, then recommend tea or coffee"
    made, said = whole(given, goal)
    assert ["two sentences" in one.instruction for one in made.tasks] == [True, True, False]
    assert said == "the plan left out 'two sentences': it was put back into t1, t2"


def test_a_detail_of_each_part_goes_into_all_tasks_that_come_first() -> None:
    given = plan(task(1, "Describe tea"), task(2, "Describe coffee"), task(3, "Compare tea and coffee", "t1", "t2"))
    made, _ = whole(given, "Compare tea and coffee, two sentences each")
    assert ["two sentences each" in one.instruction for one in made.tasks] == [True, True, False]


def test_the_plan_of_a_goal_that_brings_its_material_along_is_kept() -> None:
    rows = "; ".join(f"colour{number} costs{number} euros" for number in range(40))
    goal = f"Find the cheapest colour and write a letter to order it. The prices: {rows}"
    given = plan(task(1, "Find the cheapest colour"), task(2, "Write a letter that orders it", "t1"))
    assert completed(given, PlannedGoal(goal), 20) == (given, ())


def test_a_plan_for_a_goal_with_material_is_left_as_the_model_made_it() -> None:
    goal = (
        "You are in a workshop with a bench 1, a shelf 2 and a tap 1.\n\nYour task is to: put a clean brush there. "
        "The actions you can take:\n1. go to {place}\n2. take {thing} from {place}\n3. wash {thing} at {place}"
    )
    given = plan(task(1, "take brush from shelf 2"), task(2, "wash brush at tap 1", "t1"), task(3, "put it down", "t2"))
    assert completed(given, PlannedGoal(goal), 20) == (given, ())
