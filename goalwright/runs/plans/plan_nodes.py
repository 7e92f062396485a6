"""Where the tasks of a plan stand in its text, as the parser of YAML finds them; JSON is read as YAML too."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from goalwright_planner.reading.normal_form import TASK_LISTS, folded, right_key
from goalwright_skills.format import safe_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    Pair = tuple[yaml.ScalarNode, yaml.Node]

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Escapes of JSON for the two halves of a character, which libyaml refuses; what stands for them is as long.
_HALVES = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class PlanNodes:
    """The tasks of a plan as nodes of its text; `key` is the one that they stand under, None for a bare list."""

    text: str
    root: yaml.Node | None
    key: yaml.ScalarNode | None = None
    listed: yaml.Node | None = None
    _breaks: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, text: str) -> PlanNodes | None:
        """The nodes of a text; None if it is JSON that is not YAML. Raises TooDeep for one that nests too deeply."""
        is_flow = text.lstrip()[:1] in ("{", "[")  # tabs stand between the tokens of JSON, which YAML may refuse
        try:
            text_of_yaml = _HALVES.sub(r"\\ufffd", text.replace("\t", " ") if is_flow else text)
            safe_yaml.check(text_of_yaml)
            root = yaml.compose(text_of_yaml, _LOADER)
        except yaml.YAMLError:
            return None
        breaks = tuple(at for at, character in enumerate(text) if character == "\n")
        if isinstance(root, yaml.SequenceNode):
            return cls(text, root, None, root, breaks)
        key, listed = _tasks_in(root)
        return cls(text, root, key, listed, breaks)

    @property
    def tasks(self) -> list[yaml.Node]:
        """A node for each task, in the order of the text."""
        return list(self.listed.value) if isinstance(self.listed, yaml.SequenceNode) else []

    @property
    def shares(self) -> bool:
        """Whether a node stands in several places, by an alias."""
        seen: set[int] = set()
        for node in walk(self.root):
            if id(node) in seen:
                return True
            seen.add(id(node))
        return False

    def line(self, index: int) -> int:
        """The line of a character, counted from 1."""
        return bisect_left(self._breaks, index) + 1

    def end(self, node: yaml.Node) -> int:
        """Where the content of a node ends; its own mark may stand behind comments and blank lines."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self.end(last[1] if isinstance(last, tuple) else last)
        end: int = node.end_mark.index
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") and not node.value.endswith("\n\n"):
            end = node.start_mark.index + len(self.text[node.start_mark.index : end].rstrip())
        return end


def pairs(node: yaml.Node | None) -> Iterator[Pair]:
    """The keys of a mapping that are plain values, with what they stand for."""
    if isinstance(node, yaml.MappingNode):
        yield from ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))


def keyed(task: yaml.Node, key: str) -> list[Pair]:
    """What a task has under a key, or under other names for it."""
    return [pair for pair in pairs(task) if right_key(pair[0].value) == key]


def id_of(task: yaml.Node) -> str | None:
    """The id of a task."""
    found = keyed(task, "id")
    return found[0][1].value if found and isinstance(found[0][1], yaml.ScalarNode) else None


def walk(node: yaml.Node | None) -> Iterator[yaml.Node]:
    """A node and all within it; one that stands in several places comes once more for each, without what is in it."""
    left, seen = [node] if node is not None else [], set[int]()
    while left:
        one = left.pop()
        yield one
        if id(one) not in seen and isinstance(one, yaml.CollectionNode):
            left += (part for item in one.value for part in (item if isinstance(item, tuple) else (item,)))
        seen.add(id(one))


def _tasks_in(root: yaml.Node | None) -> tuple[yaml.ScalarNode | None, yaml.Node | None]:
    """The key of a plan that holds its tasks, and what stands under it."""
    found = list(pairs(root))
    named = [pair for pair in found if folded(pair[0].value) == "tasks"]
    others = [(key, node) for key, node in found if folded(key.value) in TASK_LISTS and _is_list(node)]
    return next(iter(named or (others if len(others) == 1 else ())), (None, None))


def _is_list(node: yaml.Node) -> bool:
    return isinstance(node, yaml.SequenceNode)
