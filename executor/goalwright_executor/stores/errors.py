"""The errors of journals.

GoalwrightError
├── SetupError
│   └── BadStore         the journal cannot be opened or read: no space, no permission, damaged, too new
│       └── NotAJournal  it is a file or database of another program
├── Halted               the run stops; stored events stay stored
│   └── StoreFailed      the open journal can no longer be written
│       └── LeaseLost    some runs belong to another process now; others can be written
└── InputError
    ├── UnknownRun       there is no run with that id
    │   └── NoJournal    there is no journal
    ├── RunHeld          another process is using the run
    ├── NotRunning       no process is using the run
    └── RunExists        a run with that id is already stored
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.errors import Halted
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Collection


class BadStore(SetupError):
    """The journal cannot be opened or read; no call was made.

    `journal` is its URL or path if another journal would help.
    """

    code = "BAD_JOURNAL"

    def __init__(self, message: str, *, hint: str = "", journal: str = "") -> None:
        super().__init__(message, hint=hint)
        self.journal = journal


class NotAJournal(BadStore):
    """The file or database belongs to another program; it is left unchanged."""

    exit_status = 2


class StoreFailed(Halted):
    """The journal can no longer be written, so no further call is made.

    `journal` is its URL or path if another journal would help.
    """

    code = "JOURNAL_FAILED"
    exit_status = 4

    def __init__(self, message: str, *, hint: str = "", journal: str = "") -> None:
        super().__init__(message, hint=hint)
        self.journal = journal


class LeaseLost(StoreFailed):
    """Another process took over `run_ids`, or they were deleted; nothing was written."""

    code = "LEASE_LOST"

    def __init__(
        self, message: str, run_ids: Collection[str], hint: str = "leave it to that process, or resume it later"
    ) -> None:
        super().__init__(message, hint=hint)
        self.run_ids = frozenset(run_ids)


class UnknownRun(InputError):
    """There is no run with that id."""

    code = "UNKNOWN_RUN"


class NoJournal(UnknownRun):
    """There is no journal yet."""

    def __init__(self, journal: str) -> None:
        super().__init__(f"there is no journal {journal}", hint="nothing has been run here; name another journal")
        self.journal = journal


class RunHeld(InputError):
    """Another process is using this run."""

    code = "RUN_HELD"


class NotRunning(InputError):
    """No process is using this run."""

    code = "NOT_RUNNING"


class RunExists(InputError):
    """A run with that id is already in the journal."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"run {run_id} is already in the journal", hint="remove it first: goalwright trace prune RUN")
