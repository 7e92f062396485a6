"""The positions of tasks in the text of a plan, as the YAML parser finds them; JSON is parsed as YAML too."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from goalwright_planner.reading.normal_form import TASK_LISTS
from goalwright_skills.format import safe_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Escaped surrogates in JSON, which libyaml refuses; their replacement is as long.
_SURROGATES = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class PlanNodes:
    """The tasks of a plan as nodes of its text; `key` is the key of the list, None for a bare list."""

    text: str
    key: yaml.ScalarNode | None
    listed: yaml.Node | None
    _breaks: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> PlanNodes | None:
        """Parse a text; None for JSON that is not YAML. Raises TooDeep for a text that nests too deeply."""
        is_flow = text.lstrip()[:1] in ("{", "[")  # JSON may have tabs between its tokens, YAML not
        try:
            yaml_text = _SURROGATES.sub(r"\\ufffd", text.replace("\t", " ") if is_flow else text)
            safe_yaml.check(yaml_text)
            root = yaml.compose(yaml_text, _LOADER)
        except yaml.YAMLError:
            return None
        breaks = tuple(index for index, character in enumerate(text) if character == "\n")
        key, listed = (None, root) if isinstance(root, yaml.SequenceNode) else _tasks_in(root)
        return cls(text, key, listed, breaks)

    @property
    def tasks(self) -> list[yaml.Node]:
        """The nodes of the tasks, in the order of the text."""
        return list(self.listed.value) if isinstance(self.listed, yaml.SequenceNode) else []

    def line(self, index: int) -> int:
        """Return the line of a character, counted from 1."""
        return bisect_left(self._breaks, index) + 1

    def end(self, node: yaml.Node) -> int:
        """Return where the content of a node ends; its end mark may be behind comments and blank lines."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self.end(last[1] if isinstance(last, tuple) else last)
        end: int = node.end_mark.index
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") and not node.value.endswith("\n\n"):
            end = node.start_mark.index + len(self.text[node.start_mark.index : end].rstrip())
        return end


def pairs(node: yaml.Node | None) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    """Yield the scalar keys of a mapping with their values."""
    if isinstance(node, yaml.MappingNode):
        yield from ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))


def _tasks_in(root: yaml.Node | None) -> tuple[yaml.ScalarNode | None, yaml.Node | None]:
    """Return the key of a plan that has its tasks, and their node."""
    keys = list(pairs(root))
    named = [pair for pair in keys if pair[0].value == "tasks"]
    others = [pair for pair in keys if pair[0].value in TASK_LISTS and isinstance(pair[1], yaml.SequenceNode)]
    return next(iter(named or (others if len(others) == 1 else ())), (None, None))
