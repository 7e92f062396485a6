"""WorFBench (zjunlp/WorFBench): 2,146 goals with gold graphs of subtasks in words, matched by meaning."""

from __future__ import annotations

import ast
import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx
from goalwright_planner.model import Message

from plan_quality.goals import Graph, PlanGoal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goalwright_planner.plan.plan import Plan

    Encode = Callable[[Sequence[str]], list[Sequence[float]]]

_NODE = re.compile(r"\d+[:.] ?(.+)")
_EDGE = re.compile(r"\(\s*(\d+|START)\s*,\s*(\d+|END)\s*\)")
_NEAR = 0.6
_MOST_ORDERS = 20
_LONG = 10


@dataclass(frozen=True, slots=True)
class WorFBench:
    """All nine folders of the set as one; `encode` gives vectors of length 1 by which subtasks are matched."""

    encode: Encode
    name: str = "worfbench"
    measures: tuple[str, ...] = ("chain F1", "graph F1", "graph F1 as published")

    def read(self, folder: Path) -> list[PlanGoal]:
        """Read the goals with the set's system prompt and two examples."""
        examples = _examples(folder)
        return [
            PlanGoal(f"{place.parent.name}-{number}", _plain(row), _read(row["conversations"][-1]["content"]), prompt)
            for place in sorted((folder / "gold_traj").glob("*/graph_eval.json"))
            for number, row in enumerate(json.loads(place.read_text(encoding="utf-8")))
            for prompt in [_published(row, examples.get(place.parent.name, []))]
        ]

    def of_plan(self, plan: Plan, goal: PlanGoal) -> Graph:
        """Return the instructions of a plan and their dependencies."""
        places = {task.id: place for place, task in enumerate(plan.tasks)}
        edges = {(places[before], places[task.id]) for task in plan.tasks for before in task.depends_on}
        return Graph(tuple(task.instruction or task.title for task in plan.tasks), frozenset(edges))

    def of_answer(self, text: str, goal: PlanGoal) -> Graph:
        """Return the subtasks and edges of an answer."""
        if "Node" not in text or not _EDGE.search(text):
            raise ValueError("no nodes and edges")
        return _read(text)

    def score(self, made: Graph, goal: PlanGoal) -> tuple[float, ...]:
        """Return the F1 of the longest chain, of the largest shared component, and of the latter as published.

        The published figure compares edges by number without mapping their ends, so it depends on the order of the
        subtasks.
        """
        gold: Graph = goal.gold
        if not made.nodes or not gold.nodes:
            return 0.0, 0.0, 0.0
        near = self._near(made.nodes, gold.nodes)
        chain = max(_chain(near, order, len(made.nodes)) for order in _orders(gold))
        match = _match(near, len(made.nodes), range(len(gold.nodes)))
        return chain, _largest(made, gold, match, mapped=True), _largest(made, gold, match, mapped=False)

    def _near(self, made: Sequence[str], gold: Sequence[str]) -> list[list[float]]:
        vectors = self.encode([*made, *gold])
        ours, theirs = vectors[: len(made)], vectors[len(made) :]
        return [[sum(a * b for a, b in zip(x, y, strict=True)) for y in theirs] for x in ours]


def _examples(folder: Path) -> dict[str, Any]:
    tree = ast.parse((folder / "prompts" / "eval_prompt.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "two_shot_example":
            found: dict[str, Any] = ast.literal_eval(node.value)
            return found
    return {}


def _published(row: dict[str, Any], examples: Sequence[dict[str, str]]) -> tuple[Message, ...]:
    system, *turns = row["conversations"][:-1]
    shown = [Message(turn["role"], turn["content"]) for turn in examples]  # type: ignore[arg-type]
    asked = [Message(turn["role"], f"Now it's your turn.\n{turn['content']}") for turn in turns]
    return (Message("system", system["content"]), *shown, *asked)


def _plain(row: dict[str, Any]) -> str:
    text = row["conversations"][1]["content"].removeprefix("Now it's your turn.\n")
    return str(text).strip()


def _read(text: str) -> Graph:
    nodes = tuple(match.strip() for match in _NODE.findall(text))
    edges = {(int(a) - 1, int(b) - 1) for a, b in _EDGE.findall(text) if a != "START" and b != "END" and a != b}
    return Graph(nodes, frozenset((a, b) for a, b in edges if max(a, b) < len(nodes) and min(a, b) >= 0))


def _orders(graph: Graph) -> list[tuple[int, ...]]:
    """Return topological orders of the gold subtasks: at most 20, one for long graphs, as in the set."""
    whole = tuple(range(len(graph.nodes)))
    net: nx.DiGraph[int] = nx.DiGraph(list(graph.edges))
    net.add_nodes_from(whole)
    if len(whole) + 2 >= _LONG or not nx.is_directed_acyclic_graph(net):
        return [whole]
    return [tuple(order) for order in itertools.islice(nx.all_topological_sorts(net), _MOST_ORDERS)]


def _match(near: Sequence[Sequence[float]], made: int, gold: Sequence[int]) -> dict[int, int]:
    """Return the best matches of subtasks by meaning."""
    net: nx.Graph[tuple[str, int]] = nx.Graph()
    for a in range(made):
        for place, b in enumerate(gold):
            if near[a][b] > _NEAR:
                net.add_edge(("made", a), ("gold", place), weight=near[a][b])
    pairs = (dict(pair) for pair in nx.max_weight_matching(net))
    return {pair["made"]: pair["gold"] for pair in pairs}


def _chain(near: Sequence[Sequence[float]], order: Sequence[int], made: int) -> float:
    match = _match(near, made, order)
    if not match:
        return 0.0
    longest = [1] * made
    for a in range(made):
        for b in range(a):
            if a in match and b in match and match[a] > match[b]:
                longest[a] = max(longest[a], longest[b] + 1)
    best = max(longest[a] for a in match)
    return 2 * best / (made + len(order))


def _largest(made: Graph, gold: Graph, match: dict[int, int], *, mapped: bool) -> float:
    """Return the F1 of the largest component that both graphs share."""
    theirs = {(a, b) for a, b in gold.edges if a in match.values() and b in match.values()}
    ours = {(a, b) for a, b in made.edges if a in match and b in match}
    if mapped:
        shared = {(a, b) for a, b in ours if (match[a], match[b]) in theirs}
        return _f1_of(_size(match, shared), _size(match, shared), made, gold)
    raw = ours & theirs
    return _f1_of(_size(match, raw), _size(match.values(), raw), made, gold)


def _f1_of(ours: int, theirs: int, made: Graph, gold: Graph) -> float:
    precision, recall = ours / len(made.nodes), theirs / len(gold.nodes)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _size(nodes: Any, edges: set[tuple[int, int]]) -> int:
    net: nx.Graph[int] = nx.Graph(list(edges))
    net.add_nodes_from(nodes)
    return max(map(len, nx.connected_components(net)), default=0)
