"""The root of goalwright's exceptions: failures that a person can fix.

GoalwrightError          `message` describes the problem, `hint` the next step
├── InputError           wrong usage or input (exit status 2)
├── SetupError           no model, key or configuration (exit status 4)
└── SkillError           a skill cannot be used
    ├── UnknownSkill     there is no skill of that name
    ├── UnreadableSkill  its file cannot be read
    └── BrokenSkill      its file does not parse (any more)

Other modules add their own, see goalwright_planner/errors.py, goalwright_executor/stores/errors.py and
goalwright/models/local/errors.py. The command line prints `message` and `hint` for all of them, never a traceback.
"""

from __future__ import annotations


class GoalwrightError(Exception):
    """A failure that a person can fix, with an explanation."""

    code = "FAILED"
    exit_status = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(GoalwrightError):
    """A command, a file or an argument is wrong."""

    code = "INVALID_INPUT"
    exit_status = 2


class SetupError(GoalwrightError):
    """A model, a key or a setting is missing or wrong."""

    code = "NOT_CONFIGURED"
    exit_status = 4


class SkillError(GoalwrightError):
    """A skill cannot be used."""

    code = "SKILL"


class UnknownSkill(SkillError):
    """There is no skill of that name."""

    code = "NOT_FOUND"
    exit_status = 2


class UnreadableSkill(SkillError):
    """The skill's file cannot be read; `denied` if the operating system refuses access."""

    code = "EXECUTION_ERROR"

    def __init__(self, message: str, *, hint: str = "", denied: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.denied = denied


class BrokenSkill(SkillError):
    """The skill's file does not parse."""

    code = "INTERNAL_ERROR"
