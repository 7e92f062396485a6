"""Which HTTP status an error has, and the error that only HTTP knows.

WeftError
└── HttpError    a request that is refused with a status of its own
"""

from __future__ import annotations

from executor.stores.errors import BadStore, NotRunning, RunExists, RunHeld, StoreFailed, UnknownRun
from skills.errors import UnknownSkill, WeftError
from skills.manage.edit import FileChanged, UnknownFile
from skills.manage.install import Exists
from skills.programs.trust import TrustRefused
from skills.safe_files import Changed
from weft.runs.answers import AnsweredAlready, UnknownRequest

_STATUSES: tuple[tuple[int, tuple[type[WeftError], ...]], ...] = (
    (404, (UnknownRun, UnknownRequest, UnknownSkill, UnknownFile)),
    (409, (RunHeld, AnsweredAlready, NotRunning, RunExists, Exists, FileChanged, Changed, TrustRefused)),
    (503, (BadStore, StoreFailed)),
)


class HttpError(WeftError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code


def status_of(error: WeftError) -> int:
    """The HTTP status of an error; what was asked is wrong unless it says otherwise."""
    if isinstance(error, HttpError):
        return error.status
    return next((status for status, kinds in _STATUSES if isinstance(error, kinds)), 400)


def to_dict(error: WeftError) -> dict[str, dict[str, str]]:
    """The error as JSON, as `--json` prints it."""
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
