"""Plans in files: a person edits what `weft plan` wrote, and `weft run --plan` takes it back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from planner.plan import Plan
from planner.shape import SHAPES
from planner.validate import Known, problems
from skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 20_000_000
_MEND = "mend the plan, then run it again"


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan, and the goal it was made for where the file says so."""

    plan: Plan
    goal: str = ""


def dump(plan: Plan, form: str, goal: str = "") -> str:
    """The plan as `json` or `yaml`; a text that YAML cannot carry makes it JSON, which reads back the same way."""
    document = ({"goal": goal} if goal else {}) | plan.to_dict()
    as_json = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if form == "json":
        return as_json
    as_yaml = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    try:
        return as_yaml if yaml.safe_load(as_yaml) == document else as_json
    except yaml.YAMLError:
        return as_json


def form_of(path: Path) -> str:
    """The form that a file's name asks for: JSON for `.json`, else YAML."""
    return "json" if path.suffix.lower() == ".json" else "yaml"


def read(path: Path, known: Known) -> PlanFile:
    """The plan in a file, checked as a model's is; all faults at once."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(
                f"{path} is larger than a plan can be ({_LARGEST // 1_000_000} MB)", hint="name the plan's own file"
            )
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"the plan {path} cannot be read: {error.strerror}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the plan {path} is no UTF-8 text", hint="save it as UTF-8") from error
    return parse(text, str(path), known)


def load(text: str) -> Any:
    """The document in a text of JSON, else of YAML; not all JSON is YAML."""
    try:
        return json.loads(text)
    except ValueError:
        return yaml.safe_load(text)


def parse(text: str, where: str, known: Known) -> PlanFile:
    """The plan in a text of YAML or JSON."""
    try:
        document = load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"the plan {where}{line} is neither YAML nor JSON: {_brief(error)}", hint=_MEND) from error
    document = SHAPES["full"].widen(document)
    if faults := problems(document, known):
        raise InputError(f"the plan {where} cannot run: {'; '.join(faults)}", hint=_MEND)
    goal = document.get("goal")
    return PlanFile(Plan.from_dict(document), goal if isinstance(goal, str) else "")


def _brief(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]
