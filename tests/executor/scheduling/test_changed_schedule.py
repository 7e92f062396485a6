"""The scheduler when a plan changes: skipped and held tasks run if they now can."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from goalwright_executor.results.outcome import Done, Failed, Outcome, Skipped
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.schedule import Schedule
from goalwright_planner.events import TaskFinished, TaskStarted
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.errors import GoalwrightError
from tests.fakes import Recorder
from tests.plans import plans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def task(task_id: str, *depends_on: str) -> Task:
    return Task(task_id, "llm", depends_on=depends_on)


def schedule_of(plan: Plan, fails: set[str], hold: Callable[[Task], bool] | None = None) -> tuple[Schedule, Recorder]:
    record = Recorder()

    async def run_task(task: Task, results: Mapping[str, str]) -> str:
        if task.id in fails:
            raise GoalwrightError("no")
        return "+".join([task.id, *(results[before] for before in task.depends_on)])

    schedule = Schedule(run_task, record, ScheduleLimits(3), hold=hold)
    schedule.add(*plan.tasks)
    schedule.close()
    return schedule, record


def started(record: Recorder) -> list[str]:
    return [event.task for event in record.events if isinstance(event, TaskStarted)]


async def test_dependents_of_failed_task_run_after_its_replacement() -> None:
    plan = Plan((task("a"), task("b"), task("c", "a", "b"), task("d", "c"), task("e", "a")))
    schedule, record = schedule_of(plan, {"a"})
    first = dict(await schedule.run())
    assert {name: type(one) for name, one in first.items()} == {
        "a": Failed, "b": Done, "c": Skipped, "d": Skipped, "e": Skipped,
    }  # fmt: skip
    after = plan.changed([task("a2", "b")], ["e"], {"a": "a2"})
    schedule.change(after)
    outcomes = await schedule.run()
    assert outcomes["d"] == Done("d+c+a2+b+b")
    assert isinstance(outcomes["a"], Failed)
    assert "e" not in outcomes
    assert sorted(started(record)) == ["a", "a2", "b", "c", "d"], "each task once"


async def test_skipped_task_is_not_recorded_twice() -> None:
    plan = Plan((task("a"), task("x"), task("b", "a"), task("y", "x")))
    schedule, record = schedule_of(plan, {"a", "x"})
    await schedule.run()
    schedule.change(plan.changed([task("a2")], (), {"a": "a2"}))
    outcomes = await schedule.run()
    assert isinstance(outcomes["y"], Skipped)
    assert isinstance(outcomes["b"], Done)
    ended = [event.task for event in record.events if isinstance(event, TaskFinished)]
    assert ended.count("y") == 1


async def test_held_task_and_its_dependents_wait_for_the_change() -> None:
    held = {"b"}
    plan = Plan((task("a"), task("b", "a"), task("c", "b"), task("d", "a")))
    schedule, record = schedule_of(plan, set(), lambda one: one.id in held)
    assert set(await schedule.run()) == {"a", "d"}
    held.clear()
    schedule.change(plan)
    assert set(await schedule.run()) == {"a", "b", "c", "d"}
    assert started(record) == ["a", "d", "b", "c"]


async def test_held_task_may_be_dropped() -> None:
    plan = Plan((task("a"), task("b", "a"), task("c", "b")))
    schedule, record = schedule_of(plan, set(), lambda one: one.id == "b")
    await schedule.run()
    schedule.change(plan.changed([task("z", "a")], ["b", "c"]))
    assert set(await schedule.run()) == {"a", "z"}
    assert started(record) == ["a", "z"]


def _failed(outcomes: Mapping[str, Outcome]) -> list[str]:
    return [name for name, one in outcomes.items() if isinstance(one, Failed)]


@given(plans(most=10), st.data())
@settings(max_examples=60)
def test_replacing_failed_tasks_runs_all_others(plan: Plan, data: st.DataObject) -> None:
    fails = set(data.draw(st.lists(st.sampled_from([one.id for one in plan.tasks]), unique=True)))

    async def run() -> tuple[Mapping[str, Outcome], Recorder, Plan]:
        schedule, record = schedule_of(plan, fails)
        changed, tries = plan, 0
        while failed := [name for name in _failed(await schedule.run()) if name not in changed.replaced]:
            tries += 1
            assert tries <= len(plan.tasks), "each round replaces at least one"
            added = [Task(f"{name}-again", "llm", depends_on=changed.task(name).depends_on) for name in failed]
            changed = changed.changed(added, (), {name: f"{name}-again" for name in failed})
            schedule.change(changed)
        return schedule.outcomes, record, changed

    outcomes, record, changed = asyncio.run(run())
    wanted = {one.id for one in changed.tasks} - changed.replaced
    assert {name for name, one in outcomes.items() if isinstance(one, Done)} == wanted
    assert len(started(record)) == len(set(started(record)))
