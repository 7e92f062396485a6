"""YAML that strangers wrote: read safely, within bounds, every value knowing its line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZE_LIMIT = 256_000
NODE_LIMIT = 20_000

Keys = tuple[str | int, ...]


class DocumentError(Exception):
    """Text that cannot be read as YAML: the line, what is wrong, and the remedy."""

    def __init__(self, line: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what
        self.remedy = remedy


class _Loader(yaml.SafeLoader):
    """Safe YAML in which a date stays text, since JSON has no dates."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Document:
    """The data, and the line at which each key's value stands."""

    data: Any
    lines: Mapping[Keys, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Document:
        """The document, or a DocumentError."""
        if len(text) > SIZE_LIMIT:
            remedy = f"keep it under {SIZE_LIMIT:,}"
            raise DocumentError(1, f"is too large ({len(text):,} characters)", remedy)
        try:
            loader = _Loader(text)
            try:
                node = loader.get_single_node()
                lines = _lines(node)
                data = loader.construct_document(node) if node is not None else None
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            remedy = "mend the YAML; put text with a colon in quotation marks"
            raise DocumentError(line, f"is not valid YAML ({error.problem})", remedy) from error
        except (yaml.YAMLError, ValueError, TypeError) as error:
            raise DocumentError(1, f"is not valid YAML ({error})", "mend the YAML") from error
        except RecursionError as error:
            raise DocumentError(1, "is nested too deeply", "write it flatter") from error
        return cls(data, lines)

    def line(self, keys: Sequence[str | int]) -> int:
        """The line of the value at these keys, or of the nearest one above it that is there."""
        path = tuple(keys)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document; keys that are not there may stand at the top, where they hold for every place."""

    document: Document = field(default_factory=lambda: Document(None))
    keys: Keys = ()

    def line(self, *keys: str | int) -> int:
        """The line of the value at these keys under the place."""
        own = (*self.keys, *keys[:1])
        shared = own not in self.document.lines and keys[:1] in self.document.lines
        return self.document.line(keys if shared else (*self.keys, *keys))


def _lines(root: yaml.Node | None) -> dict[Keys, int]:
    """Where each key stands; the count is bounded, so that nested aliases cannot blow up."""
    lines: dict[Keys, int] = {}
    stack: list[tuple[Keys, yaml.Node]] = [((), root)] if root is not None else []
    seen = 0
    while stack:
        keys, node = stack.pop()
        seen += 1
        if seen > NODE_LIMIT:
            raise DocumentError(1, "holds too many values", f"keep it under {NODE_LIMIT:,}")
        lines.setdefault(keys, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            stack += [((*keys, index), child) for index, child in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                path = (*keys, str(key.value))
                lines[path] = key.start_mark.line + 1
                stack.append((path, child))
    return lines
