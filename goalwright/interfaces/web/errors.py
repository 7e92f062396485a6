"""The HTTP status of each error class, and `HttpError`.

GoalwrightError
└── HttpError    a request refused with a specific HTTP status
"""

from __future__ import annotations

from goalwright_skills.errors import GoalwrightError

# By name, because importing these classes would slow down the first page.
_STATUSES = {
    "UnknownRun": 404, "UnknownRequest": 404, "UnknownSkill": 404, "UnknownFile": 404, "UnknownEvaluation": 404,
    "RunHeld": 409, "AnsweredAlready": 409, "NotRunning": 409, "RunExists": 409, "Exists": 409, "FileChanged": 409,
    "Changed": 409, "TrustRefused": 409,
    "BadStore": 503, "StoreFailed": 503,
}  # fmt: skip


class HttpError(GoalwrightError):
    """A request refused with a specific HTTP status."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code


def status_of(error: GoalwrightError) -> int:
    """Return the HTTP status of an error; 400 if its class has none."""
    if isinstance(error, HttpError):
        return error.status
    return next((_STATUSES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _STATUSES), 400)


def to_dict(error: GoalwrightError) -> dict[str, dict[str, str]]:
    """Return the error as `--json` prints it."""
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
