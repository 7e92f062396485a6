"""Finds everything that is wrong with a plan at once, in words that a model or a person can act on.

Faults go into the prompt that asks a model again: changing their text breaks strict replay of recorded runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan import conditions, fan_out, repeat
from goalwright_planner.plan.changes import sub_goals
from goalwright_planner.plan.forms.output_schema import type_of
from goalwright_planner.plan.forms.result_keys import field_fault, form_faults
from goalwright_planner.plan.references import ITEM, REFERENCE, Reference, foreign, references, strings, unreadable
from goalwright_planner.plan.task import ACTION_TYPES
from goalwright_planner.plan.task_id import PLANNED
from goalwright_skills.text.nearest import known_are
from goalwright_skills.text.nesting import MOST_LEVELS, is_too_deep
from goalwright_skills.tools.parameter import TYPES, fits

if TYPE_CHECKING:
    import networkx as nx

_READABLE = "write <<id.output>>, <<id.output.field>>, <<id.status>>, <<id.count>>, or <<id[1].output>> for an item"


@dataclass(frozen=True, slots=True)
class Known:
    """What a plan may use: skills, tools with the JSON schema of their parameters, and at most `max_tasks` tasks.

    While it runs it may grow by `max_grown` tasks in all, with sub-goals `max_depth` deep. `models` are the names by
    which tasks may choose one. What a plan quotes from `quoted` texts, such as the goal, refers to nothing. `absent`
    says of further tools why they cannot be used here, `unusable` what is the matter with further skills. `earlier`
    are tasks of earlier turns of the conversation that have a result, as they are referred to. Where `direct`, there
    may be an answer instead of a plan.
    """

    skills: Sequence[str] = ()
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    max_tasks: int = 100
    max_grown: int = 1_000
    max_depth: int = 2
    models: Sequence[str] = ()
    quoted: Sequence[str] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    earlier: Collection[str] = ()
    direct: bool = False
    unusable: Mapping[str, str] = field(default_factory=dict)

    def quotes(self, text: str) -> bool:
        """Whether a text stands in what may be quoted."""
        return any(text in quoted for quoted in self.quoted)


def problems(document: object, known: Known) -> list[str]:
    """All faults of a plan document, each with a remedy; empty if the plan can be run."""
    if not isinstance(document, Mapping):
        return [f"the plan must be a JSON object with a 'tasks' list, not {_kind(document)}"]
    faults = [
        f"'{key}' must be a string or null, not {_kind(document[key])}"
        for key in ("synthesis", "clarification")
        if document.get(key) is not None and not isinstance(document[key], str)
    ]
    if not isinstance(joined := document.get("joined", False), bool):
        faults.append(f"'joined' must be true or false, not {_kind(joined)}")
    rows = document.get("tasks")
    if not rows and isinstance(document.get("clarification"), str) and document["clarification"].strip():
        return faults
    if not isinstance(rows, list):
        return [*faults, f"'tasks' must be a list of tasks, not {_kind(rows)}"]
    if not rows:
        return [*faults, "the plan has no tasks; give at least one, or ask a question in 'clarification'"]
    if len(rows) > known.max_tasks:
        faults.append(f"the plan has {len(rows)} tasks, more than the {known.max_tasks} allowed; merge some")
    if isinstance(goal := document.get("goal"), str):
        known = replace(known, quoted=(*known.quoted, goal))
    for number, row in enumerate(rows, 1):
        faults += row_problems(number, row, known)
    whole = [row for row in rows if isinstance(row, Mapping)]
    return [*faults, *graph_problems(whole, known), *synthesis_problems(document.get("synthesis"), whole, known)]


def row_problems(number: int, row: object, known: Known) -> Iterator[str]:
    """What is wrong with one task, whatever the others are."""
    if not isinstance(row, Mapping):
        yield f"task number {number} must be an object, not {_kind(row)}"
        return
    if is_too_deep(row):
        yield f"task number {number} is nested more than {MOST_LEVELS} levels deep; make it flatter"
        return
    task_id = row.get("id")
    if task_id in (None, ""):
        yield f"task number {number} has no 'id'; give each task a short unique one"
    elif not isinstance(task_id, str):
        yield f"task number {number}: 'id' must be a string, not {_kind(task_id)}"
    elif not PLANNED.fullmatch(task_id):
        yield f"task id {task_id!r} may hold only letters, digits, '_' and '-', 64 at most"
    label = f"task {task_id!r}" if isinstance(task_id, str) and task_id else f"task number {number}"
    for key in ("title", "instruction", "name"):
        if row.get(key) is not None and not isinstance(row[key], str):
            yield f"{label}: '{key}' must be a string, not {_kind(row[key])}"
    approval = row.get("needs_approval")
    if not isinstance(approval, bool | str | None) or (isinstance(approval, str) and not approval.strip()):
        actual = "an empty string" if isinstance(approval, str) else _kind(approval)
        yield f"{label}: 'needs_approval' must be true, false or a question to a person, not {actual}"
    yield from (f"{label}: {fault}" for fault in _dependency_problems(row.get("depends_on")))
    yield from (f"{label}: {fault}" for fault in _action_problems(row, known))
    texts = list(strings((row.get("instruction"), row.get("arguments"))))
    yield from (f"{label}: {fault}" for fault in fan_out.faults(row, texts, _condition_texts(row)))
    yield from (f"{label}: {fault}" for fault in conditions.faults(row.get("when")))
    yield from (f"{label}: {fault}" for fault in repeat.faults(row))
    yield from (f"{label}: {fault}" for fault in form_faults(row, known.models))
    yield from (f"{label}: {fault}" for fault in sub_goals.faults(row, known.max_depth))
    yield from (f"{label} refers to {fault}" for fault in _unreadable((row.get("title"), *_texts(row)), known))
    if isinstance(row.get("title"), str) and (given := next(references(row["title"]), None)) is not None:
        yield f"{label} refers to {given} in its 'title', which is not filled in; leave that out"


def _dependency_problems(value: object) -> Iterator[str]:
    if value is not None and not isinstance(value, list):
        yield f"'depends_on' must be a list of task ids, not {_kind(value)}"
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
        yield f"'arguments' of a skill task must be a string, not {_kind(arguments)}"


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
        yield f"'arguments' of a tool task must be an object, not {_kind(arguments)}"
    elif name in known.tools:
        given = arguments if isinstance(arguments, Mapping) else {}
        faults = argument_problems(given, known.tools[name], in_items=in_items)
        yield from (f"tool {name!r} {fault}" for fault in faults)


def argument_problems(given: Mapping[str, Any], schema: Mapping[str, Any], *, in_items: bool = False) -> Iterator[str]:
    """What the call itself would be refused for; null counts as left out, as in the call."""
    properties = schema.get("properties", {})
    # An upstream result, or an item, is known to the run alone.
    patterns = [REFERENCE, *([ITEM] if in_items else [])]
    for missing in (key for key in schema.get("required", ()) if given.get(key) is None):
        yield f"needs the argument {missing!r}"
    for key, value in given.items():
        if key not in properties:
            yield f"has no argument {key!r}; {known_are(str(key), list(properties))}"
        elif value is not None and not (isinstance(value, str) and any(pattern.search(value) for pattern in patterns)):
            yield from (f"takes {wanted} as {key!r}, not {value!r:.80}" for wanted in _unmet(value, properties[key]))


def _unmet(value: object, schema: Mapping[str, Any]) -> Iterator[str]:
    """What a value should be and is not, by its type and choices; the tool checks the rest of its schema."""
    wanted, choices = schema.get("type"), schema.get("enum")
    if wanted in TYPES and not fits(value, wanted):
        yield f"{'an' if wanted[0] in 'aio' else 'a'} {wanted}"
    elif isinstance(choices, list) and value not in choices:
        yield f"one of {', '.join(map(repr, choices))}"


def _texts(row: Mapping[str, Any]) -> tuple[object, ...]:
    """The texts of a task in which references are filled."""
    asked = (condition.get("ask") for condition in _conditions(row) if isinstance(condition, Mapping))
    return (*_told_texts(row), *asked)


def _told_texts(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Those that it is told with, where a reference that cannot be read is missed."""
    check = row.get("check")
    asked = check.get("ask") if isinstance(check, Mapping) else None
    return row.get("instruction"), row.get("arguments"), asked, row.get("needs_approval")


def _conditions(row: Mapping[str, Any]) -> tuple[object, object]:
    """What decides whether it runs, and what ends its rounds."""
    return row.get("when"), repeat.until_in(row)


def _condition_texts(row: Mapping[str, Any]) -> list[str]:
    """The conditions of a task, or the questions in their place."""
    texts = (one.get("ask") if isinstance(one, Mapping) else one for one in _conditions(row))
    return [text for text in texts if isinstance(text, str)]


def _unreadable(texts: object, known: Known) -> Iterator[str]:
    for text in dict.fromkeys(unreadable(texts)):
        if not known.quotes(text):
            yield f"{text}, which cannot be read; {_READABLE}"


def graph_problems(rows: Sequence[Mapping[str, Any]], known: Known) -> Iterator[str]:
    """What is wrong with tasks together: their ids, dependencies and references."""
    import networkx as nx

    rows = [row for row in rows if isinstance(row.get("id"), str) and row["id"]]
    ids = [row["id"] for row in rows]
    for twice, times in Counter(ids).items():
        if times > 1:
            yield f"the id {twice!r} is used by {times} tasks; ids must be unique"
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(ids)
    for row in rows:
        for before in _dependencies(row):
            if before == row["id"]:
                yield f"task {row['id']!r} depends on itself"
            elif before not in graph:
                remedy = (
                    "give it a task of its own, before this one"
                    if before in known.skills or before in known.tools
                    else f"tasks are: {_some(ids)}"
                )
                yield f"task {row['id']!r} depends on {before!r}, which is not in the plan; {remedy}"
            else:
                graph.add_edge(before, row["id"])
    for component in nx.strongly_connected_components(graph):
        if len(component) > 1:
            circle = _cycle(graph, component, ids)
            yield f"the dependencies go in a circle: {circle}, each waiting for the next; remove one of them"
    by_id = {row["id"]: row for row in rows}
    for row in rows:
        yield from _reference_problems(row, graph, by_id, known)
        for text, name in dict.fromkeys(foreign(_texts(row), by_id)):
            if not known.quotes(text):
                yield f"task {row['id']!r} refers to {text}, which stays text; write <<{name}.output>>"


def synthesis_problems(synthesis: object, rows: Sequence[Mapping[str, Any]], known: Known) -> Iterator[str]:
    """What is wrong with the references of a plan's `synthesis`, which may read the result of every task."""
    if not isinstance(synthesis, str):
        return
    by_id = {row["id"]: row for row in rows if isinstance(row.get("id"), str)}
    for fault in _unreadable(synthesis, known):
        yield f"'synthesis' refers to {fault}"
    if ITEM.search(synthesis) and "item" not in by_id:
        yield "'synthesis' refers to <<item>>, which stands for an item of 'for_each'; name a task instead"
        return
    for text, name in dict.fromkeys(foreign(synthesis, by_id)):
        if not known.quotes(text):
            yield f"'synthesis' refers to {text}, which stays text; write <<{name}.output>>"
    for reference in dict.fromkeys(references(synthesis)):
        if reference.id in known.earlier and reference.part == "output":
            continue
        if reference.id not in by_id and not known.quotes(str(reference)):
            yield f"'synthesis' refers to {reference}, but there is no task {reference.id!r}; {_tasks_are(list(by_id))}"
        elif reference.id in by_id and (why := field_fault(reference, by_id[reference.id])) is not None:
            yield f"'synthesis' refers to {reference}, {why}"


def _reference_problems(
    row: Mapping[str, Any], graph: nx.DiGraph[str], by_id: Mapping[str, Mapping[str, Any]], known: Known
) -> Iterator[str]:
    yield from _own_problems(row)
    referred = {text: pair for text, pair in _referred(row).items() if pair[0].id in graph or not known.quotes(text)}
    if not referred:
        return
    import networkx as nx

    own = row["id"]
    for text, (reference, needs_form) in referred.items():
        if reference.id in known.earlier and reference.part == "output":
            continue
        start = f"task {own!r} refers to {text}, "
        if reference.id not in graph:
            yield f"{start}but there is no task {reference.id!r}; {_tasks_are(list(by_id))}"
        elif reference.id == own:
            what = "its own output" if reference.part == "output" else "its own"
            yield f"{start}{what}; leave that out, or name another task"
        elif not graph.has_edge(reference.id, own) and not nx.has_path(graph, reference.id, own):
            remedy = (
                "it waits for this task: leave the reference out"
                if nx.has_path(graph, own, reference.id)
                else f"add {reference.id!r} to its depends_on"
            )
            yield f"{start}but {reference.id!r} is not upstream of it; {remedy}"
        elif (why := field_fault(reference, by_id[reference.id], needs_form=needs_form)) is not None:
            yield start + why


def _own_problems(row: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the fields of its own result that end a task's rounds."""
    one_round = {key: value for key, value in row.items() if key != "for_each"}  # each item has rounds of its own
    for reference in dict.fromkeys(filter(_is_own(row), references(repeat.until_in(row)))):
        if (why := field_fault(reference, one_round, needs_form=False)) is not None:
            yield f"task {row['id']!r} refers to {reference}, {why}"


def _is_own(row: Mapping[str, Any]) -> Callable[[Reference], bool]:
    return lambda reference: reference.id == row.get("id") and reference.item is None


def _referred(row: Mapping[str, Any]) -> dict[str, tuple[Reference, bool]]:
    """What a task refers to, by how it refers to it, and whether that must be there when it is filled in.

    What ends its rounds may refer to its own result.
    """
    source, is_own, (when, until) = row.get("for_each"), _is_own(row), _conditions(row)
    referred = {str(reference): (reference, True) for reference in references(_told_texts(row))}
    read = [*references(when), *(one for one in references(until) if not is_own(one))]
    referred |= {str(one): (one, False) for one in read if str(one) not in referred}
    if source is not None:  # <<item.output>> is a field of the item
        referred = {text: pair for text, pair in referred.items() if pair[0].id != "item"}
    listed = references(source if isinstance(source, str) else "")
    return referred | {str(one): (one, False) for one in listed if str(one) not in referred}


def _tasks_are(ids: Sequence[str]) -> str:
    return f"tasks are: {_some(ids)}"


def _dependencies(row: Mapping[str, Any]) -> list[str]:
    value = row.get("depends_on")
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _cycle(graph: nx.DiGraph[str], component: set[str], ids: Sequence[str]) -> str:
    """A cycle, from each task to one that it depends on: the graph's edges point the other way."""
    import networkx as nx

    first = min(component, key=ids.index)
    edges = nx.find_cycle(graph.subgraph(component).reverse(), first)
    return " → ".join([*(edge[0] for edge in edges), edges[0][0]])


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:30]) + (f" and {len(ids) - 30} more" if len(ids) > 30 else "")


def _kind(value: object) -> str:
    return type_of(value, "a list")
