"""The recipes of a workspace: listed, checked against its skills, matched with goals, and turned into plans."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.runs.goal import Goal, without_secrets
from goalwright.runs.recipes import making, recipe_files
from goalwright.runs.recipes.check import RecipeCheck, check, skill_hash
from goalwright.runs.recipes.matching import Match, RecipeMatcher, asks_for_more
from goalwright.runs.recipes.recipe import RecipeValueError, SkillHash
from goalwright_executor.capture.secrets import Secrets
from goalwright_planner.events import RecipeUse
from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.hidden_paths import is_hidden_name
from goalwright_skills.programs.trust import Trust
from goalwright_skills.text.control import printable
from goalwright_skills.text.shorten import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.runs.recipes.making import RecipeSource
    from goalwright.runs.recipes.recipe import Recipe, RecipeParameter
    from goalwright.runs.recipes.recipe_files import RecipeFile
    from goalwright.workspace.workspace import Workspace
    from goalwright_planner.events import RecipeWay
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.validate import Known
    from goalwright_skills.skill import Skill

_TRUSTED = "recipes"
_LONGEST_PATH = 200


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """How a recipe stands today, as `recipes list` prints it; `check` has what to warn of."""

    file: RecipeFile
    ok: bool
    reason: str
    check: RecipeCheck | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON."""
        recipe = self.file.recipe
        return {
            "name": self.file.name,
            "goal": self.file.goal,
            "parameters": [one.to_dict() for one in recipe.parameters] if recipe else [],
            "skills": [one.name for one in recipe.skills] if recipe else [],
            "run_id": recipe.run_id if recipe else "",
            "ok": self.ok,
            "reason": self.reason or None,
        }


@dataclass(slots=True)
class WorkspaceRecipes:
    """The recipes in a workspace's folder `recipes/`."""

    workspace: Workspace
    _matcher: RecipeMatcher = field(default_factory=RecipeMatcher)

    @property
    def folder(self) -> Path:
        """The workspace."""
        return self.workspace.paths.workspace

    def rows(self) -> list[RecipeRow]:
        """All recipes, by name, each checked against the skills of today."""
        known, skills = self.workspace.known(), self._skills()
        return [self._row(file, known, skills) for file in recipe_files.read_all(self.folder)]

    def checked(self, names: Sequence[str] = ()) -> list[RecipeRow]:
        """The recipes of these names, or all, with those that an edit has broken; raises NoRecipe if one is missing."""
        files = [recipe_files.find(self.folder, name) for name in names] or recipe_files.find_all(self.folder)
        known, skills = self.workspace.known(), self._skills()
        return [self._row(file, known, skills) for file in files]

    def row(self, name: str) -> RecipeRow:
        """One recipe, checked; raises NoRecipe if there is none."""
        return self._row(recipe_files.read(self.folder, name), self.workspace.known(), self._skills())

    def _row(self, file: RecipeFile, known: Known, skills: Mapping[str, Skill]) -> RecipeRow:
        if file.recipe is None:
            return RecipeRow(file, ok=False, reason=file.reason)
        try:
            values = file.recipe.values({one.name: one.example for one in file.recipe.parameters})
        except RecipeValueError as error:
            return RecipeRow(file, ok=False, reason=error.message)
        checked = check(file.recipe, values, known, skills, self.workspace.settings.required_skills)
        own = [one for one in file.recipe.parameters if one.type == "file" and one.default is not None]
        forbidden = "; ".join(_is_forbidden(one) for one in own if not self._may_name(one))
        missing = tuple(_is_missing(one) for one in own if self._may_name(one) and not self._is_here(one))
        checked = replace(checked, warnings=(*checked.warnings, *missing))
        reason = checked.reason or shorten(forbidden, recipe_files.LONGEST_REASON)
        return RecipeRow(file, ok=not reason, reason=reason, check=checked)

    def by_name(self, name: str, given: Mapping[str, str], goal: Goal | None = None) -> Goal:
        """The goal of a recipe with these values, and its plan, if that can be used; raises if a value is wrong.

        `goal` may bring skills, files and a form of the answer besides.
        """
        file = recipe_files.read(self.folder, name)
        assert file.recipe is not None  # noqa: S101 - `read` raises otherwise
        secrets = Secrets.of(os.environ)
        values = file.recipe.values({key: secrets.redact(value) for key, value in given.items()})
        files = self._files(file.recipe, given)
        values |= {key: self.told(path) for key, path in files.items()}
        match = Match(file.recipe, values, 1.0, "")
        base = replace(goal or Goal(file.recipe.goal), text=file.recipe.pattern.filled(values))
        base = replace(base, files=tuple(dict.fromkeys((*base.files, *files.values()))))
        return self.used(base, match, "name", file)

    def matched(self, goal: Goal) -> Match | None:
        """The recipe that a goal is like, with the goal's values; never for one with a plan, or in a conversation."""
        if goal.plan is not None or goal.recipe is not None or goal.answers:
            return None
        if goal.conversation is not None or goal.after is not None or goal.schema is not None:
            return None
        files = recipe_files.read_all(self.folder)
        recipes = [
            file.recipe
            for file in files
            if file.recipe is not None and file.recipe.is_told_by_goals and self._has_files(file.recipe, goal)
        ]
        if not recipes:
            return None
        goal = without_secrets(goal, os.environ)
        match = self._matcher.match(goal.text, recipes)
        if match is None or asks_for_more(goal, match.recipe, self.workspace):
            return None
        rest = [path for path in goal.files if self.told(path) not in match.values.values()]
        given = {one.name: self.told(path) for one, path in zip(match.recipe.files, rest, strict=False)}
        return match.giving(given)

    def used(self, goal: Goal, match: Match, way: RecipeWay, file: RecipeFile | None = None) -> Goal:
        """The goal with the recipe's plan; or without it, and with the reason, if it cannot be used today."""
        file = file or recipe_files.read(self.folder, match.recipe.name)
        values = match.recipe.values(match.values)
        must_use = self.workspace.settings.required_skills
        checked = check(match.recipe, values, self.workspace.known(), self._skills(), must_use)
        reason = checked.reason or self._distrust(file, checked.plan)
        unused = f"the recipe {match.recipe.name!r} is not used, and the goal is planned: {reason}"
        use = RecipeUse(
            match.recipe.name,
            values,
            way,
            match.reason,
            match.score,
            match.recipe.run_id,
            used=not reason,
            warnings=(unused,) if reason else checked.warnings,
        )
        return replace(goal, plan=None if reason else checked.plan, recipe=use)

    def save(
        self, name: str, source: RecipeSource, parameters: Sequence[RecipeParameter], *, replaced: bool = False
    ) -> RecipeFile:
        """Write the recipe of a run's goal and plan; raises if it could not be used. Who saves it trusts it."""
        recipe = making.made(name, source, parameters)
        skills = self._skills()
        tasks = recipe.plan.get("tasks") or ()
        named = dict.fromkeys(task["name"] for task in tasks if task.get("action_type") == "skill")
        hashes = tuple(SkillHash(one, skill_hash(skills[one]) if one in skills else "") for one in named)
        recipe = replace(recipe, skills=hashes)
        values = recipe.values({one.name: one.default or "" for one in parameters})
        checked = check(recipe, values, self.workspace.known(), skills)
        if checked.plan is None:
            raise InputError(
                f"the plan of the run cannot be a recipe: {checked.reason}", hint="save a run whose plan can run today"
            )
        file = recipe_files.write(self.folder, recipe, replace=replaced)
        self.trust(file)
        return file

    def trust(self, file: RecipeFile) -> None:
        """Trust a recipe as it is now, with the tools that its plan calls."""
        Trust(self.workspace.paths.trust).add(_TRUSTED, file.sha256, file.path)

    def untrusted(self) -> list[RecipeFile]:
        """The recipes whose plans call tools and that nobody has trusted as they are."""
        files = [file for file in recipe_files.read_all(self.folder) if file.recipe is not None]
        return [file for file in files if _tools(file.recipe) and not self._trusts(file)]

    def _distrust(self, file: RecipeFile, plan: Plan | None) -> str:
        """Why a plan is not used before its recipe is trusted: it calls tools by itself, and may be a stranger's."""
        tools = sorted({task.name for task in plan.tasks if task.action_type == "tool" and task.name}) if plan else []
        if not tools or self._trusts(file):
            return ""
        return f"its plan calls {', '.join(tools)}, and you have not trusted it; read {file.path}, then pass --trust"

    def _trusts(self, file: RecipeFile) -> bool:
        paths = self.workspace.paths
        return paths.sent_trust is None and Trust(paths.trust).has(_TRUSTED, file.sha256)

    def _skills(self) -> dict[str, Skill]:
        return {skill.name: skill for skill in self.workspace.skills.active()}

    def _files(self, recipe: Recipe, given: Mapping[str, str]) -> dict[str, Path]:
        """The files that a recipe is given: those named now are the user's word; a default may be a stranger's."""
        found: dict[str, Path] = {}
        for one in recipe.parameters:
            if one.type != "file":
                continue
            if one.name in given:
                found[one.name] = Path(given[one.name]).absolute()
            elif one.default is not None:
                found[one.name] = self._own(one)
        return found

    def _own(self, parameter: RecipeParameter) -> Path:
        fault = ""
        if not self._may_name(parameter):
            fault = _is_forbidden(parameter)
        elif not self._is_here(parameter):
            fault = _is_missing(parameter)
        if fault:
            raise RecipeValueError(fault, hint=f"give another: {parameter.name}=PATH")
        return self.folder / str(parameter.default)

    def _may_name(self, parameter: RecipeParameter) -> bool:
        """Whether a default is a file that a recipe may name, which may be a stranger's: one that tools can see."""
        try:
            real = Path(os.path.realpath(self.folder / str(parameter.default)))
        except ValueError:  # no path at all
            return False
        return real.is_relative_to(self.folder) and not any(map(is_hidden_name, real.relative_to(self.folder).parts))

    def _is_here(self, parameter: RecipeParameter) -> bool:
        return untrusted_files.is_regular(self.folder / str(parameter.default))

    def _has_files(self, recipe: Recipe, goal: Goal) -> bool:
        """Whether a goal brings as many files as a recipe needs, besides those that its text names."""
        named = [path for path in goal.files if path.name in goal.text]
        return len(goal.files) - len(named) == len(recipe.files)

    def told(self, path: Path) -> str:
        """A file as a plan names it: below the workspace, or by its whole path."""
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else str(path)


def _is_forbidden(parameter: RecipeParameter) -> str:
    return f"{_file_of(parameter)} is not one that a recipe may name"


def _is_missing(parameter: RecipeParameter) -> str:
    return f"{_file_of(parameter)} is not here"


def _file_of(parameter: RecipeParameter) -> str:
    return f"the file of {parameter.name!r}, {shorten(printable(parameter.default or ''), _LONGEST_PATH)},"


def _tools(recipe: Recipe | None) -> bool:
    tasks = recipe.plan.get("tasks") if recipe is not None else None
    return isinstance(tasks, list) and any(
        isinstance(task, dict) and task.get("action_type") not in ("llm", "skill", "goal") for task in tasks
    )
