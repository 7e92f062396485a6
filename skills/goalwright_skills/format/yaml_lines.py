"""Parses untrusted YAML files within bounds, with the line of every value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from goalwright_skills.format.safe_yaml import NODES, JsonLoader, error_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZE_LIMIT = 256_000
_DEEPEST = 500

Keys = tuple[str | int, ...]


class DocumentError(Exception):
    """The text is not usable YAML; `what` describes the problem and `remedy` its fix."""

    def __init__(self, line: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a YAML file, and the line of each key."""

    data: Any
    lines: Mapping[Keys, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Document:
        """Parse a text; raises DocumentError."""
        if len(text) > SIZE_LIMIT:
            remedy = f"keep it under {SIZE_LIMIT:,}"
            raise DocumentError(1, f"is too large ({len(text):,} characters)", remedy)
        try:
            loader = JsonLoader(text)
            try:
                node = loader.get_single_node()
                lines = _lines(node)
                data = loader.construct_document(node) if node is not None else None
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            remedy = "fix the YAML; put text that contains a colon in quotation marks"
            raise DocumentError(error_line(error), f"is not valid YAML ({error.problem})", remedy) from error
        except (yaml.YAMLError, ValueError, TypeError) as error:
            raise DocumentError(1, f"is not valid YAML ({error})", "fix the YAML") from error
        except RecursionError as error:
            raise DocumentError(1, "is nested too deeply", "nest it less") from error
        return cls(data, lines)

    def line(self, keys: Sequence[str | int]) -> int:
        """Return the line of the value at these keys, or of its nearest ancestor that exists."""
        path = tuple(keys)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclass(frozen=True, slots=True)
class Spot:
    """A mapping in a document; a key that it lacks may be at the top level, where it applies to all mappings."""

    document: Document = field(default_factory=lambda: Document(None))
    keys: Keys = ()

    def line(self, *keys: str | int) -> int:
        """Return the line of the value at these keys below the mapping."""
        own = (*self.keys, *keys[:1])
        is_shared = own not in self.document.lines and keys[:1] in self.document.lines
        return self.document.line(keys if is_shared else (*self.keys, *keys))


def _lines(root: yaml.Node | None) -> dict[Keys, int]:
    """Return the line of each key; bounded, since nested aliases grow exponentially."""
    lines: dict[Keys, int] = {}
    stack: list[tuple[Keys, yaml.Node]] = [((), root)] if root is not None else []
    seen = 0
    while stack:
        keys, node = stack.pop()
        seen += 1
        if seen > NODES or len(keys) > _DEEPEST:  # an alias inside itself is endless, and its path would fill memory
            raise DocumentError(1, "has too many values", f"keep it under {NODES:,}")
        lines.setdefault(keys, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            stack += [((*keys, index), child) for index, child in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                path = (*keys, str(key.value))
                lines[path] = key.start_mark.line + 1
                stack.append((path, child))
    return lines
