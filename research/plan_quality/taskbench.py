"""UltraTool and TMDB in TaskBench's format (WxxShirley/GNN4TaskPlan): tools and their order."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Message

from plan_quality.goals import Graph, PlanGoal, f1

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.plan.plan import Plan

_EXAMPLES = {"ultratool": "691", "tmdb": 1}
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class TaskBench:
    """One of the sets; `name` is its folder in `data/`. Every tool is a skill, and every goal may use all of them."""

    name: str
    measures: tuple[str, ...] = ("n-F1", "l-F1")

    def read(self, folder: Path) -> list[PlanGoal]:
        """Read the goals of the test split, without the example of the prompt."""
        data = folder / "data" / self.name
        tools = json.loads((data / "tool_desc.json").read_text(encoding="utf-8"))["nodes"]
        rows = [json.loads(line) for line in (data / "data.json").read_text(encoding="utf-8").splitlines()]
        tested = json.loads((data / "split_ids.json").read_text(encoding="utf-8"))["test_ids"]
        ids = {each for group in tested.values() for each in group} - {_EXAMPLES[self.name]}
        prompt = _Prompt.read(folder, tools, next(row for row in rows if row["id"] == _EXAMPLES[self.name]))
        skills = {skill_name(tool["id"]): tool["desc"] for tool in tools}
        return [
            PlanGoal(f"{self.name}-{row['id']}", row["user_request"].strip(), _gold(row), prompt.to(row), skills)
            for row in rows
            if row["id"] in ids
        ]

    def of_plan(self, plan: Plan, goal: PlanGoal) -> Graph:
        """Return the skills of a plan and their dependencies."""
        used = [task for task in plan.tasks if task.name in goal.skills]
        places = {task.id: place for place, task in enumerate(used)}
        edges = {(places[before], places[task.id]) for task in used for before in task.depends_on if before in places}
        return Graph(tuple(task.name or "" for task in used), frozenset(edges))

    def of_answer(self, text: str, goal: PlanGoal) -> Graph:
        """Return the tools and links of an answer."""
        document = json.loads(text[text.index("{") : text.rindex("}") + 1])
        nodes = tuple(skill_name(str(row["task"])) for row in document["task_nodes"])
        places = {node: place for place, node in enumerate(nodes)}
        links = [(skill_name(str(row["source"])), skill_name(str(row["target"]))) for row in document["task_links"]]
        return Graph(nodes, frozenset((places[a], places[b]) for a, b in links if a in places and b in places))

    def score(self, made: Graph, goal: PlanGoal) -> tuple[float, ...]:
        """Return the F1 of tools and of links."""
        return f1(made.nodes, goal.gold.nodes), f1(_links(made), _links(goal.gold))


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The published prompt, read from the repository's source."""

    tools: str
    request: str
    example: str

    @classmethod
    def read(cls, folder: Path, tools: list[dict[str, Any]], example: dict[str, Any]) -> _Prompt:
        tree = ast.parse((folder / "trainfree" / "direct.py").read_text(encoding="utf-8"))
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        asked = next(text for text in texts if "# GOAL #" in text and '"parameter name"' in text)
        rules = next(text for text in texts if "# REQUIREMENTS #" in text and "temporal dependencies" in text)
        ending = next(text for text in texts if text.lstrip().startswith("# USER REQUEST #: {{user_request}}"))
        keys = ("task_steps", "task_nodes", "task_links")
        shown = json.dumps({key: example[key] for key in keys})
        given = f"\n# EXAMPLE #:\n# USER REQUEST #: {example['user_request']}\n# RESULT #: {shown}"
        listed = "# TASK LIST #:\n" + "".join(json.dumps(tool) + "\n" for tool in tools)
        return cls(listed, ending, f"{asked}{rules}\nHere are provided examples for your reference.\n{given}")

    def to(self, row: dict[str, Any]) -> tuple[Message, ...]:
        request = self.request.replace("{{user_request}}", row["user_request"])
        return (Message("user", f"{self.tools}{self.example}{request}"),)


def skill_name(tool: str) -> str:
    """Return the skill name of a tool, such as `get-movie-credit` for `GetMovieCredit`."""
    words = _NEW_WORD.sub("-", tool).lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:64].strip("-")


def _gold(row: dict[str, Any]) -> Graph:
    nodes = tuple(skill_name(node["task"]) for node in row["task_nodes"])
    places = {node: place for place, node in enumerate(nodes)}
    links = ((skill_name(link["source"]), skill_name(link["target"])) for link in row["task_links"])
    return Graph(nodes, frozenset((places[a], places[b]) for a, b in links if a in places and b in places))


def _links(graph: Graph) -> list[tuple[str, str]]:
    return [(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges]
