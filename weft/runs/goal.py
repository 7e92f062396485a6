"""A goal and what a person gives with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from executor.capture.secrets import Secrets
from skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from planner.plan.plan import Plan

_LONGEST = 200_000


@dataclass(frozen=True, slots=True)
class Goal:
    """What to reach: the text, skills that must be used, files, a plan made by hand, answers to questions asked."""

    text: str
    skills: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    plan: Plan | None = None
    answers: tuple[str, ...] = ()
    stream: bool = False

    @classmethod
    def recorded(
        cls, text: str, skills: tuple[str, ...], files: tuple[Path, ...], plan: Plan | None, answers: tuple[str, ...]
    ) -> Goal:
        """A goal as it was once given: its files were there then, and need not be now."""
        goal = cls(text, skills, (), plan, answers)
        object.__setattr__(goal, "files", files)
        return goal

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InputError("the goal is empty", hint='say what to reach: weft run "Write release notes for 1.2"')
        if not all(map(_is_whole, (self.text, *self.answers))):
            raise InputError("the goal or an answer holds bytes that are no UTF-8 text", hint="give it as UTF-8")
        if len(self.text) > _LONGEST:
            raise InputError(
                f"the goal has {len(self.text):,} characters, more than {_LONGEST:,}",
                hint="put the material in a file and give it with --file",
            )
        for path in self.files:
            if path.is_dir():
                raise InputError(f"--file {path} is a folder", hint="name the files in it that belong to the goal")
            if not path.is_file():
                raise InputError(f"--file {path}: there is no such file", hint="check the path")


def _is_whole(text: str) -> bool:
    """Whether a text can be sent and kept: what a shell passes in another encoding has halves of characters in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def without_secrets(goal: Goal, env: Mapping[str, str]) -> Goal:
    """The goal without keys and passwords, which must reach neither a model nor a record; a replay sees the same."""
    secrets = Secrets.of(env)
    text, answers = secrets.redact(goal.text), tuple(secrets.redact(answer) for answer in goal.answers)
    return goal if (text, answers) == (goal.text, goal.answers) else replace(goal, text=text, answers=answers)
