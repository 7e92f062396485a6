"""`PlanIsWrong`: a task's model reports that the plan itself cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import Context, Envelope, failure
from goalwright_skills.tools.parameter import string_parameter, tool_parameters

NAME = "PlanIsWrong"
_NOTED = (
    "Noted. The tasks that depend on yours wait until the plan has been reviewed. Now give the best result you can."
)


@dataclass(frozen=True, slots=True)
class PlanIsWrong:
    """Records the reason, which pauses the tasks that depend on this one; the task itself goes on."""

    cwd: str = ""

    name: ClassVar[str] = NAME
    description: ClassVar[str] = (
        "Report that the plan itself is wrong: your findings show that the tasks after yours cannot reach the goal, or"
        " that your task is based on a false assumption. The plan can then be changed before those tasks start. Do not"
        " use this for difficulties within your own task."
    )
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "reason", reason=string_parameter("What is wrong with the plan, and all your findings.")
    )

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """Return that a call only reads: it changes nothing by itself."""
        return READ_ONLY

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Record the reason."""
        reason, context = arguments.get("reason"), Context(self.cwd, dict(arguments))
        if not isinstance(reason, str) or not reason.strip():
            return failure("INVALID_PARAM", f"reason must be a text, not {reason!r} — describe what is wrong", context)
        return Envelope("success", _NOTED, context, {"reason": reason.strip()})


def reason_in(envelope: Mapping[str, Any]) -> str | None:
    """Return the reason in a recorded envelope; None if the call failed."""
    data = envelope.get("data")
    reason = data.get("reason") if isinstance(data, Mapping) and envelope.get("status") == "success" else None
    return reason if isinstance(reason, str) else None
