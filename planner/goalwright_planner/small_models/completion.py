"""Puts back into a plan what it lost of the goal: a small model writes plans that leave out half of what was asked."""

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
    from goalwright_planner.small_models.rules import Wanted

# A part is lost if no task has this much of it; a plan is given up if this much of the goal is missing.
_KEPT_PART = 0.3
_LOST_GOAL = 0.5
# Of a goal with more content words, most is material, whatever it looks like.
_LONGEST = 40
_SHOWN = 6
_EACH = re.compile(r"(?<!\w)(?:each|apiece|jeweils|chacune?|cada un[oa])(?!\w)", re.IGNORECASE)
_PHRASE = re.compile(r"[,;.!?\n，；。！？]|(?<!\w)(?:and|then|und|dann|et|puis|y|luego)(?!\w)", re.IGNORECASE)


def completed(plan: Plan, wanted: Wanted, most: int) -> tuple[Plan, tuple[str, ...]]:
    """The plan with everything that the goal says, in the order that it says, and what was put back.

    A question stays as it is, and so does a plan for a goal with material, which is not to be repeated.
    """
    if not plan.tasks or brings_material(wanted.goal):
        return plan, ()
    whole, put_back = _with_all(plan, wanted, most)
    tasks, linked = _with_links(whole.tasks, wanted)
    return (whole.with_tasks(tasks) if linked else whole), (*put_back, *linked)


def with_skills(plan: Plan, wanted: Wanted, names: Sequence[str]) -> tuple[Plan, tuple[str, ...]]:
    """The plan with skills that it left out, each in a task without one that it fits; and what was put back.

    It fits the task of a part of the goal for which it is the best skill, a task alone, and if it was asked for by
    name the first task.
    """
    said: list[str] = []
    for name in names:
        free = [task for task in plan.tasks if task.action_type == "llm"]
        parts = [part.text for part in wanted.parts().parts if wanted.skill_for(part.text) == name]
        if free and parts:
            task = _nearest(free, parts[0])
        elif free and (len(plan.tasks) == 1 or name in wanted.asked):
            task = free[0]
        else:
            continue
        told = msgspec.structs.replace(task, action_type="skill", name=name)
        plan = plan.with_tasks([told if other is task else other for other in plan.tasks])
        said.append(f"the plan left out the skill {name!r}: {task.id} uses it now")
    return plan, tuple(said)


def _with_all(plan: Plan, wanted: Wanted, most: int) -> tuple[Plan, tuple[str, ...]]:
    words = content_words(wanted.goal)
    lost = wanted.lost(_instructions(plan.tasks))
    if not lost or len(words) > _LONGEST:
        return plan, ()
    named = f"the plan left out {_listed(phrases_of(wanted.goal, lost))}"
    parts = wanted.parts().parts
    if len(plan.tasks) == 1 or len(lost) > _LOST_GOAL * len(words):
        covered = 1 < len(parts) <= most and not wanted.lost(part.text for part in parts)
        if covered:
            return plan_of_parts(parts, wanted), (f"{named}: it has one task for each part of the goal now",)
        kept = replace(wanted, best=plan.tasks[0].name if len(plan.tasks) == 1 else wanted.best)
        return whole_plan(kept), (f"{named}: its instruction is the whole goal now",)
    tasks, added = _with_parts(plan.tasks, parts, wanted)
    if len(tasks) > most:
        return whole_plan(wanted), (f"{named}: its instruction is the whole goal now",)
    tasks, detailed = _with_own_words(tasks, parts, lost)
    tasks, changed = _with_phrases(tasks, wanted.goal)
    return plan.with_tasks(tasks), (
        f"{named}: it was put back into {', '.join(dict.fromkeys((*added, *detailed, *changed)))}",
    )


def _with_parts(tasks: tuple[Task, ...], parts: Sequence[Part], wanted: Wanted) -> tuple[tuple[Task, ...], list[str]]:
    """The tasks, and one for each part of the goal that they lost."""
    added: list[str] = []
    if len(parts) < 2:
        return tasks, added
    for part in parts:
        if _EACH.search(part.text):
            continue  # a detail of others
        words = _but_numbers(content_words(part.text))
        nearest = _instructions([_nearest(tasks, part.text)])
        if len(words) - len(_but_numbers(missing(part.text, nearest))) < _KEPT_PART * len(words):
            new = _free_id(tasks)
            after = tuple(dict.fromkeys(_nearest(tasks, parts[before].text).id for before in part.after))
            tasks = (*tasks, task_of(new, part.text, wanted.skill_for(part.text), after, wanted.notes))
            added.append(new)
    return tasks, added


def _with_own_words(
    tasks: tuple[Task, ...], parts: Sequence[Part], lost: Sequence[str]
) -> tuple[tuple[Task, ...], list[str]]:
    """The tasks, each with its own part of the goal if it lost words of it: "in two sentences" is said of each."""
    changed: list[str] = []
    for name, part in _matched(tasks, parts).items():
        (task,) = (other for other in tasks if other.id == name)
        if set(missing(part.text, _instructions([task]))) & set(lost):
            told = msgspec.structs.replace(task, instruction=f"{task.instruction} ({part.text})".strip())
            tasks = tuple(told if other is task else other for other in tasks)
            changed.append(name)
    return tasks, changed


def _matched(tasks: Sequence[Task], parts: Sequence[Part]) -> dict[str, Part]:
    """The part of the goal that each task is for, by the task's id; empty unless every part has a task of its own."""

    def distance(part: Part, task: Task) -> tuple[int, int]:
        told = _instructions([task])
        return len(missing(part.text, told)), sum(len(missing(text, [part.text])) for text in told)

    nearest = {min(tasks, key=lambda task: distance(part, task)).id: part for part in parts}
    return nearest if 1 < len(parts) == len(nearest) else {}


def _with_phrases(tasks: tuple[Task, ...], goal: str) -> tuple[tuple[Task, ...], list[str]]:
    """The tasks, each with the phrases of the goal that it is nearest to and that no instruction has."""
    changed: list[str] = []
    for phrase in _phrases(goal):
        if not missing(phrase, _instructions(tasks)):
            continue
        first = [task for task in tasks if not task.depends_on]
        told = first if _EACH.search(phrase) and len(first) > 1 else [_nearest(tasks, phrase)]
        names = [task.id for task in told]
        tasks = tuple(
            msgspec.structs.replace(task, instruction=f"{task.instruction} ({phrase})".strip())
            if task.id in names
            else task
            for task in tasks
        )
        changed += names
    return tasks, changed


def _with_links(tasks: tuple[Task, ...], wanted: Wanted) -> tuple[tuple[Task, ...], list[str]]:
    """The tasks, each after those whose results its part of the goal speaks of: "a subject line for it"."""
    import networkx as nx  # slow to import, and a run's first call leaves without it

    matched = _matched(tasks, wanted.parts().parts)
    ids, graph, said = list(matched), graph_of(tasks), []
    for name, part in matched.items():
        for before in (ids[place] for place in part.after):
            if nx.has_path(graph, before, name) or nx.has_path(graph, name, before):
                continue
            graph.add_edge(before, name)
            tasks = tuple(
                msgspec.structs.replace(task, depends_on=(*task.depends_on, before)) if task.id == name else task
                for task in tasks
            )
            said.append(f"the plan did not say that {name} needs the result of {before}: it does now")
    return tasks, said


def _phrases(goal: str) -> list[str]:
    masked, phrases, begin = mask(goal), [], 0
    for gap in _PHRASE.finditer(masked):
        phrases.append(goal[begin : gap.start()])
        begin = gap.end()
    return [phrase.strip() for phrase in [*phrases, goal[begin:]] if phrase.strip()]


def _nearest(tasks: Sequence[Task], text: str) -> Task:
    """The task that shares the most words with a text; the last one of several, which the answer comes from."""
    return min(reversed(tasks), key=lambda task: len(missing(text, _instructions([task]))))


def _instructions(tasks: Sequence[Task]) -> list[str]:
    return [text for task in tasks for text in (task.instruction, *strings(task.arguments))]


def _but_numbers(words: Sequence[str]) -> list[str]:
    """A number alone is a detail."""
    return [word for word in words if not word.isdigit()]


def _free_id(tasks: Sequence[Task]) -> str:
    taken = {task.id for task in tasks}
    return next(name for at in range(1, len(tasks) + 2) if (name := f"t{at}") not in taken)


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(repr(word) for word in words[:_SHOWN]) + more
