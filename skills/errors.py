"""The root of weft's exceptions: something a person can mend.

    WeftError                what is wrong, and in `hint` what to do next
    ├── InputError           wrong usage or input (exit status 2)
    ├── SetupError           no model, key or configuration (exit status 4)
    └── the packages above add their own

The command line prints `message` and `hint` and never a traceback for these.
"""

from __future__ import annotations


class WeftError(Exception):
    """A failure that is explained to the person who can do something about it."""

    code = "FAILED"
    exit_status = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(WeftError):
    """The command, a file or an argument is not what it must be."""

    code = "INVALID_INPUT"
    exit_status = 2


class SetupError(WeftError):
    """A model, a key or a setting is missing or wrong."""

    code = "NOT_CONFIGURED"
    exit_status = 4
