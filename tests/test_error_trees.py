"""The trees of exceptions drawn in docstrings are complete and true."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from goalwright_skills.errors import GoalwrightError

ROOT = Path(__file__).parents[1]
PACKAGES = [ROOT / "goalwright", *(ROOT / name / f"goalwright_{name}" for name in ("skills", "planner", "executor"))]
BRANCH = re.compile(r"(?P<depth>(?:│   |    )*)[├└]── (?P<name>\w+)(?: |$)")


@dataclass(frozen=True)
class Drawn:
    """A tree in a module's docstring: its root, and each other class with its parent."""

    module: str
    root: str
    parents: dict[str, str]


def drawn(text: str, module: str) -> Drawn | None:
    """The tree of exceptions in a docstring; None if it has none."""
    path: list[str] = []
    parents: dict[str, str] = {}
    above = ""
    for line in text.splitlines():
        match = BRANCH.match(line)
        if match is None:
            above = line or above
            continue
        path = path or [above.split()[0]]
        depth = len(match["depth"]) // 4 + 1
        assert depth <= len(path), f"{module}: {match['name']} is drawn too deep"
        assert match["name"] not in parents, f"{module}: {match['name']} is drawn twice"
        path = [*path[:depth], match["name"]]
        parents[match["name"]] = path[depth - 1]
    return Drawn(module, path[0], parents) if path and path[0].endswith("Error") else None


def trees() -> list[Drawn]:
    """Every tree in the docstrings of the project's modules."""
    found = []
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "── " in text and "templates" not in path.parts:
                module = _module(path, package)
                tree = drawn(ast.get_docstring(ast.parse(text)) or "", module)
                found += [tree] if tree else []
    return found


def _module(path: Path, package: Path) -> str:
    """The dotted name of a module."""
    return ".".join(path.relative_to(package.parent).with_suffix("").parts)


def declared(module: str) -> set[str]:
    """The names of the exceptions that a module defines."""
    return {
        name
        for name, value in vars(import_module(module)).items()
        if isinstance(value, type) and issubclass(value, GoalwrightError) and value.__module__ == module
    }


def real(module: str) -> dict[str, type]:
    """Each exception that a module defines or imports, and their bases, by name."""
    named = [value for value in vars(import_module(module)).values() if isinstance(value, type)]
    return {base.__name__: base for one in named if issubclass(one, GoalwrightError) for base in one.__mro__}


TREES = trees()


def test_every_module_of_errors_draws_its_tree() -> None:
    modules = {_module(path, package) for package in PACKAGES for path in package.rglob("errors.py")}
    assert modules <= {tree.module for tree in TREES}
    assert len(TREES) >= 4


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.module)
def test_a_drawn_tree_is_that_of_the_classes(tree: Drawn) -> None:
    classes = real(tree.module)
    bases = {name: {base.__name__ for base in classes[name].__bases__} for name in tree.parents if name in classes}
    assert {name: bases.get(name) for name in tree.parents} == {name: {base} for name, base in tree.parents.items()}
    assert tree.root in classes
    assert declared(tree.module) - {tree.root, *tree.parents} == set()


def test_a_tree_is_read_with_its_levels() -> None:
    text = "Errors.\n\nAnError  the root\n├── B\n│   ├── C  some words\n│   └── D\n└── E\n    └── F\n\nMore."
    assert drawn(text, "m") == Drawn("m", "AnError", {"B": "AnError", "C": "B", "D": "B", "E": "AnError", "F": "E"})
    assert drawn("A flow: a ──> b.", "m") is None
    assert drawn("Folders:\n\nskills\n├── text\n└── tools\n", "m") is None
