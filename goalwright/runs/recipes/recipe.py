"""A recipe: a goal with parameters, the plan for it, and the skills that the plan needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Iterator

ParameterType = Literal["text", "number", "file", "choice"]
TYPES: tuple[str, ...] = get_args(ParameterType)
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
PARAMETER = re.compile(r"[a-z][a-z0-9_]*")
LONGEST_NAME = 64
MOST_PARAMETERS = 50
LONGEST_VALUE = 20_000
_LONGEST_GOAL = 20_000
_MOST_KEYS = 50  # that are compared with a missing key
_KEYS = ("goal", "parameters", "plan", "skills", "from")
# 1200, 1,200 and 0.5; also 0,5, since a comma before three digits separates thousands.
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3}){1,30}|\d{1,100})(?:\.\d{1,100})?")
_DECIMAL_COMMA = re.compile(r"-?\d{1,100},\d{1,2}")


class NoRecipe(InputError):
    """No recipe has this name, or its file cannot be read."""

    code = "NO_RECIPE"


class RecipeExists(InputError):
    """A recipe of this name exists already."""


class RecipeValueError(InputError):
    """A parameter of a recipe is unknown, has no value, or has an invalid one."""

    code = "RECIPE_VALUE"


def number_in(text: str) -> int | float | None:
    """Return the number in a text; None for other texts, such as a version, a time or a price."""
    plain = text.strip()
    if _DECIMAL_COMMA.fullmatch(plain):
        return float(plain.replace(",", "."))
    if not _NUMBER.fullmatch(plain):
        return None
    plain = plain.replace(",", "")
    return float(plain) if "." in plain else int(plain)


def name_fault(name: str) -> str:
    """Return what is wrong with the name of a parameter; empty if it is valid."""
    if not PARAMETER.fullmatch(name):
        return f"the name {name[:80]!r} may contain only a-z, 0-9 and _, and must begin with a letter"
    if len(name) > LONGEST_NAME:
        return f"the name {name[:80]!r} has more than {LONGEST_NAME} characters"
    return ""


@dataclass(frozen=True, slots=True)
class RecipeParameter:
    """A value that differs between uses of a recipe; without a default it is required."""

    name: str
    type: ParameterType = "text"
    default: str | None = None
    description: str = ""
    choices: tuple[str, ...] = ()

    @property
    def example(self) -> str:
        """Return a valid value: the default, if there is one."""
        return self.default or {"number": "1", "choice": next(iter(self.choices), "")}.get(self.type, "…")

    def to_dict(self) -> dict[str, Any]:
        """Return the parameter as in a recipe's file."""
        document = {"name": self.name, "type": self.type, "default": self.default, "description": self.description}
        return document | ({"choices": list(self.choices)} if self.choices else {})

    def fault(self, value: str) -> str:
        """Return what is wrong with a value; empty if it is valid."""
        if not value.strip():
            return "is empty"
        if len(value) > LONGEST_VALUE:
            return f"has {len(value):,} characters, more than {LONGEST_VALUE:,}"
        if "<<" in value:
            return "contains <<, which plans use for results of tasks"
        if self.type == "number" and number_in(value) is None:
            return f"must be a number such as 12, 1,200 or 0.5, not {value!r}"
        if self.type == "choice" and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}, not {value!r}"
        return ""


@dataclass(frozen=True, slots=True)
class SkillHash:
    """A skill that a recipe's plan uses, and the hash of its file when the recipe was saved."""

    name: str
    sha256: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the skill as in a recipe's file."""
        return {"name": self.name, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A reusable plan: its goal and document have `{name}` where a value goes. `run_id` is the original run."""

    name: str
    goal: str
    parameters: tuple[RecipeParameter, ...]
    plan: Mapping[str, Any]
    skills: tuple[SkillHash, ...] = ()
    run_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as in its file."""
        return {
            "goal": self.goal,
            "parameters": [parameter.to_dict() for parameter in self.parameters],
            "plan": dict(self.plan),
            "skills": [skill.to_dict() for skill in self.skills],
            "from": self.run_id,
        }

    def values(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return a value for each parameter: the given one or the default; raises with all faults."""
        names = [parameter.name for parameter in self.parameters]
        faults = [_unknown(name, names) for name in given if name not in names]
        values: dict[str, str] = {}
        for parameter in self.parameters:
            value = given.get(parameter.name, parameter.default)
            if value is None:
                faults.append(f"{parameter.name} is missing, and has no default")
                continue
            if fault := parameter.fault(value):
                faults.append(f"{parameter.name} {fault}")
            values[parameter.name] = value
        if faults:
            hint = f"`goalwright recipes show {self.name}` lists its parameters; give them as NAME=VALUE"
            raise RecipeValueError(
                f"the recipe {self.name!r} cannot be used with these values: {'; '.join(faults)}", hint=hint
            )
        return values


def _unknown(name: str, names: Sequence[str]) -> str:
    near = guess(name, names)
    hint = f"did you mean {near!r}?" if near else f"parameters are: {', '.join(names) or 'none'}"
    return f"it has no parameter {name!r}; {hint}"


def shape_faults(document: Mapping[str, Any]) -> list[str]:
    """Return what a document lacks to be a recipe; a `recipes/` folder may contain files of other programs."""
    faults = [
        _missing(key, document) if key not in document else f"{key!r} must be {form}"
        for key, kind, form in (("goal", str, "a text"), ("plan", Mapping, "a mapping with 'tasks'"))
        if not isinstance(document.get(key), kind)
    ]
    if not isinstance(document.get("parameters", []), list):
        faults.append("'parameters' must be a list")
    return faults


def is_like_recipe(document: Mapping[str, Any]) -> bool:
    """Return whether a document has the goal or the plan of a recipe, and so was probably meant to be one."""
    return isinstance(document.get("goal"), str) or isinstance(document.get("plan"), Mapping)


def _missing(key: str, document: Mapping[str, Any]) -> str:
    near = guess(key, [other for other in list(document)[:_MOST_KEYS] if other not in _KEYS])
    return f"{key!r} is missing" + (f" (is it {near!r}?)" if near else "")


def read_recipe(name: str, document: Mapping[str, Any]) -> Recipe:
    """Return the recipe in a document that has its shape; raises NoRecipe with all faults."""
    faults = list(_faults(document))
    if faults:
        raise NoRecipe(
            f"the recipe {name!r} cannot be read: {'; '.join(faults)}",
            hint="fix its file, or save it again",
        )
    return Recipe(
        name,
        document["goal"],
        tuple(
            RecipeParameter(
                row["name"],
                row.get("type") or "text",
                _default(row.get("default")),
                row.get("description") or "",
                tuple(row.get("choices") or ()),
            )
            for row in document.get("parameters") or ()
        ),
        document["plan"],
        tuple(SkillHash(row["name"], row.get("sha256") or "") for row in document.get("skills") or ()),
        document.get("from") or "",
    )


def _default(value: object) -> str | None:
    return None if value is None else str(value)


def _faults(document: Mapping[str, Any]) -> Iterator[str]:
    if not document["goal"].strip() or len(document["goal"]) > _LONGEST_GOAL:
        yield f"'goal' must be a text of 1 to {_LONGEST_GOAL:,} characters"
    rows = document.get("parameters") or []
    if len(rows) > MOST_PARAMETERS:
        yield f"it has {len(rows)} parameters, more than {MOST_PARAMETERS}"
        rows = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        yield from (f"parameter {number}: {fault}" for fault in _parameter_faults(row, seen))
    skills = document.get("skills") or []
    if not isinstance(skills, list) or not all(
        isinstance(row, Mapping) and isinstance(row.get("name"), str) and isinstance(row.get("sha256") or "", str)
        for row in skills
    ):
        yield "'skills' must be a list of {name, sha256}"
    if not isinstance(document.get("from") or "", str):
        yield "'from' must be a run's id"


def _parameter_faults(row: object, seen: set[str]) -> Iterator[str]:
    if not isinstance(row, Mapping) or not isinstance(name := row.get("name"), str):
        yield "it must have a 'name'"
        return
    if fault := name_fault(name):
        yield fault
    if name in seen:
        yield f"two parameters have the name {name!r}"
    seen.add(name)
    if (row.get("type") or "text") not in TYPES:
        yield f"'type' must be one of {', '.join(TYPES)}, not {row['type']!r}"
    if isinstance(row.get("default"), Mapping | list | bool):
        yield "'default' must be a text or a number"
    if not isinstance(row.get("description") or "", str):
        yield "'description' must be a text"
    choices = row.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        yield "'choices' must be a list of texts"
    elif row.get("type") == "choice" and not choices:
        yield "a choice needs 'choices'"
