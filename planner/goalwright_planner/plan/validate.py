"""Validates a plan document: returns all faults at once, each with a remedy that a model or a person can act on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan.output_schema import excluded, schema_faults
from goalwright_planner.plan.references import ITEM, Reference, foreign, references
from goalwright_planner.plan.task_problems import (
    all_texts,
    conditions_of,
    filled_texts,
    kind_of,
    row_problems,
    unreadable_problems,
    until_in,
)

if TYPE_CHECKING:
    import networkx as nx

    from goalwright_planner.plan.known import Known


def problems(document: object, known: Known) -> list[str]:
    """Return all faults of a plan document; empty if the plan can run."""
    if not isinstance(document, Mapping):
        return [f"the plan must be a JSON object with a 'tasks' list, not {kind_of(document)}"]
    faults = [
        f"'{key}' must be a string or null, not {kind_of(document[key])}"
        for key in ("synthesis", "clarification")
        if document.get(key) is not None and not isinstance(document[key], str)
    ]
    if not isinstance(joined := document.get("joined", False), bool):
        faults.append(f"'joined' must be true or false, not {kind_of(joined)}")
    rows = document.get("tasks")
    if not rows and isinstance(document.get("clarification"), str) and document["clarification"].strip():
        return faults
    if not isinstance(rows, list):
        return [*faults, f"'tasks' must be a list of tasks, not {kind_of(rows)}"]
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


def graph_problems(rows: Sequence[Mapping[str, Any]], known: Known) -> Iterator[str]:
    """Yield the faults of tasks together: ids, dependencies and references."""
    import networkx as nx

    rows = [row for row in rows if isinstance(row.get("id"), str) and row["id"]]
    ids = [row["id"] for row in rows]
    for task_id, times in Counter(ids).items():
        if times > 1:
            yield f"the id {task_id!r} is used by {times} tasks; ids must be unique"
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
        for text, name in dict.fromkeys(foreign(all_texts(row), by_id)):
            if not known.quotes(text):
                yield f"task {row['id']!r} refers to {text}, which stays text; write <<{name}.output>>"


def synthesis_problems(synthesis: object, rows: Sequence[Mapping[str, Any]], known: Known) -> Iterator[str]:
    """Yield the faults of references in `synthesis`, which may read the result of every task."""
    if not isinstance(synthesis, str):
        return
    by_id = {row["id"]: row for row in rows if isinstance(row.get("id"), str)}
    for fault in unreadable_problems(synthesis, known):
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
            own_value = "its own output" if reference.part == "output" else "its own"
            yield f"{start}{own_value}; leave that out, or name another task"
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
    """Yield the faults of references to its own result in the condition that ends a task's rounds."""
    one_round = {key: value for key, value in row.items() if key != "for_each"}  # each item has its own rounds
    for reference in dict.fromkeys(filter(_is_own(row), references(until_in(row)))):
        if (why := field_fault(reference, one_round, needs_form=False)) is not None:
            yield f"task {row['id']!r} refers to {reference}, {why}"


def _is_own(row: Mapping[str, Any]) -> Callable[[Reference], bool]:
    return lambda reference: reference.id == row.get("id") and reference.item is None


def _referred(row: Mapping[str, Any]) -> dict[str, tuple[Reference, bool]]:
    """Return the references of a task by their text, and whether the value must exist.

    The condition that ends its rounds may refer to its own result.
    """
    source, is_own, (when, until) = row.get("for_each"), _is_own(row), conditions_of(row)
    referred = {str(reference): (reference, True) for reference in references(filled_texts(row))}
    read = [*references(when), *(reference for reference in references(until) if not is_own(reference))]
    referred |= {str(reference): (reference, False) for reference in read if str(reference) not in referred}
    if source is not None:  # <<item.output>> is a field of the item
        referred = {text: pair for text, pair in referred.items() if pair[0].id != "item"}
    listed = references(source if isinstance(source, str) else "")
    return referred | {str(reference): (reference, False) for reference in listed if str(reference) not in referred}


def _tasks_are(ids: Sequence[str]) -> str:
    return f"tasks are: {_some(ids)}"


def _dependencies(row: Mapping[str, Any]) -> list[str]:
    value = row.get("depends_on")
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _cycle(graph: nx.DiGraph[str], component: set[str], ids: Sequence[str]) -> str:
    """Return a circle, from each task to one that it depends on; the edges of the graph point the other way."""
    import networkx as nx

    first = min(component, key=ids.index)
    edges = nx.find_cycle(graph.subgraph(component).reverse(), first)
    return " → ".join([*(edge[0] for edge in edges), edges[0][0]])


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:30]) + (f" and {len(ids) - 30} more" if len(ids) > 30 else "")


def field_fault(reference: Reference, row: Mapping[str, Any], *, needs_form: bool = True) -> str | None:
    """Return why the result of a task cannot have the field that a reference names, or None.

    Without a schema a result may still be JSON, unless it is the joined text of several items. A reference in a text
    `needs_form`, because its value must exist; a condition may read a missing value.
    """
    schema, many = row.get("output_schema"), row.get("for_each") is not None
    if reference.item is not None:
        if (why := _item_fault(reference, row)) is not None:
            return why
        many = False
    if not reference.path:
        return None
    if schema is None and needs_form and many:
        whole = f"<<{reference.of}.output>>"
        return f"but {reference.id!r} has no output_schema; give it one with that field, or write {whole}"
    if not isinstance(schema, Mapping) or next(schema_faults(schema), None) is not None:
        return None  # the schema has faults of its own
    # The output of a task for each item is the list of their outputs.
    why = excluded({"type": "array", "items": schema} if many else schema, reference.path)
    return None if why is None else f"but in the output_schema of {reference.id!r} {why}"


def _item_fault(reference: Reference, row: Mapping[str, Any]) -> str | None:
    """Return why a task cannot have the item that a reference names, or None."""
    source, first = row.get("for_each"), row.get("first")
    if source is None:
        return (
            f"but {reference.id!r} has no for_each, so it has no items; write <<{reference.id}.output[0]>> for a value"
        )
    counts = [len(source)] if isinstance(source, list | tuple) else []
    counts += [first] if isinstance(first, int) else []
    if counts and reference.item is not None and reference.item > min(counts):
        return f"but {reference.id!r} has {min(counts)} items, and the first is [1]"
    return None
