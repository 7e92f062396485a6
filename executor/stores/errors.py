"""What can go wrong with a journal, drawn once.

WeftError
├── SetupError
│   └── BadStore         it cannot be opened: no room, no permission, not a journal, a newer version
├── Halted               the run stops; what is kept is kept
│   └── StoreFailed      it could be opened, but cannot be written any more
└── InputError
    ├── UnknownRun       no run of that id
    ├── RunHeld          another process is at it
    └── RunThere         a run of that id is kept already
"""

from __future__ import annotations

from planner.errors import Halted
from skills.errors import InputError, SetupError


class BadStore(SetupError):
    """The journal cannot be opened; nothing was spent."""

    code = "BAD_JOURNAL"


class StoreFailed(Halted):
    """The journal cannot be written any more; nothing further is spent."""

    code = "JOURNAL_FAILED"
    exit_status = 4


class UnknownRun(InputError):
    """There is no run of that id."""

    code = "UNKNOWN_RUN"


class RunHeld(InputError):
    """Another process is at this run."""

    code = "RUN_HELD"


class RunThere(InputError):
    """A run of that id is kept already."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"run {run_id} is in the journal already", hint="forget it first: weft trace prune RUN")
