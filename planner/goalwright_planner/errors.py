"""The errors of models, plans and prompt templates.

GoalwrightError
├── ModelError               a call to a model failed
│   ├── Transient            the same call may succeed later
│   │   ├── RateLimited      429; `retry_after` if the provider says when
│   │   ├── Overloaded       503, 529
│   │   ├── ServerFailed     another 5xx
│   │   ├── CallTimedOut     no answer in time
│   │   └── Unreachable      no connection, or one that dropped
│   └── Refused              the same call fails again
│       ├── KeyRefused       401, 403, or no key at all
│       ├── UnknownModel     404, or a name that no provider knows
│       ├── RequestRefused   another 400
│       │   ├── FormatRefused    the response format is not supported
│       │   ├── ToolsRefused     tools are not supported
│       │   ├── ImagesRefused    images are not supported
│       │   └── PromptTooLong    longer than the context window
│       ├── ContentRefused   stopped by the provider's content filter
│       └── TooSlow          too slow for the time limit on this machine, so it was not started
├── Halted                   the whole run stops; what is recorded stays recorded
│   └── BudgetSpent          a limit on cost, tokens or time was reached
├── RecordEnded              the record of a replayed run ends here
├── AnswerNeeded             a person must answer first; everything else goes on
├── TaskDenied               a person denied the task, or its call
├── PlanError                no valid plan after all attempts
│   └── SkillNotUsed         no plan uses a skill that the user requires
└── SetupError
    ├── TemplateError        a prompt template cannot be used
    └── UnknownPrice         a limit on cost cannot hold: a model's price is unknown
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.model import Usage
from goalwright_skills.errors import GoalwrightError, SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.approvals import ApprovalRequest


class ModelError(GoalwrightError):
    """A call to a model failed; if it was sent, `usage` and `cost` are estimates of what it used."""

    code = "MODEL_ERROR"

    def __init__(self, message: str, *, hint: str = "", model: str = "") -> None:
        super().__init__(message, hint=hint)
        self.model = model
        self.usage = Usage()
        self.cost: float | None = 0.0

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Transient(ModelError):
    """The same call may succeed later, after `retry_after` seconds if the provider says so."""

    code = "MODEL_UNAVAILABLE"

    def __init__(self, message: str, *, hint: str = "", model: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint, model=model)
        self.retry_after = retry_after


class RateLimited(Transient):
    """The provider's rate limit was reached."""

    code = "RATE_LIMITED"


class Overloaded(Transient):
    """The provider is overloaded."""


class ServerFailed(Transient):
    """The provider had an internal error."""


class CallTimedOut(Transient):
    """The provider did not answer in time."""

    code = "TIMEOUT"


class Unreachable(Transient):
    """The provider could not be reached, or the connection dropped."""

    code = "UNREACHABLE"


class Refused(ModelError):
    """The provider refuses the call, and would again."""

    code = "REQUEST_REFUSED"
    exit_status = 4


class KeyRefused(Refused):
    """The key is missing, wrong, or not allowed to do this."""

    code = "KEY_REFUSED"


class UnknownModel(Refused):
    """No provider serves a model of this name."""

    code = "UNKNOWN_MODEL"


class RequestRefused(Refused):
    """The provider rejects the request itself."""


class FormatRefused(RequestRefused):
    """The model does not support the response format."""


class ToolsRefused(RequestRefused):
    """The model does not support tools."""


class ImagesRefused(RequestRefused):
    """The model does not take images."""


class PromptTooLong(RequestRefused):
    """The prompt is longer than the model's context window."""

    code = "PROMPT_TOO_LONG"


class ContentRefused(Refused):
    """The provider's content filter stopped the call."""

    code = "CONTENT_REFUSED"
    exit_status = 1


class TooSlow(Refused):
    """A local model cannot read the prompt within the time limit, so the call was not started."""

    code = "TOO_SLOW"
    exit_status = 5


class Halted(GoalwrightError):
    """The whole run stops; no further call is made."""


class RecordEnded(GoalwrightError):
    """A replayed task reached the end of its record; it counts as cancelled."""

    code = "CUT_OFF"


class AnswerNeeded(GoalwrightError):
    """A task, or planning, cannot continue before a person answers the request."""

    code = "ANSWER_NEEDED"

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(f"it waits for an answer: {request.id}")
        self.request = request


class TaskDenied(GoalwrightError):
    """A person denied a task, or the call of a tool task; it is skipped."""

    code = "DENIED"


class BudgetSpent(Halted):
    """A limit that the user set was reached; no further call is made.

    `limit` is the setting: max_cost, max_tokens or timeout. If the rest of the budget does not pay for the next call,
    `reason` says so, and the call needs at least `cost` dollars and `tokens` tokens.
    """

    code = "BUDGET_SPENT"
    exit_status = 5

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        limit: str = "",
        reason: str = "",
        cost: float = 0.0,
        tokens: int = 0,
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit, self.reason = limit, reason
        self.cost, self.tokens = cost, tokens


class PlanError(GoalwrightError):
    """The model gave no valid plan in any of its attempts."""

    code = "NO_PLAN"

    def __init__(self, message: str, *, faults: Sequence[str], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.faults = tuple(faults)


class SkillNotUsed(PlanError):
    """The plan does not use `skills` that the setting `require` names; none of its tasks has run."""

    code = "SKILL_NOT_USED"

    def __init__(self, message: str, *, skills: Sequence[str], faults: Sequence[str], hint: str = "") -> None:
        super().__init__(message, faults=faults, hint=hint)
        self.skills = tuple(skills)


class TemplateError(SetupError):
    """A prompt template is missing, broken, lacks a required variable, or uses an unknown one."""

    code = "BAD_TEMPLATE"

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UnknownPrice(SetupError):
    """A limit on cost cannot hold, because the prices of these models are unknown."""

    code = "UNKNOWN_PRICE"

    def __init__(self, message: str, *, hint: str = "", models: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.models = tuple(models)
