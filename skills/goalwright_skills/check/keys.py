"""Unknown keys of a `skill.yaml`: most often a typo that changes what the tool may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.check.finding import Finding
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_skills.format.yaml_lines import Document, Keys

TOOL = (
    "name", "description", "runtime", "entry", "parameters", "timeout", "env", "network", "writes", "docs",
)  # fmt: skip
FILE = (*TOOL, "tools", "metadata", "version", "license")
PARAMETER = ("name", "type", "required", "default", "description", "enum")
DOCS = ("when_to_use", "when_not_to_use", "examples")
EXAMPLE = ("scenario", "arguments")


def unknown(document: Document) -> Iterator[Finding]:
    """A warning for each unknown key."""
    for at, keys, known in _paths(document.data):
        for key in keys:
            if key not in known:
                near = guess(str(key), known)
                remedy = f"write {near}" if near else f"remove it; the keys are: {', '.join(known)}"
                line = document.line((*at, str(key)))
                yield Finding("manifest-key", "warning", line, f"unknown key {key!r}, ignored", remedy)


def _paths(data: Any) -> Iterator[tuple[Keys, list[Any], tuple[str, ...]]]:
    """Each mapping in the file: its path, the keys it has and the keys it may have."""
    if not isinstance(data, dict):
        return
    yield (), list(data), FILE
    yield from _within(data, ())
    for index, tool in enumerate(_list(data.get("tools"))):
        if isinstance(tool, dict):
            yield ("tools", index), list(tool), TOOL
            yield from _within(tool, ("tools", index))


def _within(tool: dict[Any, Any], at: Keys) -> Iterator[tuple[Keys, list[Any], tuple[str, ...]]]:
    for index, parameter in enumerate(_list(tool.get("parameters"))):
        if isinstance(parameter, dict):
            yield (*at, "parameters", index), list(parameter), PARAMETER
    docs = tool.get("docs")
    if isinstance(docs, dict):
        yield (*at, "docs"), list(docs), DOCS
        for index, example in enumerate(_list(docs.get("examples"))):
            if isinstance(example, dict):
                yield (*at, "docs", "examples", index), list(example), EXAMPLE


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
