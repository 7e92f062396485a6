"""Edges in text: `a -> b`, `a & b --> c`, `b depends on a`, and the graphs of Mermaid and Graphviz."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_planner.reading.edges.task_names import TaskNames

Edge = tuple[str, str]

_ARROW = re.compile(r"(-{1,3}>|={1,2}>|-\.+->|~>|[→⟶⇒➔➡]|<-{1,3}|<={1,2}(?!>)|[←⇐])(?:\s*\|[^|]*\|)?")
_BACKWARDS = ("<", "←", "⇐")
_AFTER = re.compile(
    r"\s+(?:(?:must\s+)?(?:depends?\s+on|waits?\s+for|requires?|needs|follows|comes\s+after|(?:starts?|runs?)\s+after|after))\s+",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\s+(?:before|precedes?|leads\s+to|feeds|blocks|is\s+followed\s+by)\s+", re.IGNORECASE)
_WORD = r"(?:`[^`\n]+`|\"[^\"\n]+\"|[\w-]+)"
_LINK = rf"\s*(?:{_ARROW.pattern.replace('(-', '(?:-', 1)})\s*"
_CLAUSE = re.compile(
    rf"{_WORD}(?:{_LINK}{_WORD})+|{_WORD}(?:{_AFTER.pattern}|{_BEFORE.pattern}){_WORD}(?:(?:,\s*|\s+and\s+){_WORD})*",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?:graph|flowchart)\s+(?:TD|TB|LR|RL|BT)\b;?|(?:strict\s+)?digraph\b[^{\n]*\{", re.IGNORECASE)
_SETTING = re.compile(
    r"\w+\s*=\s*\S+|(?:node|edge|graph)\s*\[.*\]|end|(?:subgraph|style|classDef|class|direction|linkStyle|title)\b.*|[{}]*"
)
_NODE = re.compile(r"""(\w[\w-]*)\s*(?:\[+|\(+|\{+)["']?([^\]\)}"']+)["']?(?:\]+|\)+|\}+)""")
_ATTRIBUTES = re.compile(r"\s*\[[^\[\]]*=[^\[\]]*\]\s*$")
_COMMENT = re.compile(r"%%[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)
_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def edges_in(text: str, names: TaskNames) -> list[Edge] | None:
    """The edges of a text that states nothing else; None if any part of it cannot be read."""
    edges: list[Edge] = []
    aliases = _aliases(text, names)
    for statement in _statements(text):
        found = _edges(statement, names, aliases)
        if found is None:
            if names.id_of(_node(statement, names, aliases) or "") is None and not _SETTING.fullmatch(statement):
                return None
            continue
        edges += found
    return edges


def edges_among(text: str, names: TaskNames) -> list[Edge]:
    """The edges that prose states between tasks, as far as they can be read."""
    aliases = _aliases(text, names)
    edges = [edge for statement in _statements(text) for edge in _edges(statement, names, aliases) or ()]
    for match in _CLAUSE.finditer(text):
        edges += _edges(match[0], names, aliases) or ()
    return list(dict.fromkeys(edges))


def texts_in(value: object) -> Iterator[str]:
    """Every text inside a JSON-like value."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from texts_in(item)
        case list() | tuple():
            for item in value:
                yield from texts_in(item)


def has_arrow(text: str) -> bool:
    """Whether a text may state edges."""
    return _ARROW.search(text) is not None


def _statements(text: str) -> list[str]:
    without = _COMMENT.sub(" ", _HEADER.sub("\n", text))
    lines = [_MARK.sub("", line).strip(" \t}") for part in without.split("\n") for line in part.split(";")]
    return [line.strip().rstrip(".") for line in lines if line.strip(" .`~")]


def _edges(statement: str, names: TaskNames, aliases: dict[str, str]) -> list[Edge] | None:
    """The edges of one statement; None if it states none that can be read."""
    statement = _ATTRIBUTES.sub("", statement)
    pieces = _ARROW.split(statement)
    groups = [_group(piece, names, aliases) for piece in pieces[::2]]
    if len(groups) > 1 and all(groups):
        edges: list[Edge] = []
        for (left, right), arrow in zip(pairwise(groups), pieces[1::2], strict=True):
            before, after = (right, left) if arrow.startswith(_BACKWARDS) else (left, right)
            edges += product(before or (), after or ())
        return edges
    for pattern, swapped in ((_AFTER, True), (_BEFORE, False)):
        sides = pattern.split(statement)
        if (
            len(sides) == 2
            and (left := _group(sides[0], names, aliases))
            and (right := _group(sides[1], names, aliases))
        ):
            return list(product(right, left) if swapped else product(left, right))
    return None


def _group(text: str, names: TaskNames, aliases: dict[str, str]) -> Sequence[str] | None:
    """The tasks on one side of an arrow; None if it has anything else."""
    whole = _node(text, names, aliases)
    if whole is not None:
        return [whole]
    parts = re.split(r",|\s+and\s+|&|\s\+\s", text.strip().strip("[]{}()"))
    found = [_node(part, names, aliases) for part in parts]
    return [one for one in found if one is not None] if all(one is not None for one in found) else None


def _node(text: str, names: TaskNames, aliases: dict[str, str]) -> str | None:
    """The task of one node, which may have a label: `A[Survey]`."""
    text = text.strip()
    labelled = _NODE.fullmatch(text)
    if labelled is None:
        return aliases.get(text) or names.id_of(text)
    ids = {one for one in (names.id_of(labelled[1]), names.id_of(labelled[2])) if one is not None}
    return ids.pop() if len(ids) == 1 else None


def _aliases(text: str, names: TaskNames) -> dict[str, str]:
    """The nodes of a graph that are tasks by their labels alone."""
    found = {match[1]: names.id_of(match[2]) for match in _NODE.finditer(text)}
    return {node: one for node, one in found.items() if one is not None and names.id_of(node) is None}
