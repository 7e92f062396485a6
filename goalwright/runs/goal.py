"""A goal and what comes with it: skills, files, a plan, answers."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.models.open import profile_of
from goalwright.runs.goal_length import check_length
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.files.named import named_files
from goalwright_executor.model_loop.data_schema import DataSchema
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.settings.settings import Settings
    from goalwright_planner.events import ConversationTurn, EarlierRun, RecipeUse
    from goalwright_planner.plan.plan import Plan

# The goal of a plan file that names none. Part of the prompts, and so of every recorded run: do not change it.
NO_GOAL = "Carry out this plan."


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """Where a goal stands in a batch: the batch's id, the goal's own id there, and how many goals there are."""

    batch: str
    goal: str
    size: int


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal: its text, skills that must be used, files, a ready plan, and answers to questions.

    `repairs` says how the plan differs from the file that it was read from, `place` in which batch the goal stands.
    `schema` is the form that the answer must have: a JSON Schema or a pydantic model. `after` is what is taken over
    from the run that it follows up, `conversation` what it sees of earlier turns. With `stream`, the events of its run
    hold the answer as it is written; None: if someone is handed them. `recipe` is the one that the plan comes from.
    """

    text: str
    skills: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    plan: Plan | None = None
    answers: tuple[str, ...] = ()
    stream: bool | None = None
    repairs: tuple[str, ...] = ()
    place: BatchPlace | None = None
    schema: Any = None
    after: EarlierRun | None = None
    conversation: ConversationTurn | None = None
    recipe: RecipeUse | None = None

    @classmethod
    def of(cls, goal: Goal | str) -> Goal:
        """A goal that is given as such, or as its text alone."""
        return goal if isinstance(goal, Goal) else cls(goal)

    @classmethod
    def recorded(
        cls,
        text: str,
        skills: tuple[str, ...],
        files: tuple[Path, ...],
        plan: Plan | None,
        answers: tuple[str, ...],
        schema: Mapping[str, Any] | None = None,
        after: EarlierRun | None = None,
        conversation: ConversationTurn | None = None,
        recipe: RecipeUse | None = None,
    ) -> Goal:
        """A goal from a record: its files existed then, and may not now."""
        form = DataSchema(schema, recorded=True) if schema is not None else None
        seen = {"after": after, "conversation": conversation, "recipe": recipe}
        goal = cls(text, skills, (), plan, answers, stream=False, schema=form, **seen)  # type: ignore[arg-type]
        object.__setattr__(goal, "files", files)
        return goal

    @property
    def data(self) -> DataSchema | None:
        """What the answer must be."""
        return self.schema if isinstance(self.schema, DataSchema) else None

    def __post_init__(self) -> None:
        if self.schema is not None:
            object.__setattr__(self, "schema", DataSchema.of(self.schema))
        if not isinstance(self.text, str):
            raise InputError(f"the goal is no text: {self.text!r}", hint="give a text, or a goalwright.Goal")
        for name in ("skills", "files", "answers"):
            object.__setattr__(self, name, _several(getattr(self, name), name))
        object.__setattr__(self, "files", tuple(map(Path, self.files)))
        if not self.text.strip():
            raise InputError("the goal is empty", hint='give one: goalwright run "Write release notes for 1.2"')
        if not all(map(_is_utf8, (self.text, *self.answers))):
            raise InputError("the goal or an answer is not valid UTF-8", hint="pass it as UTF-8")
        check_length(self.text)
        for path in self.files:
            if path.is_dir():
                raise InputError(f"--file {path} is a folder", hint="name the files in it instead")
            if not path.exists():
                raise InputError(f"--file {path}: no such file", hint="check the path")
            if not path.is_file():
                what = f"--file {path} is not a regular file: tasks read it by name, as often as they need"
                raise InputError(what, hint="save what it holds in a file, and name that")
            if not os.access(path, os.R_OK):
                raise InputError(f"--file {path} cannot be read: permission denied", hint="make it readable")


def _several(given: Any, name: str) -> tuple[Any, ...]:
    """What a goal has several of; a text alone would be taken for its letters."""
    if isinstance(given, str | bytes | os.PathLike):
        raise InputError(f"{name}={given!r} is one, not several", hint=f"write {name}=[{given!r}]")
    return tuple(given)


def _is_utf8(text: str) -> bool:
    """Whether a text can be encoded: a shell's argument in another encoding holds lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def without_secrets(goal: Goal, env: Mapping[str, str]) -> Goal:
    """The goal with keys and passwords redacted: they must reach neither a model nor a record."""
    secrets = Secrets.of(env)
    text, answers = secrets.redact(goal.text), tuple(secrets.redact(answer) for answer in goal.answers)
    return goal if (text, answers) == (goal.text, goal.answers) else replace(goal, text=text, answers=answers)


def with_named_files(goal: Goal, workspace: Path, settings: Settings) -> Goal:
    """The goal, with the files of the workspace that it names, if a model does its tasks that cannot read any."""
    model = settings.model_for("task")
    if model is None or profile_of(model).tools:
        return goal
    given = {os.path.realpath(path) for path in goal.files}
    named = tuple(path for path in named_files(goal.text, workspace) if str(path) not in given)
    return replace(goal, files=(*goal.files, *named)) if named else goal
