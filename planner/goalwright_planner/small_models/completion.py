"""Puts back the parts of a goal that a plan lost: small models leave out half of what was asked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from goalwright_planner.plan.plan import graph_of
from goalwright_planner.plan.references import strings
from goalwright_planner.small_models.clauses import mask
from goalwright_planner.small_models.coverage import content_words, missing, phrases_of
from goalwright_planner.small_models.material import brings_material
from goalwright_planner.small_models.rules import plan_of_parts, task_of, whole_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_planner.small_models.parts import Part
    from goalwright_planner.small_models.rules import PlannedGoal

# A part is lost if no task has this share of it; a plan is replaced if this share of the goal is missing.
_KEPT_PART = 0.3
_LOST_GOAL = 0.5
# A goal with more content words is mostly material.
_MOST_WORDS = 40
_SHOWN = 6
_EACH = re.compile(r"(?<!\w)(?:each|apiece|jeweils|chacune?|cada un[oa])(?!\w)", re.IGNORECASE)
_PHRASE_END = re.compile(r"[,;.!?\n，；。！？]|(?<!\w)(?:and|then|und|dann|et|puis|y|luego)(?!\w)", re.IGNORECASE)


def completed(plan: Plan, goal: PlannedGoal, max_tasks: int) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with everything that the goal says, in its order, and a message for each repair.

    A question is kept as it is, and so is a plan for a goal with material, which need not be repeated.
    """
    if not plan.tasks or brings_material(goal.text):
        return plan, ()
    whole, repairs = _with_all_words(plan, goal, max_tasks)
    tasks, links = _with_links(whole.tasks, goal)
    return (whole.with_tasks(tasks) if links else whole), (*repairs, *links)


def with_skills(plan: Plan, goal: PlannedGoal, names: Sequence[str]) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with skills that it left out, each given to a task without a skill, and the repairs.

    A skill goes to the task of the part of the goal that it is the best skill for. Failing that, it goes to the only
    task of the plan, or to the first task if it was asked for by name.
    """
    repairs: list[str] = []
    for name in names:
        free = [task for task in plan.tasks if task.action_type == "llm"]
        parts = [part.text for part in goal.parts().parts if goal.skill_for(part.text) == name]
        if free and parts:
            task = _nearest(free, parts[0])
        elif free and (len(plan.tasks) == 1 or name in goal.asked):
            task = free[0]
        else:
            continue
        skilled = msgspec.structs.replace(task, action_type="skill", name=name)
        plan = plan.with_tasks([skilled if other is task else other for other in plan.tasks])
        repairs.append(f"the plan left out the skill {name!r}: {task.id} uses it now")
    return plan, tuple(repairs)


def _with_all_words(plan: Plan, goal: PlannedGoal, max_tasks: int) -> tuple[Plan, tuple[str, ...]]:
    words = content_words(goal.text)
    lost = goal.missing(_instructions(plan.tasks))
    if not lost or len(words) > _MOST_WORDS:
        return plan, ()
    message = f"the plan left out {_listed(phrases_of(goal.text, lost))}"
    parts = goal.parts().parts
    if len(plan.tasks) == 1 or len(lost) > _LOST_GOAL * len(words):
        if 1 < len(parts) <= max_tasks and not goal.missing(part.text for part in parts):
            return plan_of_parts(parts, goal), (f"{message}: it has one task for each part of the goal now",)
        kept = replace(goal, best=plan.tasks[0].name if len(plan.tasks) == 1 else goal.best)
        return whole_plan(kept), (f"{message}: its instruction is the whole goal now",)
    tasks, added = _with_parts(plan.tasks, parts, goal)
    if len(tasks) > max_tasks:
        return whole_plan(goal), (f"{message}: its instruction is the whole goal now",)
    tasks, detailed = _with_own_words(tasks, parts, lost)
    tasks, changed = _with_phrases(tasks, goal.text)
    changed_ids = dict.fromkeys((*added, *detailed, *changed))
    return plan.with_tasks(tasks), (f"{message}: it was put back into {', '.join(changed_ids)}",)


def _with_parts(
    tasks: tuple[Task, ...], parts: Sequence[Part], goal: PlannedGoal
) -> tuple[tuple[Task, ...], list[str]]:
    """Return the tasks with a task for each part of the goal that they lost, and the ids of the new tasks."""
    added: list[str] = []
    if len(parts) < 2:
        return tasks, added
    for part in parts:
        if _EACH.search(part.text):
            continue  # a detail of other parts
        words = _without_numbers(content_words(part.text))
        nearest = _instructions([_nearest(tasks, part.text)])
        if len(words) - len(_without_numbers(missing(part.text, nearest))) < _KEPT_PART * len(words):
            task_id = _free_id(tasks)
            after = tuple(dict.fromkeys(_nearest(tasks, parts[index].text).id for index in part.after))
            tasks = (*tasks, task_of(task_id, part.text, goal.skill_for(part.text), after, goal.notes))
            added.append(task_id)
    return tasks, added


def _with_own_words(
    tasks: tuple[Task, ...], parts: Sequence[Part], lost: Sequence[str]
) -> tuple[tuple[Task, ...], list[str]]:
    """Return the tasks, each with its own part of the goal if it lost words of it, and the ids of changed tasks."""
    changed: list[str] = []
    for task_id, part in _matched(tasks, parts).items():
        (task,) = (other for other in tasks if other.id == task_id)
        if set(missing(part.text, _instructions([task]))) & set(lost):
            tasks = _with_detail(tasks, [task_id], part.text)
            changed.append(task_id)
    return tasks, changed


def _matched(tasks: Sequence[Task], parts: Sequence[Part]) -> dict[str, Part]:
    """Map the id of each task to its part of the goal; empty unless every part has a task of its own."""

    def distance(part: Part, task: Task) -> tuple[int, int]:
        texts = _instructions([task])
        return len(missing(part.text, texts)), sum(len(missing(text, [part.text])) for text in texts)

    nearest = {min(tasks, key=lambda task: distance(part, task)).id: part for part in parts}
    return nearest if 1 < len(parts) == len(nearest) else {}


def _with_phrases(tasks: tuple[Task, ...], goal: str) -> tuple[tuple[Task, ...], list[str]]:
    """Return the tasks, each with the lost phrases of the goal that it is nearest to, and the ids of changed tasks."""
    changed: list[str] = []
    for phrase in _phrases(goal):
        if not missing(phrase, _instructions(tasks)):
            continue
        first = [task.id for task in tasks if not task.depends_on]
        ids = first if _EACH.search(phrase) and len(first) > 1 else [_nearest(tasks, phrase).id]
        tasks = _with_detail(tasks, ids, phrase)
        changed += ids
    return tasks, changed


def _with_detail(tasks: tuple[Task, ...], ids: Sequence[str], detail: str) -> tuple[Task, ...]:
    return tuple(
        msgspec.structs.replace(task, instruction=f"{task.instruction} ({detail})".strip()) if task.id in ids else task
        for task in tasks
    )


def _with_links(tasks: tuple[Task, ...], goal: PlannedGoal) -> tuple[tuple[Task, ...], list[str]]:
    """Return the tasks, each after the tasks whose results its part of the goal refers to, and the repairs."""
    import networkx as nx  # slow to import

    matched = _matched(tasks, goal.parts().parts)
    ids, graph, repairs = list(matched), graph_of(tasks), []
    for task_id, part in matched.items():
        for dependency in (ids[index] for index in part.after):
            if nx.has_path(graph, dependency, task_id) or nx.has_path(graph, task_id, dependency):
                continue
            graph.add_edge(dependency, task_id)
            tasks = tuple(
                msgspec.structs.replace(task, depends_on=(*task.depends_on, dependency)) if task.id == task_id else task
                for task in tasks
            )
            repairs.append(f"the plan did not say that {task_id} needs the result of {dependency}: it does now")
    return tasks, repairs


def _phrases(goal: str) -> list[str]:
    masked, phrases, begin = mask(goal), [], 0
    for end in _PHRASE_END.finditer(masked):
        phrases.append(goal[begin : end.start()])
        begin = end.end()
    return [phrase.strip() for phrase in [*phrases, goal[begin:]] if phrase.strip()]


def _nearest(tasks: Sequence[Task], text: str) -> Task:
    """Return the task that shares the most words with a text; the last of equal ones, which the answer comes from."""
    return min(reversed(tasks), key=lambda task: len(missing(text, _instructions([task]))))


def _instructions(tasks: Sequence[Task]) -> list[str]:
    return [text for task in tasks for text in (task.instruction, *strings(task.arguments))]


def _without_numbers(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.isdigit()]


def _free_id(tasks: Sequence[Task]) -> str:
    taken = {task.id for task in tasks}
    return next(task_id for number in range(1, len(tasks) + 2) if (task_id := f"t{number}") not in taken)


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(repr(word) for word in words[:_SHOWN]) + more
