"""The recipes of a workspace: listed, checked against its skills, saved, and turned into goals with plans."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.runs.goal import Goal
from goalwright.runs.recipes import recipe_files
from goalwright.runs.recipes.check import RecipeCheck, check, skill_hash
from goalwright.runs.recipes.parameters import made_recipe
from goalwright.runs.recipes.recipe import RecipeValueError, SkillHash
from goalwright_executor.capture.secrets import Secrets
from goalwright_planner.events import RecipeUse
from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.hidden_paths import is_hidden_name
from goalwright_skills.programs.trust import Trust
from goalwright_skills.text.formatting import shorten
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.runs.recipes.parameters import RecipeSource
    from goalwright.runs.recipes.recipe import Recipe, RecipeParameter
    from goalwright.runs.recipes.recipe_files import RecipeFile
    from goalwright.workspace.workspace import Workspace
    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan
    from goalwright_skills.skill import Skill

_TRUSTED = "recipes"
_LONGEST_PATH = 200


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """The state of a recipe today, as `recipes list` prints it."""

    file: RecipeFile
    ok: bool
    reason: str
    check: RecipeCheck | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON."""
        recipe = self.file.recipe
        return {
            "name": self.file.name,
            "goal": self.file.goal,
            "parameters": [parameter.to_dict() for parameter in recipe.parameters] if recipe else [],
            "skills": [skill.name for skill in recipe.skills] if recipe else [],
            "run_id": recipe.run_id if recipe else "",
            "ok": self.ok,
            "reason": self.reason or None,
        }


@dataclass(slots=True)
class WorkspaceRecipes:
    """The recipes in a workspace's folder `recipes/`."""

    workspace: Workspace

    @property
    def folder(self) -> Path:
        """The folder of the workspace."""
        return self.workspace.paths.workspace

    def rows(self) -> list[RecipeRow]:
        """Return all recipes by name, each checked against today's skills."""
        known, skills = self.workspace.known(), self._skills()
        return [self._row(file, known, skills) for file in recipe_files.read_all(self.folder)]

    def checked(self, names: Sequence[str] = ()) -> list[RecipeRow]:
        """Return the named recipes, or all, broken files included; raises NoRecipe if one is missing."""
        files = [recipe_files.find(self.folder, name) for name in names] or recipe_files.find_all(self.folder)
        known, skills = self.workspace.known(), self._skills()
        return [self._row(file, known, skills) for file in files]

    def row(self, name: str) -> RecipeRow:
        """Return a recipe, checked; raises NoRecipe if it is missing or cannot be read."""
        return self._row(recipe_files.read(self.folder, name), self.workspace.known(), self._skills())

    def _row(self, file: RecipeFile, known: Known, skills: Mapping[str, Skill]) -> RecipeRow:
        if file.recipe is None:
            return RecipeRow(file, ok=False, reason=file.reason)
        try:
            values = file.recipe.values({parameter.name: parameter.example for parameter in file.recipe.parameters})
        except RecipeValueError as error:
            return RecipeRow(file, ok=False, reason=error.message)
        checked = check(file.recipe, values, known, skills, self.workspace.settings.required_skills)
        files = [row for row in file.recipe.parameters if row.type == "file" and row.default is not None]
        forbidden = "; ".join(_forbidden(row) for row in files if not self._is_visible(row))
        missing = tuple(_missing(row) for row in files if self._is_visible(row) and not self._exists(row))
        checked = replace(checked, warnings=(*checked.warnings, *missing))
        reason = checked.reason or shorten(forbidden, recipe_files.LONGEST_REASON)
        return RecipeRow(file, ok=not reason, reason=reason, check=checked)

    def by_name(self, name: str, given: Mapping[str, str], goal: Goal | None = None) -> Goal:
        """Return the goal of a recipe with these values and its plan; raises if a value is invalid.

        If the recipe cannot be used today, the goal has no plan, and its `recipe` has a warning with the reason.
        `goal` may bring other skills, files and an output schema.
        """
        file = recipe_files.read(self.folder, name)
        recipe = file.recipe
        assert recipe is not None  # noqa: S101 - `read` raises otherwise
        secrets = Secrets.of(os.environ)
        values = recipe.values({key: secrets.redact(value) for key, value in given.items()})
        files = self._files(recipe, given)
        values |= {key: self.relative_name(path) for key, path in files.items()}
        required = self.workspace.settings.required_skills
        checked = check(recipe, values, self.workspace.known(), self._skills(), required)
        reason = checked.reason or self._distrust(file, checked.plan)
        unused = f"the recipe {name!r} is not used, and the goal is planned: {reason}"
        warnings = (unused,) if reason else checked.warnings
        return replace(
            goal or Goal(recipe.goal),
            text=checked.goal,
            files=tuple(dict.fromkeys((*(goal.files if goal else ()), *files.values()))),
            plan=None if reason else checked.plan,
            recipe=RecipeUse(name, values, recipe.run_id, used=not reason, warnings=warnings),
        )

    def save(
        self, name: str, source: RecipeSource, parameters: Sequence[RecipeParameter], *, replaced: bool = False
    ) -> RecipeFile:
        """Write and trust the recipe of a run's goal and plan; raises if it could not be used."""
        recipe = made_recipe(name, source, parameters)
        skills = self._skills()
        tasks = recipe.plan.get("tasks") or ()
        names = dict.fromkeys(task["name"] for task in tasks if task.get("action_type") == "skill")
        hashes = tuple(SkillHash(skill, skill_hash(skills[skill]) if skill in skills else "") for skill in names)
        recipe = replace(recipe, skills=hashes)
        values = recipe.values({parameter.name: parameter.default or "" for parameter in parameters})
        checked = check(recipe, values, self.workspace.known(), skills)
        if checked.plan is None:
            raise InputError(
                f"the plan of the run cannot be a recipe: {checked.reason}", hint="save a run whose plan can run today"
            )
        file = recipe_files.write(self.folder, recipe, replace=replaced)
        self.trust(file)
        return file

    def trust(self, file: RecipeFile) -> None:
        """Trust a recipe in its current form, including the tools that its plan calls."""
        Trust(self.workspace.paths.trust).add(_TRUSTED, file.sha256, file.path)

    def untrusted(self) -> list[RecipeFile]:
        """Return the recipes whose plans call tools and that are not trusted in their current form."""
        files = [file for file in recipe_files.read_all(self.folder) if file.recipe is not None]
        return [file for file in files if _calls_tools(file.recipe) and not self._trusts(file)]

    def _distrust(self, file: RecipeFile, plan: Plan | None) -> str:
        """Return why a plan may not be used before its recipe is trusted: it calls tools without asking a model."""
        tools = sorted({task.name for task in plan.tasks if task.action_type == "tool" and task.name}) if plan else []
        if not tools or self._trusts(file):
            return ""
        return f"its plan calls {', '.join(tools)}, and you have not trusted it; read {file.path}, then trust it"

    def _trusts(self, file: RecipeFile) -> bool:
        paths = self.workspace.paths
        return paths.sent_trust is None and Trust(paths.trust).has(_TRUSTED, file.sha256)

    def _skills(self) -> dict[str, Skill]:
        return {skill.name: skill for skill in self.workspace.skills.active()}

    def _files(self, recipe: Recipe, given: Mapping[str, str]) -> dict[str, Path]:
        """Return the files of a recipe's parameters; a given path may be any, a default only one that tools can see."""
        files: dict[str, Path] = {}
        for parameter in recipe.parameters:
            if parameter.type != "file":
                continue
            if parameter.name in given:
                files[parameter.name] = Path(given[parameter.name]).absolute()
            elif parameter.default is not None:
                files[parameter.name] = self._default_file(parameter)
        return files

    def _default_file(self, parameter: RecipeParameter) -> Path:
        fault = ""
        if not self._is_visible(parameter):
            fault = _forbidden(parameter)
        elif not self._exists(parameter):
            fault = _missing(parameter)
        if fault:
            raise RecipeValueError(fault, hint=f"give another: {parameter.name}=PATH")
        return self.folder / str(parameter.default)

    def _is_visible(self, parameter: RecipeParameter) -> bool:
        """Return whether the default of a parameter is a file that tools can see."""
        try:
            real = Path(os.path.realpath(self.folder / str(parameter.default)))
        except ValueError:  # not a path
            return False
        return real.is_relative_to(self.folder) and not any(map(is_hidden_name, real.relative_to(self.folder).parts))

    def _exists(self, parameter: RecipeParameter) -> bool:
        return untrusted_files.is_regular(self.folder / str(parameter.default))

    def relative_name(self, path: Path) -> str:
        """Return the name of a file in a plan: relative to the workspace if it is inside, else absolute."""
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else str(path)


def _forbidden(parameter: RecipeParameter) -> str:
    return f"{_file_of(parameter)} is outside the workspace or hidden from tools"


def _missing(parameter: RecipeParameter) -> str:
    return f"{_file_of(parameter)} does not exist"


def _file_of(parameter: RecipeParameter) -> str:
    return f"the file of {parameter.name!r}, {shorten(printable(parameter.default or ''), _LONGEST_PATH)},"


def _calls_tools(recipe: Recipe | None) -> bool:
    tasks = recipe.plan.get("tasks") if recipe is not None else None
    return isinstance(tasks, list) and any(
        isinstance(task, dict) and task.get("action_type") not in ("llm", "skill", "goal") for task in tasks
    )
