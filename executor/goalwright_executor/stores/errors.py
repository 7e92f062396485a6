"""What can go wrong with a journal.

GoalwrightError
├── SetupError
│   └── BadStore         it cannot be opened or read: no space, no permission, not a journal, damaged, too new
├── Halted               the run stops; what is stored stays stored
│   └── StoreFailed      it was opened, but can no longer be written
│       └── LeaseLost    some of the runs are no longer this process's; others can be written
└── InputError
    ├── EarlierForm      it was written before 0.1.0, and no version reads it
    ├── UnknownRun       there is no run of that id, or no journal
    ├── RunHeld          another process is using the run
    ├── NotRunning       no process is using the run
    └── RunExists        a run of that id is already stored
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.errors import Halted
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Collection


class BadStore(SetupError):
    """The journal cannot be opened or read; no call was made."""

    code = "BAD_JOURNAL"


class StoreFailed(Halted):
    """The journal can no longer be written; no further call is made."""

    code = "JOURNAL_FAILED"
    exit_status = 4


class LeaseLost(StoreFailed):
    """Another process has taken over `run_ids`, or they were deleted; nothing was written."""

    code = "LEASE_LOST"

    def __init__(
        self, message: str, run_ids: Collection[str], hint: str = "leave it to that process, or resume it later"
    ) -> None:
        super().__init__(message, hint=hint)
        self.run_ids = frozenset(run_ids)


class EarlierForm(InputError):
    """The journal was written before 0.1.0; it is left as it is."""

    code = "EARLIER_FORM"

    def __init__(self, journal: str) -> None:
        super().__init__(
            f"the journal {journal} was written before goalwright 0.1.0, which cannot read it; it was left as it is",
            hint="name another with --journal URL, or move this one away",
        )


class UnknownRun(InputError):
    """There is no run of that id."""

    code = "UNKNOWN_RUN"


class RunHeld(InputError):
    """Another process is using this run."""

    code = "RUN_HELD"


class NotRunning(InputError):
    """No process is using this run."""

    code = "NOT_RUNNING"


class RunExists(InputError):
    """A run of that id is already in the journal."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"run {run_id} is already in the journal", hint="remove it first: goalwright trace prune RUN")
