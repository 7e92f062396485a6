"""Plan files: written by `goalwright plan`, edited by a person, and run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills import untrusted_files
from goalwright_skills.builtin.toolset import SETTINGS
from goalwright_skills.errors import InputError
from goalwright_skills.format.safe_yaml import JsonLoader

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.plan.known import Known

_LARGEST = 20_000_000
WIDTH = 100  # of lines in YAML
_FIX = "fix the plan and run it again"


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan, the goal in the file, and the repairs."""

    plan: Plan
    goal: str = ""
    repairs: tuple[str, ...] = ()


class InvalidPlan(InputError):
    """A plan file has faults; `tools` are tools that it needs and that are off by default."""

    def __init__(self, message: str, tools: tuple[str, ...]) -> None:
        super().__init__(message, hint=f"allow {', '.join(tools)}; {_FIX}" if tools else _FIX)
        self.tools = tools


class _DuplicateKey(yaml.YAMLError):
    """A key occurs twice, so that one of the values would be lost."""

    def __init__(self, key: object, mark: object = None) -> None:
        super().__init__(f"duplicate key {key!r}; is a `- ` missing before one of them?")
        self.problem_mark = mark


class _Loader(JsonLoader):
    """Loads YAML with the values of JSON; a duplicate key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping; raises on a duplicate key."""
        seen: set[str] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():  # a tag may be on a scalar
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise _DuplicateKey(key.value, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as literal blocks."""


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def dump(plan: Plan, form: str, goal: str = "") -> str:
    """Return the plan as `json` or `yaml`; JSON also if YAML cannot represent a text exactly."""
    document = ({"goal": goal} if goal else {}) | plan.to_dict()
    as_json = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if form == "json":
        return as_json
    as_yaml = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    try:
        return as_yaml if load(as_yaml) == document else as_json
    except yaml.YAMLError:
        return as_json


def form_of(path: Path) -> str:
    """Return the format for a file name: JSON for `.json`, else YAML."""
    return "json" if path.suffix.lower() == ".json" else "yaml"


def read(path: Path, known: Known) -> PlanFile:
    """Read and validate a plan file; raises with all faults."""
    try:
        text = untrusted_files.read_given_text(path, _LARGEST)
    except OSError as error:
        raise InputError(f"the plan {path} cannot be read: {error.strerror}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the plan {path} is not UTF-8 text", hint="save it as UTF-8") from error
    return parse(text, str(path), known)


def load(text: str) -> Any:
    """Load JSON, else YAML; not all JSON is valid YAML."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except ValueError:
        return yaml.load(text, _Loader)  # noqa: S506 - stricter than the safe loader


def parse(text: str, where: str, known: Known) -> PlanFile:
    """Parse and validate a plan in YAML or JSON; raises with all faults."""
    try:
        reading = read_plan(load(text), known)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        fault = f": {error}" if isinstance(error, _DuplicateKey) else f" is neither YAML nor JSON: {_brief(error)}"
        raise InputError(f"the plan {where}{line}{fault}", hint=_FIX) from error
    except RecursionError as error:
        raise InputError(f"the plan {where} is nested too deeply to be read", hint=_FIX) from error
    goal = (isinstance(reading.document, dict) and reading.document.get("goal")) or ""
    faults = [*([] if isinstance(goal, str) else ["'goal' must be a text"]), *reading.faults]
    if faults:
        lines = "".join(f"\n  - {fault}" for fault in faults)
        raise InvalidPlan(f"the plan {where} cannot run:{lines}", tools=_missing_tools(reading.document, known))
    return PlanFile(Plan.from_dict(reading.document), goal, reading.repairs)


def _missing_tools(document: Any, known: Known) -> tuple[str, ...]:
    """Return the tools of a plan that are off by default and not allowed."""
    rows = document.get("tasks") if isinstance(document, dict) else None
    names = [row.get("name") for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)]
    return tuple(name for name in dict.fromkeys(map(str, names)) if name in SETTINGS and name not in known.tools)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _DuplicateKey(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return mapping


def _brief(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]
