"""Which HTTP status an error has, and the error that only HTTP knows.

GoalwrightError
└── HttpError    a request that is refused with a status of its own
"""

from __future__ import annotations

from goalwright_skills.errors import GoalwrightError

# By name: importing all these classes would take longer than everything else that a first page needs.
_STATUSES = {
    "UnknownRun": 404, "UnknownRequest": 404, "UnknownSkill": 404, "UnknownFile": 404, "UnknownEvaluation": 404,
    "RunHeld": 409, "AnsweredAlready": 409, "NotRunning": 409, "RunExists": 409, "Exists": 409, "FileChanged": 409,
    "Changed": 409, "TrustRefused": 409,
    "BadStore": 503, "StoreFailed": 503,
}  # fmt: skip


class HttpError(GoalwrightError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code


def status_of(error: GoalwrightError) -> int:
    """The HTTP status of an error; what was asked is wrong unless it says otherwise."""
    if isinstance(error, HttpError):
        return error.status
    return next((_STATUSES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _STATUSES), 400)


def to_dict(error: GoalwrightError) -> dict[str, dict[str, str]]:
    """The error as JSON, as `--json` prints it."""
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
