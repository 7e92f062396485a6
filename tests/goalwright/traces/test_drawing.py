"""A plan as a picture: every task and edge is there, and foreign text stays text."""

from __future__ import annotations

import re
from random import Random
from xml.etree import ElementTree

import pytest

from goalwright.interfaces.cli.view.plan_graph import draw
from goalwright.traces.drawing.flowchart import dot, mermaid
from goalwright.traces.drawing.layout import layers
from goalwright.traces.drawing.svg import svg
from goalwright.traces.drawing.terminal import lines
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

HOSTILE = 'x"]; evil --> t1 <script>alert(1)</script> #quot; \\n`${a}`\x1b[31m\n"'


def plan(*edges: str, synthesis: str | None = None) -> Plan:
    """`a`, `b<a` and `c<a,b` are tasks with what they wait for."""
    tasks = []
    for edge in edges:
        task, _, before = edge.partition("<")
        tasks.append(Task(task, "llm", depends_on=tuple(filter(None, before.split(",")))))
    return Plan(tuple(tasks), synthesis)


def drawn(one: Plan) -> list[str]:
    return [
        f"{line.edges} {line.task.id if line.task else 'answer' if line.answer else ''}".rstrip() for line in lines(one)
    ]


def test_parallel_tasks_join_in_their_dependent() -> None:
    assert drawn(plan("survey", "sheet", "brief<survey,sheet", synthesis="Brief first.")) == [
        "○ survey",
        "│ ○ sheet",
        "├─┘",
        "○ brief",
        "◇ answer",
    ]


def test_task_with_several_dependents_branches() -> None:
    assert drawn(plan("a", "b<a", "c<a", "d<b,c")) == ["○ a", "├─┐", "│ ○ b", "○ │ c", "├─┘", "○ d"]


@pytest.mark.parametrize("seed", range(30))
def test_every_edge_is_drawn_for_any_graph(seed: int) -> None:
    """Walk the lines as the eye does: from each task upwards to the tasks that it waits for."""
    pick = Random(seed)
    names = [f"t{number}" for number in range(pick.randrange(1, 9))]
    one = plan(
        *(
            f"{name}<{','.join(pick.sample(names[:at], pick.randrange(min(at, 3) + 1)))}"
            for at, name in enumerate(names)
        )
    )
    found = lines(one)
    assert [line.task.id for line in found if line.task] == [task.id for layer in layers(one) for task in layer]
    columns = {line.task.id: (at, line.edges.index("○")) for at, line in enumerate(found) if line.task}
    for task in one.tasks:
        at, column = columns[task.id]
        if task.depends_on:
            above = found[at - 1].edges
            assert len(above) > column
            assert above[column] != " "


def test_many_parallel_edges_are_listed_instead_of_drawn() -> None:
    wide = plan(*(f"t{number}" for number in range(40)), f"end<{','.join(f't{number}' for number in range(40))}")
    assert {line.edges for line in lines(wide)} == {"○"}
    assert "← t0, t1" in draw(wide, None)
    assert max(map(len, draw(wide, 60).splitlines())) <= 60


def test_layers_are_as_deep_as_the_longest_path() -> None:
    found = layers(plan("a", "b<a", "c<b", "d<a,c", "e"))
    assert [[task.id for task in layer] for layer in found] == [["a", "e"], ["b"], ["c"], ["d"]]


def test_the_graph_shows_titles_and_skills() -> None:
    one = Plan((Task("a", "skill", title="Look around", name="surveying"), Task("b", "llm", depends_on=("a",))))
    assert draw(one, None).splitlines() == ["○  a  Look around  [surveying]", "○  b"]


def test_mermaid_has_every_task_and_edge_and_escapes_text() -> None:
    one = Plan((Task("end", "llm", title=HOSTILE), Task("b", "tool", name="x_y", depends_on=("end",))), "s")
    text = mermaid(one)
    assert text.startswith("flowchart TD\n")
    assert re.findall(r"^    (\w+) --> (\w+)$", text, re.MULTILINE) == [("t1", "t2"), ("t2", "answer")]
    assert "<script" not in text
    assert "-->" not in text.split("t1[")[1].split("\n")[0]
    assert text.count('"') == 6


def test_dot_escapes_text() -> None:
    one = Plan((Task("a", "llm", title=HOSTILE), Task("b", "skill", name="s", depends_on=("a",))))
    text = dot(one)
    assert "    t1 -> t2;" in text
    unescaped = re.sub(r"\\.", "", text)
    assert unescaped.count('"') == 4
    assert "evil --> t1" in text, "as text inside the label"


def test_svg_is_well_formed_with_only_boxes_lines_and_text() -> None:
    one = Plan((Task("a", "llm", title=HOSTILE), Task("b", "skill", name="s", depends_on=("a",))), "s")
    root = ElementTree.fromstring(svg(one))  # noqa: S314 - our own
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds == {"svg", "style", "path", "g", "rect", "text"}
    assert sum(element.tag.endswith("rect") for element in root.iter()) == 3
    assert sum(element.tag.endswith("path") for element in root.iter()) == 2
    assert any("<script>" in (element.text or "") for element in root.iter())


def test_a_plan_of_thousands_of_tasks_is_laid_out() -> None:
    one = plan("root", *(f"t{number}<root" for number in range(2000)), f"end<{','.join(f't{n}' for n in range(2000))}")
    assert svg(one).count("<rect") == 2002
