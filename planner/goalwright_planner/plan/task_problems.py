"""The faults of one task of a plan, whatever the other tasks are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan import conditions
from goalwright_planner.plan.output_schema import schema_faults, short, type_of
from goalwright_planner.plan.references import ITEM, REFERENCE, references, strings, unreadable
from goalwright_planner.plan.task import ACTION_TYPES
from goalwright_planner.plan.task_id import PLANNED
from goalwright_skills.text.formatting import known_are
from goalwright_skills.text.untrusted import MOST_LEVELS, is_too_deep
from goalwright_skills.tools.parameter import TYPES, fits

if TYPE_CHECKING:
    from goalwright_planner.plan.known import Known

MOST_TRIES = 10
LEAST_ROUNDS, MOST_ROUNDS = 2, 20
_CHECK_KEYS = ("ask", "tries", "model")
_REPEAT_KEYS = ("until", "most")
_GOAL_KEYS = ("most_tasks", "max_cost")
_READABLE = "write <<id.output>>, <<id.output.field>>, <<id.status>>, <<id.count>>, or <<id[1].output>> for an item"
_REPEAT_EXAMPLE = '{"until": "<<id.output>> contains \\"done\\"", "most": 5}'
_LIST_EXAMPLE = "such as <<files.output>>"
_OF_TASK = re.compile(r"(?:\[[0-9]+\])?\.(?:output|status|count)\b")


def row_problems(number: int, row: object, known: Known) -> Iterator[str]:
    """Yield the faults of one task."""
    if not isinstance(row, Mapping):
        yield f"task number {number} must be an object, not {kind_of(row)}"
        return
    if is_too_deep(row):
        yield f"task number {number} is nested more than {MOST_LEVELS} levels deep; make it flatter"
        return
    task_id = row.get("id")
    if task_id in (None, ""):
        yield f"task number {number} has no 'id'; give each task a short unique one"
    elif not isinstance(task_id, str):
        yield f"task number {number}: 'id' must be a string, not {kind_of(task_id)}"
    elif not PLANNED.fullmatch(task_id):
        yield f"task id {task_id!r} may hold only letters, digits, '_' and '-', 64 at most"
    label = f"task {task_id!r}" if isinstance(task_id, str) and task_id else f"task number {number}"
    for key in ("title", "instruction", "name"):
        if row.get(key) is not None and not isinstance(row[key], str):
            yield f"{label}: '{key}' must be a string, not {kind_of(row[key])}"
    approval = row.get("needs_approval")
    if not isinstance(approval, bool | str | None) or (isinstance(approval, str) and not approval.strip()):
        actual = "an empty string" if isinstance(approval, str) else kind_of(approval)
        yield f"{label}: 'needs_approval' must be true, false or a question to a person, not {actual}"
    yield from (f"{label}: {fault}" for fault in _dependency_problems(row.get("depends_on")))
    yield from (f"{label}: {fault}" for fault in _action_problems(row, known))
    texts = list(strings((row.get("instruction"), row.get("arguments"))))
    yield from (f"{label}: {fault}" for fault in _list_problems(row, texts, _condition_texts(row)))
    yield from (f"{label}: {fault}" for fault in conditions.problems(row.get("when")))
    yield from (f"{label}: {fault}" for fault in _repeat_problems(row))
    yield from (f"{label}: {fault}" for fault in _result_problems(row, known.models))
    yield from (f"{label}: {fault}" for fault in _goal_problems(row, known.max_depth))
    yield from (
        f"{label} refers to {fault}" for fault in unreadable_problems((row.get("title"), *all_texts(row)), known)
    )
    if isinstance(row.get("title"), str) and (reference := next(references(row["title"]), None)) is not None:
        yield f"{label} refers to {reference} in its 'title', which is not filled in; leave that out"


def _dependency_problems(value: object) -> Iterator[str]:
    if value is not None and not isinstance(value, list):
        yield f"'depends_on' must be a list of task ids, not {kind_of(value)}"
    elif value and not all(isinstance(item, str) for item in value):
        yield "'depends_on' must hold task ids as strings only"


def _action_problems(row: Mapping[str, Any], known: Known) -> Iterator[str]:
    action, name = row.get("action_type"), row.get("name")
    if action not in ACTION_TYPES:
        actual = "is missing" if action is None else f"is {action!r}"
        yield f"'action_type' {actual}; it must be one of {', '.join(ACTION_TYPES)}"
        return
    arguments = row.get("arguments")
    if action == "tool":
        yield from _tool_problems(name, arguments, known, in_items=row.get("for_each") is not None)
        return
    if action == "skill" and not (isinstance(name, str) and name):
        yield f"a skill task needs 'name', the skill's; {known_are('', known.skills)}"
    elif action == "skill" and name not in known.skills:
        remedy = "it is a tool: use action_type 'tool'" if name in known.tools else known_are(name, known.skills)
        why = known.unusable.get(str(name))
        yield f"the skill {name!r} is {why}; {remedy}" if why else f"there is no skill {name!r}; {remedy}"
    if arguments and not isinstance(arguments, str) and action == "skill":
        yield f"'arguments' of a skill task must be a string, not {kind_of(arguments)}"


def _tool_problems(name: object, arguments: object, known: Known, *, in_items: bool) -> Iterator[str]:
    if not (isinstance(name, str) and name):
        yield f"a tool task needs 'name', the tool's; {known_are('', list(known.tools))}"
        return
    if name not in known.tools:
        if name in known.absent:
            yield f"the tool {name!r} cannot be used: {known.absent[name]}"
        elif name in known.skills:
            yield f"there is no tool {name!r}; it is a skill: use action_type 'skill'"
        else:
            yield f"there is no tool {name!r}; {known_are(name, list(known.tools))}"
    if arguments and not isinstance(arguments, Mapping):
        yield f"'arguments' of a tool task must be an object, not {kind_of(arguments)}"
    elif name in known.tools:
        faults = argument_problems(
            arguments if isinstance(arguments, Mapping) else {}, known.tools[name], in_items=in_items
        )
        yield from (f"tool {name!r} {fault}" for fault in faults)


def argument_problems(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], *, in_items: bool = False
) -> Iterator[str]:
    """Yield the faults for which the call would be refused; null counts as missing, as in the call."""
    properties = schema.get("properties", {})
    # The values of results and items are not known before the run.
    patterns = [REFERENCE, *([ITEM] if in_items else [])]
    for missing in (key for key in schema.get("required", ()) if arguments.get(key) is None):
        yield f"needs the argument {missing!r}"
    for key, value in arguments.items():
        if key not in properties:
            yield f"has no argument {key!r}; {known_are(str(key), list(properties))}"
        elif value is not None and not (isinstance(value, str) and any(pattern.search(value) for pattern in patterns)):
            yield from (
                f"takes {expected} as {key!r}, not {value!r:.80}" for expected in _unmet(value, properties[key])
            )


def _unmet(value: object, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the type or choices that a value does not fit; the tool checks the rest of its schema."""
    kind, choices = schema.get("type"), schema.get("enum")
    if kind in TYPES and not fits(value, kind):
        yield f"{'an' if kind[0] in 'aio' else 'a'} {kind}"
    elif isinstance(choices, list) and value not in choices:
        yield f"one of {', '.join(map(repr, choices))}"


def _list_problems(
    row: Mapping[str, Any], texts: Iterable[str], texts_of_conditions: Iterable[str] = ()
) -> Iterator[str]:
    """Yield the faults of a task's `for_each`; `texts` are those of its instruction and arguments.

    Its `conditions` may read the item too.
    """
    source = row.get("for_each")
    used = {match["path"] for text in texts for match in ITEM.finditer(text)}
    if source is None:
        read = {match["path"] for text in texts_of_conditions for match in ITEM.finditer(text)}
        yield from (f"'{key}' has no effect without 'for_each'" for key in ("width", "first") if row.get(key))
        if any(not _OF_TASK.match(path) for path in used | read):  # otherwise it refers to a task called `item`
            yield "<<item>> stands for an item of 'for_each', which is missing; add it, or leave <<item>> out"
        return
    if isinstance(source, str):
        match = REFERENCE.fullmatch(source.strip())
        if match is None or not match["part"].startswith("output"):
            yield f"'for_each' must be one reference {_LIST_EXAMPLE}, or a list, not {source!r:.80}"
    elif not isinstance(source, list | tuple):
        yield f"'for_each' must be one reference {_LIST_EXAMPLE}, or a list"
    if not used:
        yield "'for_each' without <<item>>: every item would be told the same; put <<item>> in the instruction"
    for key in ("width", "first"):
        value = row.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            yield f"'{key}' must be a positive integer, not {value!r:.80}"


def _repeat_problems(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a task's `repeat`."""
    repeat, own = row.get("repeat"), row.get("id")
    if repeat is None:
        return
    if not isinstance(repeat, Mapping):
        yield f"'repeat' must be an object such as {_REPEAT_EXAMPLE}, not {repeat!r:.80}"
        return
    for key in repeat:
        if key not in _REPEAT_KEYS:
            yield f"'repeat' has an unknown key {key!r}; use only {', '.join(_REPEAT_KEYS)}"
    most, until = repeat.get("most"), repeat.get("until")
    if most is None:
        yield f"'repeat' needs 'most', a whole number from {LEAST_ROUNDS} to {MOST_ROUNDS}, such as {_REPEAT_EXAMPLE}"
    elif not isinstance(most, int) or isinstance(most, bool) or not LEAST_ROUNDS <= most <= MOST_ROUNDS:
        yield f"'repeat.most' must be a whole number from {LEAST_ROUNDS} to {MOST_ROUNDS}, not {most!r:.80}"
    if until is None:
        yield f"'repeat' needs 'until', the condition that ends the rounds, such as {_REPEAT_EXAMPLE}"
        return
    broken = list(conditions.problems(until, "repeat.until"))
    yield from broken
    if broken or not isinstance(own, str):
        return
    read = [value for value in conditions.values_in(until) if value.id == own and value.item is None]
    if any(value.part == "status" for value in read):
        yield f"'repeat.until' reads <<{own}.status>>, its own, which is always done; read <<{own}.output>>"
    elif not read:
        yield f"'repeat.until' does not read <<{own}.output>>: no round could end differently from the one before"


def _result_problems(row: Mapping[str, Any], models: Sequence[str]) -> Iterator[str]:
    """Yield the faults of `output_schema`, `check` and `model`; `models` are the names that the task may use."""
    if row.get("action_type") == "tool":
        yield from _tool_result_problems(row)
        return
    if row.get("output_schema") is not None:
        yield from schema_faults(row["output_schema"])
    if row.get("action_type") == "goal":
        yield from _goal_result_problems(row)
        return
    yield from _model_problems(row.get("model"), "'model'", models)
    if row.get("check") is not None:
        yield from _check_problems(row["check"], models)
        if row.get("for_each") is None and any(ITEM.search(text) for text in strings(row["check"])):
            yield "<<item>> in 'check' is an item of 'for_each', which is missing; add it, or leave <<item>> out"


def _tool_result_problems(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that a tool cannot have, since no model can be asked for its result again."""
    if row.get("output_schema") is not None:
        yield "a tool task cannot have 'output_schema'; fields of its JSON text can be referred to without"
    if row.get("check") is not None:
        yield "a tool task cannot have 'check'; check the result in a task that depends on it"
    if row.get("model") is not None:
        yield "a tool task cannot have 'model'; it calls none"


def _goal_result_problems(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that a goal cannot have, since its result comes from many calls."""
    if row.get("check") is not None:
        yield "a goal task cannot have 'check'; check the result in a task that depends on it"
    if row.get("model") is not None:
        yield "a goal task cannot have 'model'; its tasks may"


def _check_problems(check: object, models: Sequence[str]) -> Iterator[str]:
    if not isinstance(check, Mapping):
        yield f'\'check\' must be an object such as {{"ask": "Does it …?", "tries": 2}}, not {short(check)}'
        return
    ask, tries = check.get("ask"), check.get("tries")
    if not (isinstance(ask, str) and ask.strip()):
        yield "'check' needs 'ask', what must hold for the result"
    if tries is not None and not (isinstance(tries, int) and not isinstance(tries, bool) and 0 <= tries <= MOST_TRIES):
        yield f"'check.tries' must be a whole number from 0 to {MOST_TRIES}, not {short(tries)}"
    for key in check:
        if key not in _CHECK_KEYS:
            yield f"'check' has an unknown key {key!r}; use only {', '.join(_CHECK_KEYS)}"
    yield from _model_problems(check.get("model"), "'check.model'", models)


def _model_problems(name: object, where: str, models: Sequence[str]) -> Iterator[str]:
    if name is None:
        return
    if not isinstance(name, str):
        yield f"{where} must be the name of a model, not {short(name)}"
    elif name not in models:
        yield f"{where} is {name!r}, which is not the name of a model here; {known_are(name, models)}"


def _goal_problems(row: Mapping[str, Any], max_depth: int) -> Iterator[str]:
    """Yield the faults of a sub-goal; `max_depth` is how deep goals may still be nested."""
    most, cost = row.get("most_tasks"), row.get("max_cost")
    if row.get("action_type") != "goal":
        yield from (f"'{key}' is only for action_type 'goal'" for key in _GOAL_KEYS if row.get(key) is not None)
        return
    if max_depth < 1:
        yield (
            "'action_type' 'goal' is not possible here, as goals are nested as deep as max_depth allows; "
            "plan the tasks themselves, or raise max_depth"
        )
    instruction = row.get("instruction")
    if instruction is None or (isinstance(instruction, str) and not instruction.strip()):
        yield "a goal task needs 'instruction', which says what to reach"
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        yield f"'most_tasks' must be a positive integer, not {most!r:.80}"
    number = isinstance(cost, int | float) and not isinstance(cost, bool)
    if cost is not None and not (number and math.isfinite(cost) and cost > 0):
        yield f"'max_cost' must be a positive number of dollars, not {cost!r:.80}"


def all_texts(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the texts of a task in which references are replaced, and the questions of its conditions."""
    asked = (condition.get("ask") for condition in conditions_of(row) if isinstance(condition, Mapping))
    return (*filled_texts(row), *asked)


def filled_texts(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the texts of a task in which references are replaced by values."""
    check = row.get("check")
    asked = check.get("ask") if isinstance(check, Mapping) else None
    return row.get("instruction"), row.get("arguments"), asked, row.get("needs_approval")


def conditions_of(row: Mapping[str, Any]) -> tuple[object, object]:
    """Return the condition for the task, and the one that ends its rounds."""
    return row.get("when"), until_in(row)


def _condition_texts(row: Mapping[str, Any]) -> list[str]:
    """Return the texts of the conditions of a task, or of the questions that replace them."""
    texts = (value.get("ask") if isinstance(value, Mapping) else value for value in conditions_of(row))
    return [text for text in texts if isinstance(text, str)]


def unreadable_problems(texts: object, known: Known) -> Iterator[str]:
    for text in dict.fromkeys(unreadable(texts)):
        if not known.quotes(text):
            yield f"{text}, which cannot be read; {_READABLE}"


def until_in(row: Mapping[str, Any]) -> object:
    """Return the condition that ends the rounds of a task, which may be invalid; None without `repeat`."""
    repeat = row.get("repeat")
    return repeat.get("until") if isinstance(repeat, Mapping) else None


def kind_of(value: object) -> str:
    """Return the type of a JSON value in words."""
    return type_of(value, "a list")
