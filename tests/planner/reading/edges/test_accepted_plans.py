"""A family of damaged plans: whatever form states their edges, a plan that is accepted has at least these."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.validate import Known
from goalwright_planner.reading.plan_answer import read_answer
from goalwright_planner.reading.shape import SHAPES

Edge = tuple[str, str]
IDS = ("a", "b-2", "step_3", "1", "2", "task", "from", "Report", "order", "tasks", "x y".replace(" ", "_"))
CASES = (str, str.upper, str.title, lambda key: key.replace("_", "-"), lambda key: key.replace("_", ""))
WAITS = ("depends_on", "dependencies", "deps", "requires", "after", "wait_for", "blocked_by", "inputs", "predecessors")


def waits(ids: list[str], edges: list[Edge]) -> dict[str, list[str]]:
    return {one: [before for before, after in edges if after == one] for one in ids}


def follows(ids: list[str], edges: list[Edge]) -> dict[str, list[str]]:
    return {one: [after for before, after in edges if before == one] for one in ids}


def by_plan(draw: st.DrawFn, ids: list[str], edges: list[Edge]) -> dict[str, Any]:
    """A key of the plan that states these edges, all of them or in a form that is broken."""
    pairs = [list(edge) for edge in edges]
    forms: dict[str, Any] = {
        "edges": pairs,
        "links": [{"source": before, "target": after} for before, after in edges],
        "connections": [{"from": before, "to": after, "label": "then"} for before, after in edges],
        "arcs": [f"{before} -> {after}" for before, after in edges],
        "flow": "; ".join(f"{before} --> {after}" for before, after in edges),
        "mermaid": "graph TD\n" + "\n".join(f"  {before} --> {after}" for before, after in edges),
        "graphviz": "digraph {\n" + "\n".join(f'"{before}" -> "{after}";' for before, after in edges) + "\n}",
        "dag": draw(st.sampled_from([{"edges": pairs}, {"nodes": ids, "links": pairs}, waits(ids, edges), pairs])),
        "dependencies": draw(
            st.sampled_from(
                [
                    waits(ids, edges),
                    [{"id": one, "depends_on": before} for one, before in waits(ids, edges).items()],
                    [f"{after} depends on {before}" for before, after in edges],
                    [[after, before] for before, after in edges],
                ]
            )
        ),
        "next": follows(ids, edges),
        "adjacency": follows(ids, edges),
        "whatever": pairs,
        "reasoning": "; ".join(f"{before} -> {after}" for before, after in edges),
    }
    key = draw(st.sampled_from(list(forms)))
    value = forms[key]
    if isinstance(value, list) and value and draw(st.booleans()):
        value = [*value, draw(st.sampled_from(["?", ["a"], {"from": "a"}, 7, None, ["nobody", "never"]]))]
    return {draw(st.sampled_from(CASES))(key): value}


def by_task(draw: st.DrawFn, ids: list[str], edges: list[Edge], rows: list[dict[str, Any]]) -> None:
    """Keys of the tasks that state these edges."""
    before, after = waits(ids, edges), follows(ids, edges)
    key = draw(st.sampled_from(CASES))(draw(st.sampled_from((*WAITS, "next", "successors", "uses_them"))))
    form = draw(st.sampled_from(["{}", "<<{}.output>>", "${}", "Do {}"]))
    for row in rows:
        named = (after if key.lower() in ("next", "successors") else before)[row["id"]]
        if named:
            spelled = [form.format(one) for one in named]
            row[key] = draw(st.sampled_from([spelled, ", ".join(spelled)]))


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, list[Edge]]:
    """An answer, and the edges that it states."""
    ids = draw(st.lists(st.sampled_from(IDS), min_size=2, max_size=6, unique=True))
    pairs = [(before, after) for number, after in enumerate(ids) for before in ids[:number]]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    listed = draw(st.permutations(ids)) if draw(st.booleans()) else ids
    rows: list[dict[str, Any]] = [
        {"id": one, "title": f"Do {one}", "action_type": "llm", "instruction": "go"} for one in listed
    ]
    if draw(st.booleans()):
        for row in rows:
            row["depends_on"] = []
    document: dict[str, Any] = {"tasks": rows}
    kind = draw(st.sampled_from(["plan", "task", "level", "order", "beside"]))
    if kind == "plan":
        document = (
            by_plan(draw, list(listed), edges) | document
            if draw(st.booleans())
            else document | by_plan(draw, list(listed), edges)
        )
    elif kind == "task":
        by_task(draw, ids, edges, rows)
    elif kind in ("level", "order"):
        cut = draw(st.integers(1, len(ids) - 1))
        edges = [(before, after) for before in ids[:cut] for after in ids[cut:]]
        key = draw(st.sampled_from(["level", "stage", "phase", "step", "wave"]))
        if kind == "level":
            for row in rows:
                number = 1 + (row["id"] in ids[cut:])
                row[key] = draw(st.sampled_from([number, str(number), f"{key} {number}"]))
        else:
            levels = [ids[:cut], ids[cut:]]
            named = [{key: number, "tasks": level} for number, level in enumerate(levels, 1)]
            by_number = {str(number): level for number, level in enumerate(levels, 1)}
            document["execution_order"] = draw(st.sampled_from([levels, named, by_number]))
    text = json.dumps(document)
    if kind == "beside":
        more = json.dumps({"edges": [list(edge) for edge in edges]})
        text = f"```json\n{text}\n```\nand\n```json\n{more}\n```"
    return text, edges


@given(damaged())
def test_a_plan_that_is_accepted_has_at_least_the_edges_that_its_text_states(answer: tuple[str, list[Edge]]) -> None:
    text, stated = answer
    try:
        reading = read_answer(text, SHAPES["full"], Known())
    except NotJson:
        return
    if reading.faults:
        return
    closure = nx.transitive_closure_dag(Plan.from_dict(reading.document).graph)
    assert set(stated) <= set(closure.edges), (text, list(closure.edges))


@given(damaged())
def test_what_was_read_is_in_normal_form(answer: tuple[str, list[Edge]]) -> None:
    text, _ = answer
    try:
        reading = read_answer(text, SHAPES["full"], Known())
    except NotJson:
        return
    if not reading.faults:
        again = read_answer(json.dumps(reading.document), SHAPES["full"], Known())
        assert (again.document, again.faults, again.repairs) == (reading.document, (), ())
