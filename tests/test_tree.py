"""The structure of docs/architecture.md: no import cycles, imports downwards, unique class names.

Uses only the standard library and pytest, so that it is fast.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "goalwright": ROOT / "goalwright",
    "goalwright_executor": ROOT / "executor" / "goalwright_executor",
    "goalwright_planner": ROOT / "planner" / "goalwright_planner",
    "goalwright_skills": ROOT / "skills" / "goalwright_skills",
}
DATA = ("goalwright_skills/templates", "goalwright_skills/library")
IMPORT = re.compile(r"^[ \t]*(?:from (?P<module>[\w.]+) )?import (?P<names>\([^)]*\)|[^\n(]+)", re.MULTILINE)
CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """An import between our modules, including type-only and local imports."""

    source: str
    target: str


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name."""
    found = {}
    for folder in (*PACKAGES.values(), ROOT / "bench"):
        for path in sorted(folder.rglob("*.py")):
            place = path.relative_to(folder.parent)
            if not place.as_posix().startswith(DATA):
                parts = place.parent.parts if path.name == "__init__.py" else place.with_suffix("").parts
                found[".".join(parts)] = path
    return found


def product() -> list[str]:
    """Return the installed modules, without the benchmarks."""
    return [name for name in modules() if name.partition(".")[0] in PACKAGES]


@cache
def text(name: str) -> str:
    return modules()[name].read_text(encoding="utf-8")


@cache
def imports() -> list[Import]:
    """Return every import between our modules, found by regex because parsing takes seconds."""
    return [
        Import(name, target)
        for name in modules()
        for found in IMPORT.finditer(text(name))
        for target in _targets(found)
    ]


def _targets(statement: re.Match[str]) -> list[str]:
    """Return our modules that a statement imports."""
    module, listed = statement["module"], re.sub(r"#.*|[()]", "", statement["names"])
    names = {name.partition(" as ")[0].strip() for name in listed.split(",")} - {""}
    if module is None:
        return sorted(names & modules().keys())
    full = {f"{module}.{name}" for name in names}
    submodules = full & modules().keys()
    return sorted(submodules | ({module} & modules().keys() if full - submodules else set()))


def cycles(edges: dict[str, set[str]]) -> list[str]:
    """Return every cycle of a depth-first search, as a → b → a."""
    cycles_: list[str] = []
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> None:
        if name in path:
            cycles_.append(" → ".join([*path[path.index(name) :], name]))
        elif name not in done:
            for other in sorted(edges.get(name, ())):
                walk(other, [*path, name])
            done.add(name)

    for name in sorted(edges):
        walk(name, [])
    return cycles_


def test_modules_have_no_import_cycles() -> None:
    edges: dict[str, set[str]] = defaultdict(set)
    for one in imports():
        edges[one.source].add(one.target)
    assert cycles(edges) == []


def test_a_cycle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a → b → c → a"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import goalwright.runs.runtime as it, json", ["goalwright.runs.runtime"]),
        (
            "    from goalwright.runs import runtime, pipeline  # both",
            ["goalwright.runs.pipeline", "goalwright.runs.runtime"],
        ),
        ("from goalwright.runs.runtime import Goalwright", ["goalwright.runs.runtime"]),
        (
            "from goalwright.runs import (\n    Other,  # its own\n    runtime as one,\n)",
            ["goalwright.runs", "goalwright.runs.runtime"],
        ),
        ("important = from_goalwright", []),
    ],
)
def test_every_form_of_import_is_found(statement: str, expected: list[str]) -> None:
    found = [target for one in IMPORT.finditer(f"x = 1\n{statement}\n") for target in _targets(one)]
    assert found == expected


def test_wings_are_imported_downwards_only() -> None:
    """Check the layers of pyproject.toml, including type-only imports."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    assert {container for one in contracts for container in one.get("containers", [])} >= set(PACKAGES)
    wrong = []
    for contract in contracts:
        for container in contract.get("containers", [""]):
            rank = {
                f"{container}.{wing.strip()}".strip("."): (-height, wing)
                for height, layer in enumerate(contract["layers"])
                for wing in layer.split("|")
            }
            for one in imports():
                lower, upper = _wing(one.source, rank), _wing(one.target, rank)
                if lower and upper and lower != upper and rank[lower][0] <= rank[upper][0]:
                    wrong.append(f"{one.source} imports {one.target}")
    assert sorted(set(wrong)) == []


def _wing(module: str, wings: dict[str, tuple[int, str]]) -> str:
    return next((wing for wing in wings if module == wing or module.startswith(f"{wing}.")), "")


def test_every_wing_is_in_a_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [one for one in settings["tool"]["importlinter"]["contracts"] if "containers" in one]
    known = {
        f"{container}.{wing.strip()}"
        for one in contracts
        for container in one["containers"]
        for layer in one["layers"]
        for wing in layer.split("|")
    }
    wings = {".".join(name.split(".")[:2]) for name in product() if name.count(".")}
    assert sorted(wings - known - {"goalwright.__main__"}) == []


def test_public_class_names_are_unique() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name in product():
        for found in CLASS.findall(text(name)):
            homes[found].append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_every_package_has_a_docstring() -> None:
    silent = []
    for name, path in modules().items():
        if path.name == "__init__.py":
            said = ast.get_docstring(ast.parse(text(name))) or ""
            if len(said) < 40 or "what belongs to it" in said:
                silent.append(name)
    assert silent == []


def test_tests_mirror_the_folders_of_the_code() -> None:
    misplaced = []
    for name, package in PACKAGES.items():
        home = ROOT / "tests" / name.removeprefix("goalwright_")
        tested = {path.parent.relative_to(home) for path in home.rglob("test_*.py")}
        misplaced += [f"{home.name}/{place}" for place in sorted(tested) if not (package / place).is_dir()]
    assert misplaced == []
