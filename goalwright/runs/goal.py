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

# The goal of a plan file that has none.
NO_GOAL = "Carry out this plan."


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """The position of a goal in a batch: the id of the batch, the goal's own id, and the number of goals."""

    batch: str
    goal: str
    size: int


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal: its text, skills that must be used, files, a ready plan, and answers to questions.

    `repairs` are the differences between the plan and its file. `place` is the position in a batch. `schema`, a JSON
    Schema or a pydantic model, is the form of the answer. `after` has the results of the run that the goal follows up,
    `conversation` the earlier turns that it sees, `recipe` the source of the plan. With `stream`, the run has events
    with the text of the answer as it is written; None: if the caller receives events.
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
        """Return a goal as it is, or the goal with this text."""
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
        """Return a recorded goal, whose files may no longer exist."""
        form = DataSchema(schema, recorded=True) if schema is not None else None
        seen = {"after": after, "conversation": conversation, "recipe": recipe}
        goal = cls(text, skills, (), plan, answers, stream=False, schema=form, **seen)  # type: ignore[arg-type]
        object.__setattr__(goal, "files", files)
        return goal

    @property
    def data(self) -> DataSchema | None:
        """The form of the answer."""
        return self.schema if isinstance(self.schema, DataSchema) else None

    def __post_init__(self) -> None:
        if self.schema is not None:
            object.__setattr__(self, "schema", DataSchema.of(self.schema))
        if not isinstance(self.text, str):
            raise InputError(f"the goal is not a string: {self.text!r}", hint="give a string or a goalwright.Goal")
        for name in ("skills", "files", "answers"):
            object.__setattr__(self, name, _tuple(getattr(self, name), name))
        object.__setattr__(self, "files", tuple(map(Path, self.files)))
        if not self.text.strip():
            raise InputError("the goal is empty", hint='give one: goalwright run "Write release notes for 1.2"')
        if not all(map(_is_utf8, (self.text, *self.answers))):
            raise InputError("the goal or an answer is not valid UTF-8", hint="pass it as UTF-8")
        check_length(self.text)
        for path in self.files:
            if path.is_dir():
                raise InputError(f"{path} is a folder", hint="name the files in it instead")
            if not path.exists():
                raise InputError(f"{path}: no such file", hint="check the path")
            if not path.is_file():
                raise InputError(
                    f"{path} is not a regular file: tasks must be able to read it repeatedly",
                    hint="save its content in a file, and name that file",
                )
            if not os.access(path, os.R_OK):
                raise InputError(f"{path} cannot be read: permission denied", hint="make it readable")


def _tuple(values: Any, name: str) -> tuple[Any, ...]:
    """Return a tuple; raises for a string, which would be iterated by character."""
    if isinstance(values, str | bytes | os.PathLike):
        raise InputError(f"{name}={values!r} must be a list", hint=f"write {name}=[{values!r}]")
    return tuple(values)


def _is_utf8(text: str) -> bool:
    """Return whether a text can be encoded: a shell argument in another encoding has lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def without_secrets(goal: Goal, env: Mapping[str, str]) -> Goal:
    """Redact keys and passwords in a goal: they must reach neither a model nor a record."""
    secrets = Secrets.of(env)
    text, answers = secrets.redact(goal.text), tuple(secrets.redact(answer) for answer in goal.answers)
    return goal if (text, answers) == (goal.text, goal.answers) else replace(goal, text=text, answers=answers)


def with_named_files(goal: Goal, workspace: Path, settings: Settings) -> Goal:
    """Add the workspace files that a goal names, if the model of its tasks has no tools to read them."""
    model = settings.model_for("task")
    if model is None or profile_of(model).tools:
        return goal
    given = {os.path.realpath(path) for path in goal.files}
    named = tuple(path for path in named_files(goal.text, workspace) if str(path) not in given)
    return replace(goal, files=(*goal.files, *named)) if named else goal
